"""Makes an engine of a project: the background loaded, the streams declared, the queries registered.

Spark is imported when a project has settings for it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.engine import Engine
from penstock.project.check_project import check_files
from penstock.project.read_project import read_project
from penstock.project.records import Project, QueryTable
from penstock.stream.registry.dependency_order import in_order

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from penstock.stream.base.clock import Clock
    from penstock.stream.runtime.progress import Progress

__all__ = ["load_project", "open_engine", "register"]


def load_project(
    path: str | PathLike[str],
    *,
    spark: SparkSession | None = None,
    clock: Clock | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> Engine:
    """Return an engine with all that a project file declares: `run()` or `start()` it, and close it at the end.

    The file is checked first: a `ProjectError` shows the place of a mistake. The keyword arguments are those of
    `Engine` that only Python objects can be. Queries without a sink keep their answers for `query.answers()`.
    """
    project = read_project(Path(path))
    check_files(project)
    with ExitStack() as undo:
        engine = open_engine(project, spark=spark, clock=clock, on_progress=on_progress)
        undo.callback(engine.close)
        for load in project.loads:
            engine.load(**load.options)
        for stream in project.streams:
            engine.stream(**stream.options)
        for query in in_order(project.queries):
            register(engine, query)
        undo.pop_all()
    return engine


def open_engine(project: Project, *, spark: SparkSession | None = None, **others: Any) -> Engine:
    """The engine of `[engine]`; Spark is started now if there are settings for it, and ends with the engine."""
    table = project.engine
    if spark is not None or not table.spark:
        return Engine(spark=spark, **table.options, **others)
    from penstock.spark.session import session  # imports pyspark

    started = session.start(table.options.get("master"), **table.spark)
    try:
        engine = Engine(spark=started, **table.options, **others)
    except BaseException:
        session.stop(started)
        raise
    engine._started = started  # as if the engine had started it: close() ends it
    return engine


def register(engine: Engine, query: QueryTable, sink: Any = None) -> None:
    """Register a query; `sink` is for one that names none."""
    engine.register(**{"sink": sink} | dict(query.options))
