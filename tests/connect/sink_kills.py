"""Deliveries to a sink in a process of its own that dies by SIGKILL: `sink_kills ADDRESS MODULE SAVED LIFE LINE`.

It dies before the n-th line of the sink's module is run. As the engine does, it saves the sink's position together
with its own progress after each batch, and rewinds the sink first. A repeated batch has the same number; how many
answers it has is drawn anew in each life, so that it may have grown.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from random import Random
from types import FrameType, SimpleNamespace
from typing import Any

import pyarrow as pa
from pyoxigraph import Literal, NamedNode, Triple

from penstock.answer import Answer
from penstock.io.sinks import open_sink
from penstock.model.term_encoding import encode
from tests.support.batches import TERMS

__all__ = ["KILLS", "killed", "live"]

KILLS = int(os.environ.get("KILLS", "20"))
ANSWERS = 300
_P = NamedNode("http://e/p")


def killed(address: str, module: str, saved: Path, most: int) -> None:
    """Begin and kill lives, each within so many lines of the module, and live the last one to its end."""
    for life in range(KILLS):
        line = Random(life).randint(1, most)
        command = [sys.executable, "-m", __name__, address, module, str(saved), str(life), str(line)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        assert done.returncode == -signal.SIGKILL, f"life {life}, line {line}: {done.stderr}"
    assert json.loads(saved.read_text())[1] > KILLS, "so few answers are not the middle"
    live(address, saved, KILLS)


def live(address: str, saved: Path, life: int, die: Any = None) -> None:
    """Deliver the answers that are not delivered yet."""
    sink = open_sink(address, "graph")
    if die is not None:
        sys.settrace(die)
    number, done, position = json.loads(saved.read_text()) if saved.exists() else (0, 0, sink.begin())
    _save(saved, number, done, position)
    sink.rewind(position)
    while done < ANSWERS:
        size = min(1 + Random(f"{life} {number}").randrange(6), ANSWERS - done)
        position = sink.deliver(_batch(number, range(done, done + size)))
        number, done = number + 1, done + size
        _save(saved, number, done, position)
    sink.close()


def _save(saved: Path, *progress: Any) -> None:
    new = saved.with_suffix(".new")
    new.write_text(json.dumps(progress))
    new.replace(saved)


def _batch(number: int, instants: range) -> Any:
    answers = [_answer(instant) for instant in instants]
    rows = [(answer.time, *map(encode, triple)) for answer in answers for triple in answer.triples or ()]
    times = pa.array([row[0] for row in rows], pa.timestamp("us", "UTC"))
    terms: dict[str, Any] = {
        name: pa.array([row[place] for row in rows], pa.string()) for place, name in enumerate("spo", 1)
    }
    return SimpleNamespace(query="cars", number=number, answers=answers, rows=pa.table({"time": times, **terms}))


def _answer(instant: int) -> Answer:
    triples = [
        Triple(NamedNode(f"http://e/{instant}"), _P, term) for term in (TERMS[instant % len(TERMS)], Literal("a"))
    ]
    return replace(Answer.graph(triples), time=datetime.fromtimestamp(600 * instant, UTC), query="cars")


def _death(module: str, line: int) -> Any:
    lines = count(1)

    def within(_frame: FrameType, event: str, _argument: Any) -> Any:
        if event == "line" and next(lines) == line:
            os.kill(os.getpid(), signal.SIGKILL)
        return within

    return lambda frame, _event, _argument: within if frame.f_code.co_filename.endswith(module) else None


if __name__ == "__main__":
    _address, _module, _saved, _life, _line = sys.argv[1:]
    live(_address, Path(_saved), int(_life), _death(_module, int(_line)))
