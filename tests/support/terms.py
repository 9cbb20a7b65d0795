"""Terms of all sorts for property tests: quotes, newlines, control characters, emoji, right-to-left text."""

from __future__ import annotations

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from pyoxigraph import BlankNode, Literal, NamedNode

from penstock.answer import Answer, Row, Term

# A busy machine is no reason to fail.
unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

XSD = "http://www.w3.org/2001/XMLSchema#"
_NASTY = ['"', "'", "\\", "\n", "\r", "\t", "\r\n", ",", ";", "<&>", "]]>", "\x00", "\x07", "\x1b[31m", "\x7f", "\x85"]
_UNICODE = ["😀", "👩‍🚀", "é", "e\u0301", "漢字", "שלום", "\u202eabc", "\u2028", "\ufeff", "\ufffe", "\U0010ffff", " "]
_characters = (st.integers(0, 0xD7FF) | st.integers(0xE000, 0x10FFFF)).map(chr)  # all but the surrogates
_texts = st.lists(st.sampled_from([*_NASTY, *_UNICODE]) | _characters, max_size=5).map("".join)

iris = st.sampled_from(["http://e/a", "http://e/ü?q=1&r=2", "urn:x:y", f"{XSD}string", "http://e/a,b;'c'"]).map(
    NamedNode
)
blank_nodes = st.sampled_from(["a", "b0", "Z9", "c14n1"]).map(BlankNode)
_numbers = st.sampled_from(["1", "-0", "+05", "1.", "1.0", ".5", "1e6", "1.E-3", ".5e1", "INF", "NaN", "abc", "", " 1"])
_datatypes = st.sampled_from(
    ["integer", "decimal", "double", "float", "boolean", "dateTime", "string", "negativeInteger"]
)
literals = st.one_of(
    _texts.map(Literal),
    st.builds(lambda text, tag: Literal(text, language=tag), _texts, st.sampled_from(["en", "de-at", "zh-hant-tw"])),
    st.builds(lambda form, name: Literal(form, datatype=NamedNode(XSD + name)), _numbers, _datatypes),
    st.builds(lambda text, kind: Literal(text, datatype=kind), _texts, iris),
)
terms: st.SearchStrategy[Term] = st.one_of(iris, blank_nodes, literals)


@st.composite
def answers(draw: st.DrawFn) -> Answer:
    """SELECT answers with unbound variables here and there."""
    names = draw(st.lists(st.sampled_from(["s", "p", "o", "été", "_1"]), min_size=1, max_size=3, unique=True))
    rows: list[Row] = draw(st.lists(st.dictionaries(st.sampled_from(names), terms), max_size=5))
    return Answer.solutions(names, rows)
