"""A generated workload of all languages, rules, a derived stream and sinks, in a process that may be killed at any
moment: `workload FOLDER SEED SIZE ACKNOWLEDGED` pushes those of so many elements that are not in the log yet. With a
further argument it waits for its end then.

It prints a line for each step that is done: the parent kills it after a random number of them. A push is printed when
it has returned; such an element must never be lost.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random

from pyspark.sql import SparkSession

from penstock import Engine
from penstock.options import Emit
from tests.recovery.attached_session import attach

STREAM = "http://e/gates"
DERIVED = "http://e/new"
PREFIXES = "PREFIX : <http://e/> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>"
_SHORT = 'FILTER (getDURATION() < "PT1M"^^xsd:duration)'
_WINDOW = f"FROM STREAM <{STREAM}> [RANGE 40s STEP 20s]"
QUERIES: dict[str, tuple[str, Emit | None]] = {  # by the file of the answers
    "csparql.csv": (
        f"SELECT ?gate (COUNT(?car) AS ?n) {_WINDOW} WHERE {{ ?gate :registers ?car }} GROUP BY ?gate",
        None,
    ),
    "derives.nq": (
        f"REGISTER STREAM <{DERIVED}> AS CONSTRUCT {{ ?gate :sees ?car }} {_WINDOW} WHERE {{ ?gate :registers ?car }}",
        None,
    ),
    "derived.csv": (
        f"SELECT ?gate (COUNT(?car) AS ?n) FROM STREAM <{DERIVED}> [RANGE 1m STEP 20s] WHERE {{ ?gate :sees ?car }} "
        "GROUP BY ?gate",
        "istream",
    ),
    "cqels.csv": (f"SELECT ?gate ?car WHERE {{ STREAM <{STREAM}> [RANGE 30s] {{ ?gate :registers ?car }} }}", None),
    "streaming.ndjson": (
        f"SELECT ?gate FROM STREAM <{STREAM}> WINDOW RANGE 30 S SLIDE 10 S WHERE {{ ?gate :registers ?car }}",
        None,
    ),
    "dstream.ndjson": (
        f"SELECT DISTINCT ?car FROM STREAM <{STREAM}> [RANGE 20s STEP 10s] WHERE {{ ?gate :registers ?car }}",
        "dstream",
    ),
    "epsparql.csv": (
        f"SELECT ?a ?car ?b FROM STREAM <{STREAM}> WHERE {{ {{ ?a :registers ?car }} SEQ {{ ?b :registers ?car }} "
        f"{_SHORT} }}",
        None,
    ),
    "base.nq": ("REGISTER RULE base AS CONSTRUCT { ?a :reached ?b } WHERE { ?a :handedTo ?b }", None),
    "passed.nq": (
        "REGISTER RULE passed AS CONSTRUCT { ?a :reached ?c } "
        f"WHERE {{ {{ ?a :reached ?b }} SEQ {{ ?b :handedTo ?c }} {_SHORT} }}",
        None,
    ),
}


def line(seed: int, number: int) -> str:
    """The element of that number: a car that passes a gate, or a parcel that is handed on."""
    random = Random(f"{seed} {number}")
    second = 3 * number + random.randrange(3)
    time = f'"1970-01-01T{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}Z"^^<{_DATETIME}>'
    if random.random() < 0.3:
        triple = f"<http://e/p{random.randrange(4)}> <http://e/handedTo> <http://e/p{random.randrange(4)}>"
    else:
        triple = f"<http://e/gate{random.randrange(3)}> <http://e/registers> <http://e/car{random.randrange(5)}>"
    return f"{triple} {time} .\n"


_DATETIME = "http://www.w3.org/2001/XMLSchema#dateTime"


def live(
    folder: Path,
    seed: int,
    size: int,
    spark: SparkSession,
    done: Callable[[object], None] = lambda _: None,
    acknowledged: int = 0,
    waits: bool = False,
) -> None:
    """A whole life, or what is left of one: `done` is called after each step."""
    with Engine(checkpoint=folder / "state", spark=spark, rounds="auto") as engine:
        engine.stream(STREAM)
        for file, (text, emit) in QUERIES.items():
            engine.register(f"{PREFIXES} {text}", name=file.partition(".")[0], sink=folder / file, emit=emit)
        done("registered")
        found = engine.status.streams[STREAM].elements
        assert found >= acknowledged, f"{found} of {acknowledged} acknowledged elements are in the log"
        engine.start()
        done("started")
        for number in range(found, size):
            engine.push(STREAM, line(seed, number))
            done(number)
            if Random(f"{seed} flush {number}").random() < 0.15:
                engine.flush()
                done("flushed")
        if waits:
            engine.flush()
            done("flushed")
            sys.stdin.read()
        engine.stop()
        failed = {name: query.error for name, query in engine.status.queries.items() if query.error}
        assert not failed, failed


def _print(step: object) -> None:
    os.write(1, f"{step}\n".encode())  # at once, in one write


if __name__ == "__main__":
    _folder, _seed, _size, _acknowledged, *_waits = sys.argv[1:]
    live(Path(_folder), int(_seed), int(_size), attach(), _print, int(_acknowledged), bool(_waits))
    _print("done")
    os._exit(0)  # nothing of the JVM, which is another's, is touched
