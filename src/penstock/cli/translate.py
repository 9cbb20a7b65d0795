"""`penstock translate`: a query in another language."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from penstock.cli.base import app, clean_exit
from penstock.cli.inputs import read_query
from penstock.cli.options import QueryArgument
from penstock.cli.query_run import messages_of

# \b keeps click from joining the lines, so that they can be copied.
_EXAMPLES = """\b
Examples:
  penstock translate cars.rq --to rspql
  penstock translate cars.rq --to rspql --no-background
  penstock translate cars.rq --to cqels --merged
  echo 'ASK { STREAM <http://example.org/s> [NOW] { ?s ?p ?o } }' | penstock translate - --to rspql --merged

\b
The printed query has the same solutions at the same instants, and the same output. If there is no such query, the
reason goes to standard error. In RSP-QL a triple that is twice in a window counts once, in the other languages twice;
--merged ignores this difference. In C-SPARQL a pattern reads windows and the default graph together, in the other
languages a window alone; --no-background ignores that difference, which gives a shorter query.

\b
Exit code: 0 success, 1 no equivalent query, 2 the query is wrong.
"""


class Target(StrEnum):
    """The values of `--to`."""

    rspql = "rspql"
    csparql = "csparql"
    cqels = "cqels"


@app.command("translate", epilog=_EXAMPLES)
def translate_query(
    query: QueryArgument,
    to: Annotated[Target, typer.Option("--to", help="Target language.")],
    merged: Annotated[bool, typer.Option("--merged", help="Ignore duplicate triples of a window.")] = False,
    no_background: Annotated[
        bool, typer.Option("--no-background", help="Assume an empty default graph of the background.")
    ] = False,
) -> None:
    """Translate a query into another language, if it has an equivalent there."""
    from penstock.translate import translated

    with clean_exit():
        file = read_query(query)
        with messages_of(file):
            text = translated(file.text, to.value, file.base, merged=merged, background=not no_background)
        typer.echo(text, nl=False)
