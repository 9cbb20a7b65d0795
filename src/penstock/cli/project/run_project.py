"""`penstock run city.toml`: everything is checked, then started; the file may change while it runs."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from threading import Event, current_thread, main_thread
from typing import TYPE_CHECKING

import typer

from penstock.cli import engines, output
from penstock.cli.base import complain, exit_code, status
from penstock.cli.inputs import QueryFile, StreamSpec, input_bytes
from penstock.cli.stream_run import Streaming, warnings_of
from penstock.errors import OptionError, PenstockError, ProjectError
from penstock.threads import interruptible

if TYPE_CHECKING:
    from penstock.engine import Engine
    from penstock.project.records import Project, QueryTable
    from penstock.project.reload import Reloader
    from penstock.stream.runtime.progress import EngineStatus

__all__ = ["ProjectRun", "check_flags", "is_project", "run_project"]

_FLAGS = {"queries", "format", "follow", "watch", "log_level", "log_format"}


def is_project(files: list[str], *, watch: bool = False) -> bool:
    """Whether the arguments are a project file; one stands alone, and only one can be watched."""
    projects = [file for file in files if file.endswith(".toml")]
    if projects and len(files) > 1:
        raise OptionError(f"{projects[0]} is a project file, which stands alone: its queries are in it")
    if watch and not projects:
        raise OptionError("--watch is for a project file, as in penstock run city.toml --watch")
    return bool(projects)


def check_flags(context: typer.Context) -> None:
    """Raise an error for an option that the project file has to say."""
    for parameter in context.command.params:
        name = parameter.name or ""
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE" and name not in _FLAGS:
            raise OptionError(f"{parameter.opts[0]} is not for project files: the file says it")


def run_project(path: str, format: output.Format, *, follow: bool = False, watch: bool = False) -> int:
    """Run a project to the end of its streams, or until Ctrl-C, and return the exit code."""
    from penstock.project import read_project
    from penstock.project.check_project import check_files
    from penstock.project.open_project import open_engine

    project = read_project(path)
    check_files(project)
    if not project.queries:
        raise ProjectError("there is no query to run: add a table [[register]]", file=path)
    job = ProjectRun.of(project, format, follow=follow or watch, watch=watch)
    job.check()
    engines.check_checkpoint(project.engine.options.get("checkpoint"))
    options = {name: value for name in ("master", "rounds") if (value := project.engine.options.get(name))}
    settings = {**project.engine.spark, **options}
    engines.begin_spark(options.get("master"), settings, job.size, streams=bool(project.streams))
    with status("Starting Spark…"):
        engine = open_engine(project, on_progress=job.progress.update)
    with ExitStack() as stack, _hang_up(job.asked):
        stack.callback(interruptible, engine.close)  # so that one more Ctrl-C does not meet us inside the JVM
        for load in project.loads:
            with status(f"Loading {load.source}…"):
                engine.load(**load.options)
        return job.run(engine)


@dataclass(slots=True)
class ProjectRun(Streaming):
    """The continuous queries of a project. `asked` is set by SIGHUP: then the file is read again."""

    project: Project | None = None
    watch: bool = False
    asked: Event = field(default_factory=Event)
    reloader: Reloader | None = None

    @classmethod
    def of(cls, project: Project, format: output.Format, *, follow: bool, watch: bool) -> ProjectRun:
        """The run of a project."""
        from penstock.stream.registry.dependency_order import in_order

        queries = [_query_file(one) for one in in_order(project.queries)]
        streams = [StreamSpec(one.iri, one.declared.path or "") for one in project.streams]
        return cls(queries, streams, format, follow, project=project, watch=watch)

    @property
    def size(self) -> int | None:
        """The bytes of all sources, if these have an end and no checkpoint is kept."""
        assert self.project is not None
        if self.live or "checkpoint" in self.project.engine.options:
            return None
        streams = [f"{one.iri}={one.source}" for one in self.streams]
        return input_bytes(streams, [load.source for load in self.project.loads])

    def _declare(self, engine: Engine) -> None:
        assert self.project is not None
        for stream in self.project.streams:
            engine.stream(**stream.options)

    def _register(self, engine: Engine, query: QueryFile, printer: output.Printer) -> int:
        from penstock.project.open_project import register
        from penstock.project.reload import Reloader

        assert self.project is not None
        if self.reloader is None:
            self.reloader = Reloader(engine, self.project, printer, self._tell)
        table = next(one for one in self.project.queries if one.name == query.name)
        if table.sink is not None:
            printer.answered.add(table.name)  # its answers are not seen here: nothing is said if there are none
        try:
            with warnings_of(query):
                register(engine, table, printer)
        except PenstockError as error:
            complain(f"{query.place}: {error}")
            return exit_code(error)
        return 0

    def between_looks(self, engine: Engine) -> None:
        """Read the file again, if it has changed and is watched, or if SIGHUP came."""
        if self.reloader is not None and (self.asked.is_set() or (self.watch and self.reloader.is_changed())):
            self.asked.clear()
            interruptible(self.reloader.reload)

    def goes_on(self, status: EngineStatus) -> bool:
        """A file that is watched may have queries again."""
        return super(ProjectRun, self).goes_on(status) or (self.watch and not status.queries and not status.problem)

    def _tell(self, sentence: str) -> None:
        self.progress.clear()
        complain(sentence)
        self.progress.draw()


def _query_file(query: QueryTable) -> QueryFile:
    """The query as the command line has it. Its answers have a kind if they are printed."""
    place, kind = str(query.file or query.name), query.kind if query.sink is None else None
    return QueryFile(query.name, place, query.options["text"], None, continuous=True, kind=kind)


@contextmanager
def _hang_up(asked: Event) -> Iterator[None]:
    """Let SIGHUP ask for the file to be read again."""
    if current_thread() is not main_thread() or not hasattr(signal, "SIGHUP"):
        yield
        return
    before = signal.signal(signal.SIGHUP, lambda *_: asked.set())
    try:
        yield
    finally:
        signal.signal(signal.SIGHUP, before or signal.SIG_DFL)
