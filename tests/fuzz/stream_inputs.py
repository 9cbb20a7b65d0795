"""Inputs of streams: mutated bytes of N-Quads, TriG and JSON-LD, through the readers of files and of pushes."""

from __future__ import annotations

from pathlib import Path
from random import Random

from penstock.io.formats import read
from penstock.stream.ingest.element_reader import of_blocks, of_file
from penstock.stream.ingest.elements import Block
from penstock.stream.ingest.sources.folder import Dropped
from penstock.stream.ingest.stream_declaration import Declared
from tests.fuzz.byte_mutations import mutated
from tests.fuzz.harness import Target

__all__ = ["INPUTS"]

_STREAM = "http://e/stream"
_TIME = '"2026-01-01T00:00:0{}Z"^^<http://www.w3.org/2001/XMLSchema#dateTime>'
_PROV = "http://www.w3.org/ns/prov#generatedAtTime"
_OBJECTS = "<http://e/o>", '"a\\u00e9\\n"@en-GB', '"1.5"^^<http://www.w3.org/2001/XMLSchema#decimal>', "_:b"
_LINES = "".join(f"<http://e/s{i}> <http://e/p> {o} {_TIME.format(i)} .\n" for i, o in enumerate(_OBJECTS))
_LASTING = '_:a <http://e/p> "é" <http://e/g> "2026-01-01T00:00:00Z/2026-01-02T00:00:00Z"^^<urn:penstock:interval> .\n'
_TRIG = f"""@prefix : <http://e/> .
:g {{ :a :p 1, "x"@en, ( 1 2.5 ), [ :q true ] }}
:g <{_PROV}> {_TIME.format(1)} . :g :by _:b .
GRAPH :h {{ :b a :c ; :t '''long''' . }} :h <{_PROV}> {_TIME.format(2)} .
"""
_JSON = f"""[{{"@context": {{"@vocab": "http://e/", "at": {{"@id": "{_PROV}", "@type":
"http://www.w3.org/2001/XMLSchema#dateTime"}}}}, "@id": "http://e/g", "at": "2026-01-01T00:00:00Z",
"@graph": [{{"@id": "http://e/a", "p": [1, 2.5, true, null, {{"@value": "x", "@language": "en"}}, {{"@list": [1]}}]}}]
}}]
"""
_SEEDS = {"nq": (_LINES + _LASTING).encode(), "trig": _TRIG.encode(), "jsonld": _JSON.encode()}
_NESTED = {"nq": b"<", "trig": b"([{", "jsonld": b"[{"}


def _make(draw: Random) -> tuple[str, bytes]:
    kind = draw.choice(tuple(_SEEDS))
    return kind, mutated(draw, _SEEDS[kind], _NESTED[kind])


def _run(value: tuple[str, bytes], folder: Path) -> None:
    """The bytes as a push, as a dropped file, and as a file of the background."""
    kind, data = value
    block = Block(_STREAM, data + b"\n", None, None if kind == "nq" else kind)
    for item in of_blocks(_STREAM, [block]):
        assert item is not None
    file = folder / f"in.{kind}"
    file.write_bytes(data)
    for reading in of_file(Dropped(str(file), 0, len(data)), _STREAM, Declared(None)):
        assert all(bad.reason for bad in reading.malformed)
    list(read(file))


INPUTS = Target("inputs", _make, _run, 1000)
