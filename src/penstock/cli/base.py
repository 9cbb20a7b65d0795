"""Shared by all commands: the application, exit codes, and an exit without a stack trace."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from threading import current_thread, main_thread
from types import FrameType
from typing import Annotated, Any

import typer

from penstock.errors import MappingError, OptionError, PenstockError, ProjectError, QueryError

__all__ = ["FAILED", "app", "clean_exit", "complain", "exit_code", "status"]

FAILED, WRONG = 1, 2  # exit codes: a failure, and a query or an option that is wrong
INTERRUPTED, BROKEN_PIPE, TERMINATED = 130, 141, 143  # as shells have them for signals

app = typer.Typer(
    name="penstock",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if not wanted:
        return
    from importlib.metadata import PackageNotFoundError, version

    try:
        typer.echo(f"penstock {version('penstock')}")
    except PackageNotFoundError:
        typer.echo("penstock, from a directory that is not installed")
    raise typer.Exit


@app.callback()
def main(
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Continuous SPARQL on Apache Spark."""


class Terminated(KeyboardInterrupt):
    """SIGTERM, as service managers send it."""


def exit_code(error: PenstockError) -> int:
    """The exit code of an error."""
    return WRONG if isinstance(error, QueryError | MappingError | ProjectError | OptionError) else FAILED


def complain(message: str) -> None:
    """Write a message to standard error."""
    typer.echo(message, err=True)


@contextmanager
def clean_exit() -> Iterator[None]:
    """Turn expected failures into one sentence and an exit code, without a stack trace. SIGTERM is as Ctrl-C."""
    try:
        if sys.stdout is None:
            raise PenstockError("standard output is closed")
        with _terminated_as_interrupted():
            yield
        sys.stdout.flush()
    except PenstockError as error:
        complain(str(error))
        raise typer.Exit(exit_code(error)) from None
    except KeyboardInterrupt as signalled:
        raise typer.Exit(TERMINATED if isinstance(signalled, Terminated) else INTERRUPTED) from None
    except OSError as error:  # a full disk, or a reader such as `head` that has seen enough
        if error.filename is not None:
            complain(f"{error.filename}: {error.strerror}")
            raise typer.Exit(FAILED) from None
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is still buffered goes nowhere
        if isinstance(error, BrokenPipeError):
            raise typer.Exit(BROKEN_PIPE) from None
        complain(f"standard output: {error.strerror}")
        raise typer.Exit(FAILED) from None


@contextmanager
def _terminated_as_interrupted() -> Iterator[None]:
    """Let SIGTERM be heard where Ctrl-C is: what is due is answered, and nothing is left behind."""
    if current_thread() is not main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before or signal.SIG_DFL)


def _terminate(_signal: int, _frame: FrameType | None) -> None:
    raise Terminated


def status(message: str) -> Any:
    """A spinner on a terminal; nothing where standard error is a file."""
    if not sys.stderr.isatty():
        return nullcontext()
    from rich.console import Console

    return Console(stderr=True).status(message)
