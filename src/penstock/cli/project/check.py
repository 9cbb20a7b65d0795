"""`penstock check`: a project file and all that it names, without starting anything."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.base import WRONG, app, clean_exit, complain, status

if TYPE_CHECKING:
    from penstock.project.check_project import CheckResult

# \b keeps click from joining the lines, so that they can be copied.
_EXAMPLES = """\b
Examples:
  penstock check city.toml

\b
Queries are parsed, options and mappings are checked, files are looked for, secrets are read (and never shown), and
the peers of sources and sinks are connected to. Nothing is started, and nothing is written.

\b
Exit code: 0 all is well, 2 something is wrong.
"""


@app.command("check", epilog=_EXAMPLES)
def check_command(
    file: Annotated[str, typer.Argument(metavar="PROJECT.toml", help="Project file.", show_default=False)],
) -> None:
    """Check a project file: queries, options, mappings, files and connections."""
    with clean_exit():
        from penstock.project import read_project
        from penstock.project.check_project import check_project

        with status("Checking…"):
            results = list(check_project(read_project(file)))
        _print(results)
        errors = [result.error for result in results if result.error is not None]
        for error in errors:
            complain(str(error))
    raise typer.Exit(WRONG if errors else 0)


def _print(results: list[CheckResult]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table("", "", "", "found", box=None, pad_edge=False)
    for result in results:
        mark = Text("OK", style="green") if result.error is None else Text("wrong", style="red")
        table.add_row(mark, result.table, Text(result.name), Text(result.found))
    Console(width=None if sys.stdout.isatty() else 200).print(table)
