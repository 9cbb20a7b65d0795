"""The small commands: `penstock doctor`, `penstock demo`, `penstock test`."""

from __future__ import annotations

from typing import Annotated

import typer

from penstock.cli import engines, output
from penstock.cli.base import FAILED, app, clean_exit, status
from penstock.cli.logs import LogFormatOption, LogLevelOption, to_stderr
from penstock.cli.options import MasterOption
from penstock.errors import OptionError
from penstock.tuning import DEFAULT

_SHOWS = ("city", "city-static")


@app.command()
def doctor(
    full: Annotated[bool, typer.Option("--full", help="Also start Spark (takes some seconds).")] = False,
) -> None:
    """Check the requirements of Penstock on this machine, show how to get missing ones, and print the thresholds."""
    from penstock.cli.diagnosis import doctor as examine

    with clean_exit():
        with status("Checking…"):
            results = list(examine.checks(full))
        output.print_checks(results)
        output.print_tuning(DEFAULT)
    raise typer.Exit(0 if examine.healthy(results) else FAILED)


@app.command()
def demo(
    name: Annotated[
        str, typer.Argument(metavar="[NAME]", help="city: gates and cameras, live; city-static: SPARQL on the map.")
    ] = "city",
    speed: Annotated[str, typer.Option(metavar="60x", help="Speed of the simulated clock.")] = "60x",
    minutes: Annotated[int, typer.Option(min=6, help="Simulated minutes.")] = 40,
    seed: Annotated[int, typer.Option(help="Random seed of the traffic.")] = 2009,
    log_level: LogLevelOption = None,
    log_format: LogFormatOption = None,
) -> None:
    """Run continuous queries over the simulated traffic of a small city."""
    with to_stderr(log_level, log_format), clean_exit():
        if name not in _SHOWS:
            raise OptionError(f"there is no demo {name}; there are {', '.join(_SHOWS)}")
        if name == "city-static":
            from penstock.demo import static_city

            static_city.play(lambda: engines.open_engine("spark", None, {}))
        else:
            from penstock.demo import city

            options = city.Options(city.read_speed(speed), minutes, seed)
            city.play(options, lambda: engines.open_engine("oxigraph", None, {}))


@app.command("test")
def run_tests(
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE…", help="Logic tests (.rsp), or folders with such files.", show_default=False),
    ],
    master: MasterOption = None,
    log_level: LogLevelOption = None,
    log_format: LogFormatOption = None,
) -> None:
    """Run logic tests: input streams, a query, and the expected answers per instant (docs/how-to/logic-tests.md)."""
    from penstock.cli import logic_tests

    with to_stderr(log_level, log_format), clean_exit():
        code = logic_tests.run(files, master)
    raise typer.Exit(code)
