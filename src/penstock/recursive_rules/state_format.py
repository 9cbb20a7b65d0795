"""The stored form of the state of rules: JSON with a format version. Reading it runs no code.

    {"format": 1, "now": END, "memories": {MEMORY: [[KEY, [ROW, …]], …]}}       the state of one machine
    {"format": 1, "partition": null | {"places": {PREDICATE: PLACE}, "other": PLACE | null}}

A key is a term or a list of terms, and a row a list of its start, its end and its terms.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pyoxigraph import NamedNode

from penstock.errors import StoreError
from penstock.recursive_rules.analysis.partition import Partition
from penstock.recursive_rules.rete.memory import State

__all__ = ["read_partition", "read_state", "write_partition", "write_state"]

_FORMAT = 1


def write_state(now: int | None, memories: Mapping[str, State]) -> str:
    """The state of a machine as JSON: the end of its last step, and the rows of its memories by key."""
    return _dump({"now": now, "memories": {name: list(state.items()) for name, state in memories.items()}})


def read_state(text: str) -> tuple[int | None, dict[str, State]]:
    """The end of the last step and the rows of the memories, as `write_state` was given them."""
    state = _load(text)
    return state["now"], {name: _rows(pairs) for name, pairs in state["memories"].items()}


def write_partition(partition: Partition | None) -> str:
    """A way to split elements as JSON, without the variables of the rules, which no reader needs."""
    if partition is None:
        return _dump({"partition": None})
    places = {predicate.value: place for predicate, place in partition.places.items()}
    return _dump({"partition": {"places": places, "other": partition.other}})


def read_partition(text: str) -> Partition | None:
    """The way to split elements that `write_partition` was given."""
    content = _load(text)["partition"]
    if content is None:
        return None
    return Partition({NamedNode(iri): place for iri, place in content["places"].items()}, content["other"])


def _rows(pairs: list[tuple[Any, list[list[Any]]]]) -> State:
    return {tuple(key) if isinstance(key, list) else key: [tuple(row) for row in rows] for key, rows in pairs}


def _dump(content: dict[str, Any]) -> str:
    return json.dumps({"format": _FORMAT} | content, ensure_ascii=False, separators=(",", ":"))


def _load(text: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(text)
    if (format := content.get("format")) != _FORMAT:
        raise StoreError(f"The state of rules has format {format}; this Penstock reads format {_FORMAT}.")
    return content
