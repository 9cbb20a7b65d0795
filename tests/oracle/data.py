"""Small generated data: few terms, so that patterns meet, and predicates that tell what kind of object they have.

Knowing the kinds lets the generated expressions stay where SPARQL says what happens. Kept out on purpose, because
pyoxigraph and the recommendation differ there or because neither promises anything:

- lexical forms that are not canonical: pyoxigraph stores values, so `"01"^^xsd:integer` comes back as 1, `"0"` as
  false, a derived type such as xsd:negativeInteger as xsd:integer, and STR of a double is `1.5`, never `1.5E0`;
- integers near 2⁶³: pyoxigraph's overflow, Penstock's do not;
- dateTimes without a time zone: comparing them with others is undetermined, and the two need not agree how.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyoxigraph import Quad, RdfFormat, Store

from tests.support.compare import XSD
from tests.support.tape import Tape

NS = "http://example.org/"
PREFIXES = f"PREFIX : <{NS}>\nPREFIX xsd: <{XSD}>\n"

ANCHOR = "a"  # a node of every graph: pyoxigraph finds a zero-length path from a constant only if the graph has it
NODES = (ANCHOR, "b", "c")
BLANKS = ("_:x", "_:y")
GRAPHS = ("g1", "g2")

INTEGERS = ("0", "1", "2", "3", "-1")
NUMBERS = (*INTEGERS, "0.5", "1.5", "2.5", '"1.5"^^xsd:double', '"0.25"^^xsd:double', '"1000"^^xsd:double')
STRINGS = ('""', '"a"', '"b"', '"ab"', '"Ba"', '"é b"', '"1"')
TAGGED = ('"a"@en', '"a"@fr', '"ab"@en', '"b"', '"Ab"@en-gb')
DATES = tuple(f'"{day}"^^xsd:dateTime' for day in ("2020-01-01T00:00:00Z", "2020-01-01T02:00:00+02:00"))
DATES += tuple(f'"{day}"^^xsd:dateTime' for day in ("2021-06-30T23:59:59.5Z", "1999-12-31T12:30:00-05:00"))
BOOLEANS = ("true", "false")

LINKS = ("p", "q", "r")
OBJECTS = {  # predicate → what its objects are
    **{link: tuple(":" + node for node in NODES) + BLANKS for link in LINKS},
    "i": INTEGERS,
    "n": NUMBERS,
    "s": STRINGS,
    "l": TAGGED,
    "t": DATES,
    "f": BOOLEANS,
    "m": (":a", ":b", "_:x", "1", "1.5", '"1.5"^^xsd:double', '"a"', '"a"@en', "true", DATES[0]),
}


@dataclass(frozen=True, slots=True)
class Data:
    """A dataset as TriG text (for a person to read and to keep as a case) that both engines load as quads."""

    text: str

    def quads(self) -> list[Quad]:
        store = Store()
        store.load(self.text.encode(), format=RdfFormat.TRIG)
        return sorted(store, key=str)


def triples(draw: Tape, most: int) -> list[str]:
    """Lines of Turtle, often many, so that patterns find something; shrinking still gets to none."""
    found = []
    for _ in range(draw.pick((0, most // 3, *(most,) * 8))):
        predicate = draw.pick(tuple(OBJECTS))
        subject = draw.pick(OBJECTS["p"])
        found.append(f"{subject} :{predicate} {draw.pick(OBJECTS[predicate])} .")
    return list(dict.fromkeys(found))


def dataset(draw: Tape) -> Data:
    """A default graph and two named ones, with the anchor in each."""
    anchored = f":{ANCHOR} :i 1 ."
    blocks = ["\n".join([anchored, *triples(draw, 54)])]
    blocks += [f":{name} {{ {' '.join([anchored, *triples(draw, 22)])} }}" for name in GRAPHS]
    return Data(f"@prefix : <{NS}> .\n@prefix xsd: <{XSD}> .\n" + "\n".join(blocks) + "\n")
