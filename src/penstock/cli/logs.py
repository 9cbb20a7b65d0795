"""Log records on standard error, for the commands that run something: `--log-level` and `--log-format`."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import Annotated, Protocol

import typer

from penstock import log

__all__ = ["LogFormat", "LogFormatOption", "LogLevel", "LogLevelOption", "above", "to_stderr"]


class LogLevel(StrEnum):
    """The values of `--log-level`."""

    debug = "debug"
    info = "info"
    warning = "warning"
    error = "error"


class LogFormat(StrEnum):
    """The values of `--log-format`."""

    text = "text"
    json = "json"


LogLevelOption = Annotated[
    LogLevel | None,
    typer.Option(
        "--log-level", help="Write log records of this level and above to standard error.", show_default="none"
    ),
]
LogFormatOption = Annotated[
    LogFormat | None,
    typer.Option("--log-format", help="Format of log records: lines of text or of JSON.", show_default="text"),
]

_FORMATTERS: dict[LogFormat, Callable[[], logging.Formatter]] = {
    LogFormat.text: log.TextFormatter,
    LogFormat.json: log.JsonFormatter,
}


class Screen(Protocol):
    """A line at the bottom of the terminal: see `penstock.cli.progress_line.ProgressLine`."""

    def clear(self) -> None: ...
    def draw(self) -> None: ...


class _Handler(logging.Handler):
    """Writes records to standard error, above the line at the bottom if there is one."""

    screen: Screen | None = None

    def emit(self, record: logging.LogRecord) -> None:
        text = self.format(record)
        if self.screen is not None:
            self.screen.clear()
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()
        if self.screen is not None:
            self.screen.draw()


@contextmanager
def to_stderr(level: LogLevel | None, format: LogFormat | None) -> Iterator[None]:
    """Write records while the command runs, from `info` on if only the format is given; without either, none."""
    if level is None and format is None:
        yield
        return
    handler, before = _Handler(), log.ROOT.level
    handler.setFormatter(_FORMATTERS[format or LogFormat.text]())
    log.ROOT.addHandler(handler)
    log.ROOT.setLevel((level or LogLevel.info).value.upper())
    try:
        yield
    finally:
        log.ROOT.setLevel(before)
        log.ROOT.removeHandler(handler)


@contextmanager
def above(screen: Screen) -> Iterator[None]:
    """Write records above that line, which is drawn again after each."""
    _Handler.screen = screen
    try:
        yield
    finally:
        _Handler.screen = None
