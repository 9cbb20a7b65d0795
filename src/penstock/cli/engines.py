"""Options of the command line → an engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.errors import OptionError
from penstock.threads import interruptible
from penstock.tuning import DEFAULT

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from penstock.engine import Engine

__all__ = ["QUERY_OPTIONS", "begin_spark", "check_checkpoint", "open_engine", "rules_of", "setting", "split_settings"]

_ENGINE_OPTIONS: dict[str, Callable[[str], Any]] = {
    "entailment": str,
    "retention": str,
    "rounds": str,
    "rules": lambda names: [name for name in names.split(",") if name],
}
QUERY_OPTIONS = {"duplicates", "emit", "overload"}  # of engine.register


def rules_of(settings: dict[str, str]) -> list[str] | None:
    """The names of the optimiser's rules to use, for commands without an engine."""
    for name in settings.keys() - QUERY_OPTIONS:
        _ = name.startswith("spark.") or _engine_option(name)
    names = settings.get("rules")
    return None if names is None else _ENGINE_OPTIONS["rules"](names)


def setting(text: str) -> tuple[str, str]:
    """`option=value` in its parts."""
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise OptionError(f"--set {text}: write it as option=value")
    return name, value


def split_settings(settings: dict[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the settings of the engine and of Spark, and those of a query."""
    of_query = {name: value for name, value in settings.items() if name in QUERY_OPTIONS}
    return {name: value for name, value in settings.items() if name not in of_query}, of_query


def begin_spark(master: str | None, options: dict[str, str], size: int | None, *, streams: bool = False) -> None:
    """Start Java in the background, for a run over that many bytes (None: their number is unknown). The jobs of streams
    need a Python process of Spark's, which starts while queries are compiled. A short run with rounds in this process
    may never need Java: its first job starts it."""
    from penstock.spark.session import early_start

    settings = {name: value for name, value in options.items() if name.startswith("spark.")}
    short, here = size is not None and size <= DEFAULT.short_run_bytes, options.get("rounds") == "auto"
    if streams and short and here:
        return
    jobs = {"then": _start_worker} if streams and not here else {}
    early_start.begin(master, settings, short=short, **jobs)


def _start_worker(session: SparkSession) -> None:
    from penstock.spark.query.sliced_rows import start_worker
    from penstock.spark.session.jobs import Jobs

    start_worker(Jobs(session))


@contextmanager
def open_engine(
    store: str, master: str | None, options: dict[str, str], *, streams: bool = False, **others: Any
) -> Iterator[Engine]:
    """The engine for a command. Of the options, those named `spark.…` are Spark's settings, the others the engine's.

    `streams` says that Spark is needed whatever the store; `others` go to the engine as they are.
    """
    from penstock import Engine

    settings = {name: value for name, value in options.items() if name.startswith("spark.")}
    others |= {name: _engine_option(name)(value) for name, value in options.items() if name not in settings}
    with _spark(store == "spark" or streams, master, settings):
        try:
            engine = Engine(background=store, master=master, **others)
        except OptionError as error:
            raise OptionError(f"--set: {error}") from None
        try:
            yield engine
        finally:
            interruptible(engine.close)  # so that one more Ctrl-C does not meet us inside the JVM


def check_checkpoint(folder: str | None) -> None:
    """Refuse a checkpoint that another engine owns, or that cannot be one."""
    if folder is not None:
        from penstock.stream.base import checkpoint_lock

        checkpoint_lock.check(Path(folder).absolute())


def _engine_option(name: str) -> Callable[[str], Any]:
    try:
        return _ENGINE_OPTIONS[name]
    except KeyError:
        known = ", ".join([*_ENGINE_OPTIONS, *sorted(QUERY_OPTIONS)])
        raise OptionError(f"--set {name}: there is no such option; there are {known}, and Spark's (spark.…)") from None


@contextmanager
def _spark(used: bool, master: str | None, settings: dict[str, str]) -> Iterator[None]:
    """The embedded session with settings of the user's, for the engine to share; without settings it starts its own."""
    if not used and (master or settings):
        option = f"--set {next(iter(settings))}" if settings else "--master"
        raise OptionError(f"{option}: only --store spark and streams use Spark")
    if not settings:
        yield
        return
    from penstock.spark.session import session

    started = session.start(master, **settings)
    try:
        yield
    finally:
        session.stop(started)
