"""A run of one query over streams that end, as `penstock explain --run` and `penstock why` need it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import typer

from penstock.cli import engines
from penstock.cli.base import complain, exit_code, status
from penstock.cli.inputs import QueryFile, split_graph, stream_spec
from penstock.cli.stream_run import warnings_of
from penstock.errors import OptionError, QueryError

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from penstock.engine import Engine
    from penstock.query import Query

__all__ = ["EngineOptions", "load_background", "messages_of"]


@dataclass(slots=True)
class EngineOptions:
    """The options of a command that runs a query: `--background`, `--stream`, `--store`, `--master`, `--set`."""

    background: Sequence[str]
    streams: Sequence[str]
    store: str
    master: str | None
    settings: dict[str, str]
    query_options: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        self.settings, self.query_options = engines.split_settings(self.settings)

    def engine(self, **others: Any) -> AbstractContextManager[Engine]:
        """Return an engine for streams; `others` go to it as they are."""
        return engines.open_engine(self.store, self.master, self.settings, streams=True, **others)

    @contextmanager
    def finished(self, file: QueryFile, command: str) -> Iterator[Query]:
        """Yield the query of a file after a run to the end of the streams. Its answers are not kept."""
        streams = [stream_spec(spec) for spec in self.streams]
        if any(stream.endless for stream in streams):
            raise OptionError(f"{command} reads streams to their end: give files or folders")
        with self.engine() as engine:
            load_background(engine, self.background)
            for stream in streams:
                engine.stream(stream.iri, stream.source)
            with messages_of(file):
                name = None if file.registered else file.name
                query = engine.register(
                    file.text, name=name, base=file.base, sink=lambda answer: None, **self.query_options
                )
            with status("Running…"):
                engine.run()
            yield query


def load_background(engine: Engine, background: Sequence[str]) -> None:
    """Load the files of `--background [GRAPH=]FILE`."""
    for spec in background:
        graph, file = split_graph(spec)
        with status(f"Loading {file}…"):
            engine.load(file, graph=graph)


@contextmanager
def messages_of(file: QueryFile) -> Iterator[None]:
    """Print the warnings and the `QueryError` of a block with the place of the query. The error ends the command."""
    try:
        with warnings_of(file):
            yield
    except QueryError as error:
        complain(f"{file.place}: {error}")
        raise typer.Exit(exit_code(error)) from None
