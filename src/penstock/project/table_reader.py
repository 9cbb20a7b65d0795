"""Reads one table of a project file: unknown keys, types of values, missing keys, and paths relative to the file."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from penstock.errors import MappingError, PenstockError, ProjectError
from penstock.io.connect.secrets import REFERENCE
from penstock.project.calls import Call
from penstock.project.project_text import ProjectText
from penstock.project.toml_places import KeyPath
from penstock.project.value_types import choices, fits, in_words
from penstock.syntax.suggest import did_you_mean

__all__ = ["check_values", "checked", "read_table", "resolved_path"]

T = TypeVar("T")
_WORD = re.compile(r"\w+")


def read_table(text: ProjectText, path: KeyPath, table: Any, call: Call) -> dict[str, Any]:
    """The parameters of a table, with absolute paths; an error shows the key or the value that is wrong."""
    if not isinstance(table, dict):
        raise text.value_error(path, f"{path[0]} is a table: write [{path[0]}] above its keys")
    check_values(text, path, table, call.keys)
    for name in call.needed:
        if name not in table:
            raise text.key_error(path, f"this table has no {name}")
    return {name: _resolved(text, (*path, name), value, call) for name, value in table.items()}


def check_values(text: ProjectText, path: KeyPath, table: Mapping[str, Any], keys: Mapping[str, Any]) -> None:
    """Raise an error if a key is unknown, or its value has another type."""
    for name, value in table.items():
        if name not in keys:
            near = did_you_mean(name, keys)
            raise text.key_error((*path, name), f"there is no key {name} here", near or f"there are {', '.join(keys)}")
        if not fits(value, keys[name]):
            near = did_you_mean(value, choices(keys[name])) if isinstance(value, str) else None
            raise text.value_error((*path, name), f"{name} is {in_words(keys[name])}", near)


def checked(text: ProjectText, path: KeyPath, table: Mapping[str, Any], work: Callable[[], T]) -> T:
    """The result of `work`; an error of it is shown at the key of the table that it names first, or at the table."""
    try:
        return work()
    except (MappingError, ProjectError):
        raise
    except PenstockError as error:
        named = next((word for word in _WORD.findall(str(error)) if word in table), None)
        where = path if named is None else (*path, named)
        raise text.value_error(where, str(error)) from None


def resolved_path(folder: Path, value: str) -> str:
    """A path relative to the folder of the file; an address stays, and an ending slash too."""
    if "://" in value:
        return value
    slash = "/" if value.endswith("/") and value.strip("/") else ""
    return f"{folder / Path(value).expanduser()}{slash}"


def _resolved(text: ProjectText, path: KeyPath, value: Any, call: Call) -> Any:
    if path[-1] == call.connects:
        return _address(text.folder, value)
    if isinstance(value, str) and REFERENCE.search(value):
        raise text.value_error(path, f"{path[-1]} is no secret: write it out; references are for sources and sinks")
    return resolved_path(text.folder, value) if path[-1] in call.paths else value


def _address(folder: Path, value: Any) -> Any:
    """A source or sink, as a text or a table with an address, whose paths and references to files are absolute."""
    if isinstance(value, dict):
        others = {name: _references(folder, one) for name, one in value.items()}
        address = others.get("address")
        return others | ({"address": resolved_path(folder, address)} if isinstance(address, str) else {})
    return _references(folder, resolved_path(folder, value))


def _references(folder: Path, value: Any) -> Any:
    """The value, where `${file:PATH}` is relative to the folder."""
    if not isinstance(value, str):
        return value
    return REFERENCE.sub(lambda found: f"${{file:{folder / found[2]}}}" if found[1] == "file" else found[0], value)
