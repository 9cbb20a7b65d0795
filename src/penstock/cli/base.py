"""Shared by all commands: the application, exit codes, and an exit without a stack trace."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated, Any

import typer

from penstock.errors import PenstockError

__all__ = ["BAD_QUERY", "FAILED", "app", "clean_exit", "complain", "status"]

FAILED, BAD_QUERY, INTERRUPTED, BROKEN_PIPE = 1, 2, 130, 141  # exit codes; the last two as shells have them

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


def complain(message: str) -> None:
    """Write a message to standard error."""
    typer.echo(message, err=True)


@contextmanager
def clean_exit() -> Iterator[None]:
    """Turn expected failures into one sentence and an exit code, without a stack trace."""
    try:
        if sys.stdout is None:
            raise PenstockError("standard output is closed")
        yield
        sys.stdout.flush()
    except PenstockError as error:
        complain(str(error))
        raise typer.Exit(FAILED) from None
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None
    except OSError as error:  # a full disk, or a reader such as `head` that has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is still buffered goes nowhere
        if isinstance(error, BrokenPipeError):
            raise typer.Exit(BROKEN_PIPE) from None
        complain(f"standard output: {error.strerror}")
        raise typer.Exit(FAILED) from None


def status(message: str) -> Any:
    """A spinner on a terminal; nothing where standard error is a file."""
    if not sys.stderr.isatty():
        return nullcontext()
    from rich.console import Console

    return Console(stderr=True).status(message)
