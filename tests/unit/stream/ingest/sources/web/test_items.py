"""Items of documents: JSON Pointers, elements of XML, and ids of all kinds."""

from __future__ import annotations

import json
from typing import Any

import pytest

from penstock.stream.ingest.sources.web.items import Item, Paths, pointed
from penstock.stream.ingest.sources.web.memory import Memory

DOCUMENT = {"foo": ["bar", "baz"], "": 0, "a/b": 1, "m~n": 8, "c%d": 2, " ": 7, "none": None}


@pytest.mark.parametrize(
    ("pointer", "value"),
    [("", DOCUMENT), ("/foo", ["bar", "baz"]), ("/foo/0", "bar"), ("/", 0), ("/a~1b", 1), ("/m~0n", 8), ("/c%d", 2),
     ("/ ", 7), ("/none", None), ("/nosuch", None), ("/foo/2", None), ("/foo/x", None), ("/foo/-1", None),
     ("/foo/0/x", None)],
)  # fmt: skip
def test_pointers_of_rfc_6901(pointer: str, value: Any) -> None:
    assert pointed(DOCUMENT, pointer) == value


def test_ids_are_texts() -> None:
    ids = ["a", 7, 7.5, True, None, {"b": 1, "a": 2}, [1]]
    items = Paths("", "/id").split(json.dumps([{"id": id} for id in ids]).encode())
    assert [item.id for item in items] == ["a", "7", "7.5", "true", None, '{"a": 2, "b": 1}', "[1]"]


def test_text_survives_and_a_byte_order_mark_does_not() -> None:
    (item,) = Paths("/p").split(b'\xef\xbb\xbf{"p": ["\xc3\xbc \\u0000"]}')
    assert json.loads(item.payload) == "ü \0"


def test_elements_and_values_of_xml() -> None:
    document = b"<r><a><i><k>1</k></i></a><a><i><k>2</k></i><i/></a><i>no</i></r>"
    items = Paths("/r/a/i", "/k").split(document)
    assert [item.id for item in items] == ["1", "2", None]
    assert items[0].payload.endswith(b"<i><k>1</k></i>")
    assert Paths("/r").split(document)[0].id is None
    with pytest.raises(ValueError, match="the root of its answer is r, not feed"):
        Paths("/feed/entry").split(document)


def test_items_without_a_path_are_the_document_as_it_stands() -> None:
    assert Paths().split(b" not even JSON ") == [Item(b" not even JSON ", None)]


def test_long_ids_are_remembered_by_a_digest() -> None:
    memory = Memory(2)
    long, other = Item(b"", "x" * 1000), Item(b"", "x" * 999 + "y")
    assert memory.fresh([long]) == [long]
    assert memory.fresh([long, other]) == [other]
    assert all(len(id) <= 25 for id in memory.ids)
    assert Memory(2, memory.ids).fresh([long, other]) == []


def test_a_repeated_id_in_one_document_counts_once() -> None:
    one = Item(b"1", "a")
    assert Memory(5).fresh([one, Item(b"2", "a"), Item(b"3", None), Item(b"3", None)]) == [
        one, Item(b"3", None), Item(b"3", None),
    ]  # fmt: skip
