"""`penstock translate`: a query in another language."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from penstock.cli.base import BAD_QUERY, app, clean_exit, complain
from penstock.cli.inputs import read_query
from penstock.errors import QueryError

# \b keeps click from joining the lines, so that they can be copied.
_EXAMPLES = """\b
Examples:
  penstock translate cars.rq --to rspql
  penstock translate cars.rq --to rspql --no-background
  penstock translate cars.rq --to cqels --merged
  echo 'ASK { STREAM <http://example.org/s> [NOW] { ?s ?p ?o } }' | penstock translate - --to rspql --merged

\b
The query that is printed has the same solutions at the same instants, and the same output. If there is none, the reason
is said on standard error. In RSP-QL a triple that comes twice in a window counts once, in the other languages twice:
--merged says that this does not matter. In C-SPARQL windows are read together with the default graph, in the other
languages alone: with --no-background that is the same, and simpler to say.

\b
Exit code: 0 it is printed, 1 it cannot be said there, 2 the query is wrong.
"""


class Target(StrEnum):
    """The languages, as they are named on the command line."""

    rspql = "rspql"
    csparql = "csparql"
    cqels = "cqels"


@app.command("translate", epilog=_EXAMPLES)
def translate_query(
    query: Annotated[str, typer.Argument(metavar="QUERY.rq", help="A file with a query; - is stdin.")],
    to: Annotated[Target, typer.Option("--to", help="The language to say it in.")],
    merged: Annotated[
        bool, typer.Option("--merged", help="It does not matter how often a triple comes in a window.")
    ] = False,
    no_background: Annotated[
        bool, typer.Option("--no-background", help="There is no background, or only in named graphs.")
    ] = False,
) -> None:
    """Say a query in another language, where one exists that means the same."""
    from penstock.translate import translated

    code = 0
    with clean_exit():
        file = read_query(query)
        try:
            said = translated(file.text, to.value, file.base, merged=merged, background=not no_background)
            typer.echo(said, nl=False)
        except QueryError as error:
            complain(f"{file.place}: {error}")
            code = BAD_QUERY
    raise typer.Exit(code)
