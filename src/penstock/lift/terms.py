"""Columns of encoded terms from columns of values: IRIs, blank nodes and literals, a whole column at a time."""

from __future__ import annotations

from urllib.parse import quote

import numpy as np
import pyarrow as pa
from pyoxigraph import NamedNode

from penstock.lift.columns import (
    BOOLEAN,
    DOUBLE,
    INTEGER,
    TEXT,
    Column,
    Mask,
    joined,
    mapped,
    matching,
    replaced,
    strings,
)
from penstock.lift.numbers import canonical_double

__all__ = ["XSD", "absolute_iris", "blank_nodes", "is_iri", "literals", "natural_literals", "percent_encoded"]

XSD = "http://www.w3.org/2001/XMLSchema#"
NATURAL_TAILS = {TEXT: "", INTEGER: f"^^<{XSD}integer>", DOUBLE: f"^^<{XSD}double>", BOOLEAN: f"^^<{XSD}boolean>"}

# RFC 3987, iunreserved: all that a template does not encode in an IRI.
_UNRESERVED = r"A-Za-z0-9\-._~\x{A0}-\x{D7FF}\x{F900}-\x{FDCF}\x{FDF0}-\x{FFEF}" + "".join(
    rf"\x{{{plane:X}0000}}-\x{{{plane:X}FFFD}}" for plane in range(1, 15)
)
_PATH = r"[A-Za-z0-9\-._~!$&'()*+,;=:@/]*"
_SURELY_IRI = rf"^(https?://[A-Za-z0-9\-.]+(:[0-9]+)?(/{_PATH})?([?#]{_PATH})?|urn:[a-z0-9]+:{_PATH})$"


def percent_encoded(texts: pa.StringArray) -> pa.StringArray:
    """The texts as templates put them into IRIs: all but unreserved characters are percent-encoded (R2RML 7.3)."""
    rows = np.flatnonzero(matching(texts, f"[^{_UNRESERVED}]"))
    return replaced(texts, rows, mapped(texts.take(rows), _encoded)) if len(rows) else texts


def _encoded(text: str) -> str:
    return "".join(letter if _unreserved(letter) else quote(letter, safe="") for letter in text)


def _unreserved(letter: str) -> bool:
    code = ord(letter)
    if code < 0xA0:
        return letter.isalnum() or letter in "-._~"
    if code < 0x10000:
        return code <= 0xD7FF or 0xF900 <= code <= 0xFDCF or 0xFDF0 <= code <= 0xFFEF
    return code < 0xF0000 and code & 0xFFFF <= 0xFFFD


def absolute_iris(texts: pa.StringArray) -> tuple[pa.StringArray, Mask]:
    """The IRIs as terms, and which texts are absolute IRIs at all."""
    right = matching(texts, _SURELY_IRI)
    doubtful = np.flatnonzero(~right)
    if len(doubtful):
        checked = mapped(texts.take(doubtful), lambda text: text if is_iri(text) else None)
        right[doubtful] = checked.is_valid().to_numpy(zero_copy_only=False)
    return joined("<", texts, ">"), right


def is_iri(text: str) -> bool:
    """Whether the text is an absolute IRI."""
    try:
        return bool(NamedNode(text))
    except ValueError:
        return False


def blank_nodes(texts: pa.StringArray, labels: str) -> pa.StringArray:
    """A blank node for each text, the same for the same one; `labels` goes before its label."""
    rows = np.flatnonzero(matching(texts, "[^A-Za-z0-9]"))
    plain = replaced(texts, rows, mapped(texts.take(rows), _label)) if len(rows) else texts
    return joined(f"_:{labels}b", plain)


def _label(text: str) -> str:
    """The text in letters that a label may have: another one for another text."""
    letters = (chr(byte) for byte in text.encode())
    return "".join(letter if letter.isascii() and letter.isalnum() else f"_{ord(letter):02x}" for letter in letters)


def literals(texts: pa.StringArray, tail: str) -> pa.StringArray:
    """Literals with the same datatype or language, which `tail` says as it is encoded."""
    return joined('"', texts, f'"{tail}')


def natural_literals(column: Column) -> pa.StringArray:
    """Literals with the datatypes that the kinds of their values have: text, integers, doubles, truth values."""
    if column.kinds is None:
        return literals(column.texts, "")
    texts, doubles = column.texts, np.flatnonzero(column.kinds == DOUBLE)
    if len(doubles):
        texts = replaced(texts, doubles, mapped(texts.take(doubles), canonical_double))
    kinds = np.unique(column.kinds)
    if len(kinds) == 1:
        return literals(texts, NATURAL_TAILS[int(kinds[0])])
    tails = strings(list(NATURAL_TAILS.values())).take(column.kinds)
    return joined('"', texts, '"', tails)
