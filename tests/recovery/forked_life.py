"""Lives of an engine in processes that a server forks: it has imported Penstock, PySpark and DuckDB once, so a life
costs no start of Python, which is most of a short one. A life shares the JVM of the test, and may be killed."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from importlib import import_module
from multiprocessing import forkserver, get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.recovery.attached_session import address

__all__ = ["begin"]

_MODULES = ["tests.recovery.child", "tests.recovery.imported_engine"]
_SERVED = get_context("forkserver")


def begin(
    life: Callable[..., None], log: Path, spark: SparkSession, *arguments: object
) -> tuple[BaseProcess, Connection]:
    """Begin a life, and return its process and the other end of the connection that is its first argument."""
    _serve()
    ours, theirs = _SERVED.Pipe()
    process = _SERVED.Process(target=_live, args=(life, str(log), address(spark), theirs, *arguments), daemon=True)
    process.start()
    theirs.close()
    return process, ours


def _serve() -> None:
    """Start the server, unless it runs. It imports by the paths of this process."""
    _SERVED.set_forkserver_preload(_MODULES)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
        forkserver.ensure_running()


def _live(life: Callable[..., None], log: str, variables: dict[str, str], *arguments: Any) -> None:
    """Live with the variables of the environment, and with both outputs in the log. Nothing of the JVM, which is
    another's, is touched at the end."""
    file = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.dup2(file, 1)
    os.dup2(file, 2)
    os.environ.update(variables)
    import_module(life.__module__)
    life(*arguments)
    os._exit(0)
