"""`penstock dead`: prints the dead letters of a checkpoint."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.base import app, clean_exit, complain
from penstock.errors import PenstockError

if TYPE_CHECKING:
    from penstock.stream.base.dead_letter import DeadLetter

# \b keeps click from joining the lines, so that they can be copied.
_EXAMPLES = """\b
Examples:
  penstock dead state/
  penstock dead state/ --stream http://streams.org/citytollgates.trdf --format ndjson

\b
In text a letter is a line with its kind, its place and the reason, and a line with what came, which is cut off if it is
long. In ndjson it is a whole record: stream, kind, text, reason, set_aside, time, source, line. The folder is only
read, so an engine may run on it meanwhile.

\b
Exit code: 0 success, also without any dead letter, 1 the folder is not a checkpoint.
"""

_LONGEST = 400  # characters of what came and of a reason, in text


class LetterFormat(StrEnum):
    """The values of `--format`."""

    text = "text"
    ndjson = "ndjson"


@app.command(epilog=_EXAMPLES)
def dead(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Checkpoint folder.", show_default=False)],
    stream: Annotated[str | None, typer.Option(metavar="IRI", help="Only the letters of this stream.")] = None,
    format: Annotated[LetterFormat, typer.Option("--format", "-f", help="Output format.")] = LetterFormat.text,
) -> None:
    """Print the dead letters of a checkpoint: late elements and malformed lines, each with the reason."""
    with clean_exit():
        has_letters = False
        for letter in _letters(folder, stream):
            typer.echo(_text(letter) if format is LetterFormat.text else letter.to_json())
            has_letters = True
        if not has_letters:
            complain("there are no dead letters")


def _letters(folder: Path, stream: str | None) -> Iterator[DeadLetter]:
    from penstock.stream.ingest.dead_letters import DeadLetters
    from penstock.stream.registry.metadata_store import streams_of

    streams = streams_of(folder)
    if stream is not None and stream not in streams:
        known = ", ".join(f"<{name}>" for name in streams) or "none"
        raise PenstockError(f"{folder}: the checkpoint has no stream <{stream}>; it has {known}")
    dead_letters = DeadLetters(folder / "dead")
    for name in streams if stream is None else [stream]:
        yield from dead_letters.read(name)


def _text(letter: DeadLetter) -> str:
    from penstock.io.results.cells import clip, visible

    place = letter.source or letter.stream
    line = f", line {letter.line}" if letter.line else ""
    reason, text = (clip(visible(part[: 2 * _LONGEST]), _LONGEST) for part in (letter.reason, letter.text))
    return f"{letter.kind}  {visible(place)}{line}: {reason}\n    {text}"
