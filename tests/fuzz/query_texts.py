"""Query texts: walks through Penstock's own grammar, and mutations of all queries in the repository."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from random import Random

from lark import Lark
from lark.grammar import Rule
from lark.lexer import PatternStr

from penstock.algebra.build import build
from penstock.explain import explain
from penstock.syntax import parse
from penstock.syntax.functions import BUILTINS
from penstock.syntax.parser import parser
from penstock.translate import LANGUAGES, translated
from tests.fuzz.harness import Target

__all__ = ["QUERIES"]

_ROOT = Path(__file__).parents[2]
_DEPTH = 14  # levels of rules after which the shortest way out is taken
_SAMPLES: dict[str, tuple[str, ...]] = {
    "IRIREF": ("<http://e/a>", "<http://e/s>", "<>", "<a b>", "<#f>", "<//h/../x>", "<http://e/é%zz>"),
    "PNAME_LN": (":a", "xsd:integer", ":s", "p:%41", ":a\\,b", "nope:x"),
    "PNAME_NS": (":", "p:"),
    "BLANK_NODE_LABEL": ("_:b", "_:b1"),
    "VAR": ("?x", "?y", "$z", "?w", "?total-sensor", "?é"),
    "LANGTAG": ("@en", "@de-CH-1996"),
    "DOUBLE": ("1e3", "9e999", "1e-400"),
    "DECIMAL": ("1.5", ".5", "0." + "1" * 60),
    "INTEGER": ("0", "1", "10", "9" * 40, "1000000"),
    "DOUBLE_SIGNED": ("-1e3", "+1e3"),
    "DECIMAL_SIGNED": ("-1.5",),
    "INTEGER_SIGNED": ("-1", "+" + "9" * 30),
    "STRING_LITERAL1": ("'a'", "''", "'[a'", "'\\n'"),
    "STRING_LITERAL2": ('"a"', '"2020-01-01"', '"(a*)*b"', '"\\u0041"'),
    "STRING_LITERAL_LONG1": ("'''a'b'''",),
    "STRING_LITERAL_LONG2": ('"""a\n"b"""',),
    "BUILTIN": tuple(BUILTINS),
    "NAME": ("q", "select", "a-b"),
    "UNIT": ("s", "ms", "minutes"),
    "ISO": ("PT1S", "P1DT2H", "PT0.5S", "P1M"),
    "NOW": ("NOW",),
    "WORD": ("nonsense",),
}
_ODD = ("\0", "\ufeff", "\ud800", "\U0001f600", "\u202e", "é", "\\u0000", "\\uD800", "\\", "'", '"', "\r", "#", "\x85")
_NESTED = (("(", ")"), ("{", "}"), ("[", "]"), ("(1+", ")"), ("IF(?x,1,", ")"), ("{ SELECT * {", "} }"), ("! (", ")"),
           ("-(", ")"), ("OPTIONAL {", "}"), ("FILTER EXISTS {", "}"), ("(<p>/", ")*"))  # fmt: skip


@cache
def _grammar() -> tuple[dict[str, list[Rule]], dict[str, int], dict[str, str]]:
    """The rules by name, the least depth of each, and the texts of terminals that are words or signs."""
    lark: Lark = parser()
    rules: dict[str, list[Rule]] = {}
    for rule in lark.rules:
        rules.setdefault(str(rule.origin.name), []).append(rule)
    words = {t.name: t.pattern.value for t in lark.terminals if isinstance(t.pattern, PatternStr)}
    return rules, _least_depths(rules), words


def _least_depths(rules: dict[str, list[Rule]]) -> dict[str, int]:
    least: dict[str, int] = {}
    while len(least) < len(rules):
        found = {name: _depth_of(options, least) for name, options in rules.items() if name not in least}
        least |= {name: depth for name, depth in found.items() if depth is not None}
    return least


def _depth_of(options: list[Rule], least: dict[str, int]) -> int | None:
    needs = ([str(s.name) for s in option.expansion if not s.is_term] for option in options)
    known = (need for need in needs if all(name in least for name in need))
    return min((1 + max((least[name] for name in need), default=0) for need in known), default=None)


def _walk(draw: Random, name: str, depth: int, out: list[str]) -> None:
    """Append the tokens of a random derivation of a rule."""
    rules, least, words = _grammar()
    options = rules[name]
    if depth <= 0:
        cost = {i: _depth_of([option], least) or 0 for i, option in enumerate(options)}
        options = [option for i, option in enumerate(options) if cost[i] == min(cost.values())]
    for symbol in draw.choice(options).expansion:
        if symbol.is_term:
            samples = _SAMPLES.get(symbol.name)
            out.append(draw.choice(samples) if samples else words[symbol.name])
        else:
            _walk(draw, str(symbol.name), depth - 1, out)


def _derived(draw: Random) -> str:
    tokens: list[str] = []
    _walk(draw, "start", draw.randint(4, _DEPTH), tokens)
    return "PREFIX : <http://e/> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> " + " ".join(tokens[:4000])


@cache
def _examples() -> tuple[str, ...]:
    """All queries of the repository: files of their own, in logic tests and in the documentation."""
    texts = [path.read_text("utf-8") for path in sorted(_ROOT.rglob("*.rq")) if ".venv" not in path.parts]
    for path in sorted((_ROOT / "tests" / "logic").rglob("*.rsp")):
        texts += re.findall(r"^query[^\n]*\n((?:[ \t]+[^\n]*\n|\n)+)", path.read_text("utf-8"), re.MULTILINE)
    for path in sorted((_ROOT / "docs").rglob("*.md")):
        texts += re.findall(r"```sparql\n(.*?)```", path.read_text("utf-8"), re.DOTALL)
    return tuple(texts)


_TOKEN = re.compile(r"\s+|\"[^\"\n]*\"|<[^>\s]*>|[?$]?\w+|.", re.DOTALL)


def _mutated(draw: Random) -> str:
    tokens = _TOKEN.findall(draw.choice(_examples()))
    for _ in range(draw.choice((1, 1, 2, 4, 8))):
        at = draw.randrange(len(tokens) + 1)
        match draw.randrange(7):
            case 0:
                del tokens[at : at + draw.randint(1, 5)]
            case 1:
                tokens[at:at] = tokens[at : at + draw.randint(1, 20)] * draw.randint(1, 5)
            case 2:
                tokens.insert(at, draw.choice(tokens or [""]))
            case 3:
                tokens.insert(at, draw.choice(_ODD))
            case 4:
                before, after = draw.choice(_NESTED)
                count = draw.choice((3, 30, 99, 150, 1000, 5000))
                tokens[at : at + 1] = [before * count, *tokens[at : at + 1], after * count]
            case 5:
                tokens.insert(at, draw.choice(("9" * draw.choice((5, 30, 5000)), "1e999", "-0", "0x1", "1..2")))
            case 6:
                other = _TOKEN.findall(draw.choice(_examples()))
                start = draw.randrange(len(other) + 1)
                tokens[at:at] = other[start : start + draw.randint(1, 30)]
    return "".join(tokens)


def _make(draw: Random) -> str:
    return _derived(draw) if draw.random() < 0.5 else _mutated(draw)


def _run(text: str, folder: Path) -> None:
    """Parse, build, plan and translate."""
    query = parse(text)
    build(query)
    if len(text) < 4000:
        explain(text)
        for language in LANGUAGES:
            translated(text, language, merged=True, background=False)


QUERIES = Target("queries", _make, _run, 1500)
