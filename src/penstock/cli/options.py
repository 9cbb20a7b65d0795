"""Arguments and options that several commands share, with their help texts."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = [
    "BackgroundOption", "MasterOption", "QueryArgument", "SetOption", "StoreOption", "StreamOption",
]  # fmt: skip

QueryArgument = Annotated[str, typer.Argument(metavar="QUERY.rq", help="File with a query; - reads standard input.")]
BackgroundOption = Annotated[
    list[str],
    typer.Option("--background", "-b", metavar="[GRAPH=]FILE", help="RDF file of the background graph; repeatable."),
]
StreamOption = Annotated[
    list[str],
    typer.Option("--stream", "-s", metavar="IRI=SOURCE", help="Source of an input stream; repeatable."),
]
StoreOption = Annotated[
    str,
    typer.Option(metavar="STORE", help="Background store: oxigraph, spark, or sparql:URL for a remote endpoint."),
]
MasterOption = Annotated[str | None, typer.Option(metavar="URL", help="Spark master URL (default local[*]).")]
SetOption = Annotated[
    list[str],
    typer.Option("--set", metavar="OPTION=VALUE", help="Option of the engine, or of Spark (spark.…); repeatable."),
]
