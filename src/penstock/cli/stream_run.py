"""Continuous queries of `penstock run`: declare the streams, register the queries, run, print the answers."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event
from typing import TYPE_CHECKING, Any

from penstock.cli import logs, output
from penstock.cli.base import FAILED, complain, exit_code
from penstock.cli.inputs import QueryFile, StreamSpec
from penstock.cli.progress_line import ProgressLine
from penstock.errors import OptionError, PenstockError, PenstockWarning
from penstock.threads import interruptible

if TYPE_CHECKING:
    from penstock.engine import Engine
    from penstock.stream.runtime.progress import EngineStatus

__all__ = ["Streaming", "warnings_of"]

_PAUSE = 0.25  # seconds between two looks at a live engine
_OVER = {"failed", "dropped"}
_REASONS = 3  # that are said of a query without an answer


@dataclass(slots=True)
class Streaming:
    """Continuous queries from the command line."""

    queries: Sequence[QueryFile]
    streams: Sequence[StreamSpec]
    format: output.Format
    follow: bool = False
    stream_options: dict[str, str | None] = field(default_factory=dict)
    query_options: dict[str, str] = field(default_factory=dict)
    progress: ProgressLine = field(default_factory=ProgressLine)

    @property
    def needed(self) -> bool:
        """Whether there are streams or continuous queries."""
        return bool(self.streams) or any(query.continuous for query in self.queries)

    @property
    def live(self) -> bool:
        """Whether the run goes on until Ctrl-C."""
        return self.follow or any(stream.endless for stream in self.streams)

    def check(self) -> None:
        """Raise an error if the format cannot hold the answers of a query, or if nothing reads an option."""
        if not self.needed and (unread := self._stream_flags()):
            raise OptionError(f"{unread[0]} is for streams: give one, as --stream IRI=SOURCE")
        for query in self.queries if self.needed else ():
            if query.kind is not None:
                output.check(self.format, query.kind, timed=True)

    def _stream_flags(self) -> list[str]:
        """The options that were given and that only streams have, as they are written."""
        given = {"format": "stream_format"}
        flags = [given.get(name, name) for name, value in self.stream_options.items() if value is not None]
        flags += ["follow"] if self.follow else []
        return [*(f"--{flag.replace('_', '-')}" for flag in flags), *(f"--set {name}" for name in self.query_options)]

    def run(self, engine: Engine) -> int:
        """Run the queries and return the exit code; a wrong query does not keep the others from running."""
        self._declare(engine)
        import penstock.spark.query.continuous_query  # noqa: F401 (the compiler, while Java starts)

        printer = output.Printer(self.format, screen=self.progress)
        codes = [self._register(engine, query, printer) for query in self.queries]
        if 0 in codes:
            codes.append(self._go(engine, printer))
        return max(codes)

    def _declare(self, engine: Engine) -> None:
        options: dict[str, Any] = {name: value for name, value in self.stream_options.items() if value is not None}
        for stream in self.streams:
            try:
                engine.stream(stream.iri, stream.source, **options)
            except OptionError as error:
                raise OptionError(f"--stream {stream.iri}: {error}") from None

    def _register(self, engine: Engine, query: QueryFile, printer: output.Printer) -> int:
        options: dict[str, Any] = dict(self.query_options)
        try:
            with warnings_of(query):
                name = None if query.registered else query.name
                engine.register(query.text, name=name, base=query.base, sink=printer, **options)
        except PenstockError as error:
            complain(f"{query.place}: {error}")
            return exit_code(error)
        return 0

    def _go(self, engine: Engine, printer: output.Printer) -> int:
        """Run to the end of the streams, or until Ctrl-C if they are endless, and return the exit code."""
        try:
            with self.progress, _warnings_on_screen(self.progress), logs.above(self.progress):
                self._follow(engine) if self.live else engine.run()
        except PenstockError as error:
            if printer.error is None:
                complain(str(error))
                return exit_code(error)
        if printer.error is not None:
            raise printer.error
        code = self._failures(engine) if self.live else 0
        _say_why(engine, printer.answered)
        return code

    def _follow(self, engine: Engine) -> None:
        """The main thread only waits: Ctrl-C, and another while the first is obeyed, never meets it inside the JVM."""
        interruptible(engine.start)
        try:
            while self.goes_on(engine.status):
                _look_again()
                self.between_looks(engine)
        except KeyboardInterrupt:
            self.progress.clear()
        interruptible(engine.stop)

    def goes_on(self, status: EngineStatus) -> bool:
        """Whether a live engine has something to wait for."""
        return status.problem is None and any(query.state not in _OVER for query in status.queries.values())

    def between_looks(self, engine: Engine) -> None:
        """Called again and again while a live engine runs."""

    def _failures(self, engine: Engine) -> int:
        """Report the queries that failed while they were live, and return the exit code."""
        failed = [query for query in engine.queries if query.status.error]
        for query in failed:
            complain(f"{query.name}: {query.status.error}")
        return FAILED if failed else 0


def _say_why(engine: Engine, answered: Collection[str | None]) -> None:
    """Say of each query without an answer why, by the most likely reasons."""
    for query in engine.queries:
        if query.name not in answered and not query.status.error:
            complain(f"{query.name} has no answer:\n{interruptible(query.why).top(_REASONS)}")


def _look_again() -> None:
    """Wait a little, ready for Ctrl-C."""
    Event().wait(_PAUSE)


@contextmanager
def warnings_of(query: QueryFile) -> Iterator[None]:
    """Penstock's warnings as sentences with the place of the query."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", PenstockWarning)
        yield
    for warning in caught:
        if issubclass(warning.category, PenstockWarning):
            complain(f"{query.place}: warning: {warning.message}")


@contextmanager
def _warnings_on_screen(screen: ProgressLine) -> Iterator[None]:
    """Penstock's warnings while it runs, such as a socket that closes: a sentence each, from whatever thread."""
    before = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], *others: Any, **more: Any) -> None:
        if not issubclass(category, PenstockWarning):
            before(message, category, *others, **more)
            return
        screen.clear()
        complain(f"warning: {message}")
        screen.draw()

    with warnings.catch_warnings():
        warnings.simplefilter("always", PenstockWarning)
        warnings.showwarning = show
        yield
