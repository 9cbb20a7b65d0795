"""Messages of JSON: which are valid, and which of these DuckDB reads exactly as they are written.

DuckDB is ten times as fast as Python here (docs/decisions/0032-lifting.md). It takes some texts that are not JSON, and
numbers that a double does not hold; messages that may have either are *careful* ones, which Python reads.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.lift.columns import Ints, mapped, matching, replaced, strings
from penstock.lift.records.json_extraction import is_valid

__all__ = ["Checked", "Float", "check", "load"]

# A comma before a bracket, numbers with many digits or tiny ones, and NaN, Infinity and the like.
_DOUBTFUL = r",\s*[}\]]|(?:^|[:\[,])\s*-?(?:[0-9.eE+\-]{17}|[0-9.]+[eE]-[0-9]{3}|[iI]|[nN][aA])"
_DEEPEST = 256  # arrays in one another
_LONGEST = 40  # characters of a message in a reason


class Float(str):
    """A number that is not an integer, as it is written."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Checked:
    """The messages of a batch by their numbers in it: texts for DuckDB, values that Python has read, and the reasons
    why the others are not JSON."""

    fast_messages: Ints
    texts: pa.StringArray
    careful_messages: Ints
    values: list[Any]
    reasons: dict[int, str]


def check(messages: Sequence[bytes], few: int) -> Checked:
    """The valid messages; fewer than `few` are read by Python, which starts at once."""
    texts, reasons = _decoded(messages)
    exact = np.zeros(len(texts), np.bool_)
    if len(texts) >= few:
        exact = is_valid(texts) & ~matching(texts, _DOUBTFUL) & (_count(texts, "[") <= _DEEPEST)
    careful, values = [], []
    for number in np.flatnonzero(~exact).tolist():
        if number in reasons:
            continue
        try:
            values.append(load(str(texts[number])))
            careful.append(number)
        except ValueError as error:
            reasons[number] = str(error)
    fast = np.flatnonzero(exact)
    chosen = texts if len(fast) == len(texts) else texts.take(fast)
    return Checked(fast, chosen, np.array(careful, np.int64), values, reasons)


def _decoded(messages: Sequence[bytes]) -> tuple[pa.StringArray, dict[int, str]]:
    """The messages as texts without byte-order marks, empty where they are not UTF-8, and the reasons."""
    reasons: dict[int, str] = {}
    try:
        texts = cast(pa.StringArray, pa.array(messages, pa.binary()).cast(pa.string()))
    except pa.ArrowInvalid:
        texts = strings([_text(number, message, reasons) for number, message in enumerate(messages)])
    marked = np.flatnonzero(pc.starts_with(texts, "\ufeff").to_numpy(zero_copy_only=False))
    if len(marked):
        texts = replaced(texts, marked, mapped(texts.take(marked), lambda text: text[1:]))
    return texts, reasons


def _text(number: int, message: bytes, reasons: dict[int, str]) -> str:
    try:
        return message.decode()
    except UnicodeDecodeError as error:
        reasons[number] = f"not UTF-8: byte 0x{message[error.start]:02x} at byte {error.start + 1}"
        return ""


def load(text: str) -> Any:
    """The value of a text, with numbers as they are written; a `ValueError` says why it is not JSON."""
    try:
        value = _DECODER.decode(text)
        if text.count("[") > _DEEPEST and _depth(value) > _DEEPEST:
            raise RecursionError
    except json.JSONDecodeError as error:
        raise ValueError(_reason(text, error)) from None
    except RecursionError:
        raise ValueError("not readable: arrays or objects are nested too deeply") from None
    if r"\u" in text:
        _refuse_surrogates(value)
    return value


def _count(texts: pa.StringArray, part: str) -> Ints:
    return cast(Ints, pc.count_substring(texts, part).to_numpy(zero_copy_only=False))


def _depth(value: Any) -> int:
    """The number of arrays in one another."""
    if isinstance(value, dict):
        return max(map(_depth, value.values()), default=0)
    return 1 + max(map(_depth, value), default=0) if isinstance(value, list) else 0


def _reason(text: str, error: json.JSONDecodeError) -> str:
    if not text.strip():
        return "not JSON: the message is empty"
    shown = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
    place = f"line {error.lineno}, column {error.colno}" if error.lineno > 1 else f"column {error.colno}"
    return f"not JSON: {error.msg.removesuffix(' at')} at {place} of {shown!r}"


def _refuse_surrogates(value: Any) -> None:
    r"""Half a pair as in "\ud800" is no character, and no text of RDF."""
    surrogate = re.search("[\ud800-\udfff]", json.dumps(value, ensure_ascii=False))
    if surrogate is not None:
        raise ValueError(f"not JSON: \\u{ord(surrogate[0]):04x} is half a character")


def _first(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object. Of equal names the first counts, as it does for DuckDB."""
    members = dict(pairs)
    return members if len(members) == len(pairs) else dict(reversed(pairs))


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"not JSON: {constant} is not a number of JSON")


_DECODER = json.JSONDecoder(parse_float=Float, parse_constant=_refuse, object_pairs_hook=_first)
