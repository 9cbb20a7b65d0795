"""`penstock test`: logic tests, one after the other in one Spark session, which the first that needs one starts."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from penstock import Engine, logic
from penstock.cli import engines
from penstock.cli.base import FAILED, status
from penstock.errors import PenstockError
from penstock.spark.session.lazy_session import lazy_session

__all__ = ["collect", "run"]


def collect(names: Sequence[str]) -> list[Path]:
    """The named files, and the test files below the named folders."""
    files: list[Path] = []
    for path in map(Path, names):
        matches = sorted(path.rglob("*.rsp")) if path.is_dir() else [path]
        if not matches:
            raise PenstockError(f"{path}: there is no .rsp file in this folder")
        files += matches
    return files


def run(names: Sequence[str], master: str | None) -> int:
    """Run the tests, report each on standard output, and return the exit code."""
    files = collect(names)
    with engines.open_engine("oxigraph", master, {}, streams=True) as first:
        spark = lazy_session(lambda: first.spark)  # one session for all; each test has an engine of its own
        good = [_report(file, lambda: Engine(spark=spark, rounds="auto")) for file in files]
    bad = good.count(False)
    tests = f"{len(good)} test{'' if len(good) == 1 else 's'}"
    sys.stdout.write(f"{tests}, {f'{bad} failed' if bad else 'all as expected'}\n")
    return FAILED if bad else 0


def _report(file: Path, open_engine: Callable[[], AbstractContextManager[Engine]]) -> bool:
    """Run one test and print its result: a line, and below it the mismatches."""
    try:
        test = logic.read_file(file)
        with status(f"{file}…"), open_engine() as engine:
            mismatches = [str(mismatch) for mismatch in logic.run(test, engine)]
    except PenstockError as error:
        mismatches = [str(error)]
    sys.stdout.write(f"{'FAILED' if mismatches else 'ok':8}{file}\n")
    sys.stdout.writelines(f"{_indented(text)}\n" for text in mismatches)
    sys.stdout.flush()
    return not mismatches


def _indented(text: str) -> str:
    return "\n".join(f"        {line}" for line in text.splitlines())
