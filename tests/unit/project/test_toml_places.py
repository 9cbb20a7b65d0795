"""The scanner of places finds exactly the keys and values that `tomllib` reads, whatever the style of the text."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from datetime import date, datetime, time
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from penstock.project.toml_places import KeyPath, find_places

NAMES = st.one_of(st.sampled_from(["a", "b-c", "1", "key_2"]), st.text("ab \".'#=[]\n\\é", max_size=4))
SCALARS = st.one_of(
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    st.text("ab \"'#=[]{},\n\\\té", max_size=8),
    st.datetimes(min_value=datetime(1000, 1, 1)),
    st.dates(min_value=date(1000, 1, 1)),
    st.times(),
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=6
)
TABLES = st.dictionaries(NAMES, VALUES, max_size=3)
DOCUMENTS = st.tuples(TABLES, st.lists(st.tuples(st.sampled_from(["x", "y", "z"]), st.booleans(), TABLES), max_size=5))


def string(text: str, draw: st.DrawFn) -> str:
    """A string in one of the four styles that can hold it."""
    styles = ["basic", "long"]
    if "'" not in text and "\n" not in text:
        styles.append("literal")
    if "'" not in text:
        styles.append("long literal")
    style = draw(st.sampled_from(styles))
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t")
    if style == "literal":
        return f"'{text}'"
    if style == "long literal":
        return f"'''\n{text}'''"
    return f'"""\n{escaped}"""' if style == "long" else '"' + escaped.replace("\n", "\\n") + '"'


def key(name: str) -> str:
    bare = name and all(letter.isascii() and (letter.isalnum() or letter in "_-") for letter in name)
    escaped = name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return name if bare else f'"{escaped}"'


def written(value: Any, draw: st.DrawFn) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return string(value, draw)
    if isinstance(value, datetime):
        return value.isoformat(draw(st.sampled_from(["T", " "])))
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, list):
        gap = draw(st.sampled_from(["", " ", "\n", ' # ], "\n']))
        return f"[{gap}" + "".join(f"{written(one, draw)}{gap},{gap}" for one in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key(name)} = {written(one, draw)}" for name, one in value.items()) + "}"
    return repr(value)


@st.composite
def texts(draw: st.DrawFn) -> str:
    top, tables = draw(DOCUMENTS)
    lines = [f"{key(name)}={written(value, draw)} # [x] = '" for name, value in top.items() if name not in "xyz"]
    kinds: dict[str, bool] = {}
    for name, is_array, table in tables:
        if name in kinds and not (kinds[name] and is_array):
            continue
        kinds[name] = is_array
        lines.append(f"[[ {name} ]]" if is_array else f"[{name}]")
        lines += [f"  {key(one)} \t=  {written(value, draw)}" for one, value in table.items()]
        lines += [f"[{name}.'sub table']", "in.'side' = 1"] if "sub table" not in table else []
    return "\n".join(lines)


def leaves(value: Any, path: KeyPath = ()) -> Iterator[tuple[KeyPath, Any]]:
    """The values that are neither tables nor arrays, with their paths."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    if items is None:
        yield path, value
    else:
        for name, inner in items:
            yield from leaves(inner, (*path, name))


@given(texts())
def test_every_value_is_found_where_it_is(text: str) -> None:
    read, found = tomllib.loads(text), find_places(text)
    for path, value in leaves(read):
        entry = found[path]
        assert tomllib.loads(f"v = {text[entry.value.start : entry.value.end]}") == {"v": value}
        if isinstance(path[-1], str):
            assert list(tomllib.loads(f"{text[entry.key.start : entry.key.end]} = 0")) == [path[-1]]


@given(texts())
def test_nothing_else_is_found(text: str) -> None:
    read = tomllib.loads(text)
    for path in find_places(text):
        value: Any = read
        for name in path:
            value = value[name]


def test_nested_arrays_of_tables_and_dotted_keys() -> None:
    text = '[[a]]\nb.c = 1\n[[a.d]]\n[[a.d]]\ne = "x"\n[a.f]\n[[a]]\n[[a.d]]\n"e"=[{g=2}, {g = 3}]\n'
    found = {path: text[entry.value.start : entry.value.end] for path, entry in find_places(text).items()}
    assert found["a", 0, "b", "c"] == "1"
    assert found["a", 0, "d", 1, "e"] == '"x"'
    assert found["a", 0, "f"] == "f"
    assert found["a", 1, "d", 0, "e", 1] == "{g = 3}"
    assert found["a", 1, "d", 0, "e", 1, "g"] == "3"


def test_quotes_at_the_end_of_a_long_string() -> None:
    text = 'a = """x"""""\nb = \'\'\'y\'\'\'\'\nc = ""\nd = """"""\n'
    found = {path[0]: text[entry.value.start : entry.value.end] for path, entry in find_places(text).items()}
    assert found == {"a": '"""x"""""', "b": "'''y''''", "c": '""', "d": '""""""'}
