"""Checkpoints: a folder that Penstock has written, of which a file is changed, cut, exchanged or removed."""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path
from random import Random
from tempfile import mkdtemp

from penstock import Engine
from penstock.stream.ingest.dead_letters import DeadLetters, Malformed
from penstock.stream.log.journal import Record
from penstock.stream.log.stream_log import StreamLog
from tests.fuzz.byte_mutations import mutated
from tests.fuzz.harness import Target
from tests.support.arrivals import elements

__all__ = ["CHECKPOINTS"]

_STREAM, _TEXT = "http://e/s", "SELECT ?x FROM STREAM <http://e/s> [RANGE 1m STEP 1m] { ?x ?p ?y }"
_RULE = "REGISTER STREAM <http://e/t> AS CONSTRUCT { ?x <http://e/q> ?y } FROM STREAM <http://e/s> [NOW] { ?x ?p ?y }"


@cache
def _whole() -> tuple[Path, tuple[Path, ...]]:
    """A checkpoint, and its files by their paths in it."""
    root = Path(mkdtemp(prefix="penstock-fuzz-"))
    with Engine(checkpoint=root) as engine:
        engine.stream(_STREAM, lateness="5s")
        engine.register(_TEXT, name="q", sink=str(root.parent / "answers.ndjson"))
        engine.register(_RULE)
    log = StreamLog(root / "log")
    for number in range(4):
        log.append(_STREAM, "folder", number, elements([number]), late=1, malformed=1)
    log.advance(_STREAM, 1)
    log.discard(_STREAM, 0)
    for batch in range(3):
        log.push(_STREAM, Record(batch, elements([4 + batch]), late=1, malformed=1, advanced_to=2))
    DeadLetters(root / "dead").write(_STREAM, "folder-0", elements([1]), [Malformed("folder-0", 1, "x", "no triple")])
    return root, tuple(sorted(path.relative_to(root) for path in root.rglob("*") if path.is_file()))


def _make(draw: Random) -> list[tuple[str, bytes | None]]:
    """Files with their new content; None: removed."""
    root, files = _whole()
    chosen = draw.choices(files, k=draw.choice((1, 1, 1, 2, 3)))
    return [(str(name), _changed(draw, root / name)) for name in chosen]


def _changed(draw: Random, file: Path) -> bytes | None:
    match draw.randrange(8):
        case 0:
            return None
        case 1:
            root, files = _whole()
            return (root / draw.choice(files)).read_bytes()
    return mutated(draw, file.read_bytes(), b"[{" if file.suffix == ".json" else b"")


def _run(changes: list[tuple[str, bytes | None]], folder: Path) -> None:
    """Open the folder, and read all that needs no Spark."""
    root = folder / "checkpoint"
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(_whole()[0], root)
    for name, content in changes:
        if content is None:
            (root / name).unlink(missing_ok=True)
        else:
            (root / name).write_bytes(content)
    with Engine(checkpoint=root) as engine:
        engine.stream(_STREAM, lateness="5s")
        assert str(engine.status)
        list(engine.dead_letters(_STREAM))
        engine.push(_STREAM, '<http://e/a> <http://e/p> <http://e/b> "2026-01-01T00:00:00Z" .')
        engine.register(_TEXT, name="another")


CHECKPOINTS = Target("checkpoints", _make, _run, 150)
