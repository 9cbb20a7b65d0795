"""`penstock why`: says why a query has no answer, or from which elements and triples its answers come."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli import engines
from penstock.cli.base import app, clean_exit
from penstock.cli.inputs import read_query
from penstock.cli.logs import LogFormatOption, LogLevelOption, to_stderr
from penstock.cli.options import BackgroundOption, MasterOption, SetOption, StoreOption, StreamOption
from penstock.cli.query_run import EngineOptions, load_background
from penstock.errors import OptionError, PenstockError, StoreError

if TYPE_CHECKING:
    from penstock.query import Query

# \b keeps click from joining the lines, so that they can be copied.
_EXAMPLES = """\b
Examples:
  penstock why cars --checkpoint state/ --background city.ttl
  penstock why cars.rq --background city.ttl --stream http://streams.org/citytollgates.trdf=gates.nq
  penstock why cars --checkpoint state/ --background city.ttl --at 2009-07-20T08:05:00Z

\b
With --checkpoint, QUERY is the name of a registered query, and the elements are those that the checkpoint still holds.
Background knowledge is in no checkpoint: give it again. A checkpoint belongs to the engine that runs on it: ask
query.why() there. Without --checkpoint, QUERY is a file, which is run over the streams first.

\b
With --at it is the other way round: each solution at that instant, with the elements and the triples of the background
that made it, as N-Triples with comments.

\b
Exit code: 0 success, 2 a wrong query or option, 1 any other failure.
"""


@app.command("why", epilog=_EXAMPLES)
def why_query(
    query: Annotated[
        str, typer.Argument(metavar="QUERY", help="Name of a query in the checkpoint, or file with a query.")
    ],
    checkpoint: Annotated[str | None, typer.Option(metavar="DIR", help="Checkpoint of a stopped engine.")] = None,
    at: Annotated[
        str | None, typer.Option(metavar="TIME", help="Print what made the solutions at this instant instead.")
    ] = None,
    background: BackgroundOption = [],  # noqa: B006 (typer reads it, nobody writes it)
    stream: StreamOption = [],  # noqa: B006
    store: StoreOption = "oxigraph",
    master: MasterOption = None,
    set_: SetOption = [],  # noqa: B006
    log_level: LogLevelOption = None,
    log_format: LogFormatOption = None,
) -> None:
    """Say why a query has no answer: the most likely reason first, with numbers and what to do."""
    with to_stderr(log_level, log_format), clean_exit():
        options = EngineOptions(background, stream, store, master, dict(map(engines.setting, set_)))
        if checkpoint is None:
            explained = options.finished(read_query(query), "why")
        elif stream:
            raise OptionError("--stream is for a query file: a checkpoint has its streams")
        else:
            explained = _registered(query, Path(checkpoint), options)
        instant = None if at is None else _time(at)
        with explained as registered:
            typer.echo(str(registered.why()) if instant is None else "\n\n".join(map(str, registered.why(at=instant))))


def _time(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise OptionError(f"--at {text}: write the time as 2009-07-20T08:05:00Z") from None


@contextmanager
def _registered(name: str, folder: Path, options: EngineOptions) -> Iterator[Query]:
    """Yield the query of that name in a checkpoint."""
    from penstock.stream.registry.metadata_store import streams_of

    streams_of(folder)  # an error if it is no checkpoint: an engine would make one
    try:
        engines.check_checkpoint(str(folder))
    except StoreError as error:
        raise StoreError(f'{error} To ask while it runs, call engine["{name}"].why() in its process.') from None
    with options.engine(checkpoint=folder) as engine:
        load_background(engine, options.background)
        names = [query.name for query in engine.queries]
        if name not in names:
            raise PenstockError(f"{folder}: the checkpoint has no query {name}; it has {', '.join(names) or 'none'}")
        yield engine[name]
