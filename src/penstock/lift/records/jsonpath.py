"""JSONPath, the part that mappings may use: `$`, `.name`, `['name']`, `[n]` and `[*]`."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

__all__ = ["ROOT", "JsonPath", "parse"]

_STEP = re.compile(
    r"""\.(?P<name>[^.\[\]*'"()?@]+)
      | \[\s*'(?P<single>(?:[^'\\]|\\.)*)'\s*\]
      | \[\s*"(?P<double>(?:[^"\\]|\\.)*)"\s*\]
      | \[\s*(?P<index>[0-9]{1,9})\s*\]
      | \[\s*(?P<all>\*)\s*\]""",
    re.VERBOSE,
)
_KINDS = {  # the first that matches says what is wrong
    "..": "a search at any depth (..)",
    ".*": "a wildcard for names (.*)",
    "[?": "a filter ([?…])",
    "[(": "an expression ([(…)])",
    "[-": "an index from the end ([-n])",
}
_SLICE = re.compile(r"\[[^\]'\"]*:")
_UNION = re.compile(r"\[[^\]]*,")
_SUBSET = "$, .name, ['name'], [n] and [*]"


@dataclass(frozen=True, slots=True)
class JsonPath:
    """Steps from a record to values: a name (`str`), a place in an array (`int`), or all its items (None)."""

    steps: tuple[str | int | None, ...] = ()

    @property
    def many(self) -> bool:
        """Whether it may find several values."""
        return None in self.steps

    def __str__(self) -> str:
        return "$" + "".join(map(_written, self.steps))

    def values(self, record: Any) -> list[Any]:
        """The values in a record, as Python's JSON reads it."""
        values = [record]
        for step in self.steps:
            if isinstance(step, str):
                values = [value[step] for value in values if isinstance(value, dict) and step in value]
            elif step is None:
                values = [item for value in values if isinstance(value, list) for item in value]
            else:
                values = [value[step] for value in values if isinstance(value, list) and step < len(value)]
        return values


ROOT = JsonPath()


def _written(step: str | int | None) -> str:
    if isinstance(step, str):
        return f".{step}" if re.fullmatch(r"\w+", step) else f"[{json.dumps(step, ensure_ascii=False)}]"
    return "[*]" if step is None else f"[{step}]"


def parse(text: str) -> JsonPath:
    """The path of a text; `$.` may be left out. A `ValueError` says what is not in the subset."""
    rest = text.strip()
    if not rest:
        raise ValueError("an empty JSONPath")
    rest = rest[1:] if rest.startswith("$") else rest if rest.startswith("[") else f".{rest}"
    steps: list[str | int | None] = []
    while rest:
        match = _STEP.match(rest)
        if match is None:
            raise ValueError(f"{_problem(rest)}; there are {_SUBSET}")
        steps.append(_step(match))
        rest = rest[match.end() :]
    return JsonPath(tuple(steps))


def _step(match: re.Match[str]) -> str | int | None:
    if match["all"]:
        return None
    if match["index"]:
        return int(match["index"])
    quoted = match["single"] if match["single"] is not None else match["double"]
    return match["name"].strip() if quoted is None else re.sub(r"\\(.)", r"\1", quoted)


def _problem(rest: str) -> str:
    for mark, kind in _KINDS.items():
        if rest.startswith(mark):
            return f"{kind} is not in the subset of JSONPath"
    if _SLICE.match(rest):
        return "a slice ([a:b]) is not in the subset of JSONPath"
    if _UNION.match(rest):
        return "a union ([a,b]) is not in the subset of JSONPath"
    return f"{rest!r} is not JSONPath"
