"""IRI(…): an absolute IRI is unchanged, a relative one is resolved by an Arrow function, since SQL has no RFC 3986."""

from __future__ import annotations

from penstock.compile import sql
from penstock.compile.expressions import term_columns
from penstock.compile.sql import Expr, let

RESOLVE = "penstock_resolve_iri"
_SCHEME = "[A-Za-z][A-Za-z0-9+.-]*:"
_UCS = r"\x{A0}-\x{D7FF}\x{F900}-\x{FDCF}\x{FDF0}-\x{FFEF}\x{10000}-\x{1FFFD}\x{20000}-\x{2FFFD}\x{30000}-\x{3FFFD}"
_NAME = rf"A-Za-z0-9._~!$&'()*+,;=%{_UCS}\-"
_HOST = rf"//(?:[{_NAME}:]*@)?[{_NAME}]*(?::[0-9]*)?(?:/[{_NAME}:@/]*)?"
_PATH = rf"/?(?:[{_NAME}:@][{_NAME}:@/]*)?"
# RFC 3987, without addresses in brackets and without the planes that no script uses.
_IRI = sql.text(rf"^{_SCHEME}(?:{_HOST}|{_PATH})(?:\?[{_NAME}:@/?]*)?(?:#[{_NAME}:@/?]*)?\z")
_BAD_ESCAPE = sql.text(r"%(?:[0-9A-Fa-f]?\z|[0-9A-Fa-f]?[^0-9A-Fa-f])")


def resolved(reference: Expr, base: str | None) -> Expr:
    """Return the encoded IRI of a reference, an expression of its text; NULL if it is invalid."""
    if base is not None:
        relative = sql.arrow_call(RESOLVE, reference, sql.text(base))
        reference = let(sql.case((reference.rlike(sql.text(f"^{_SCHEME}")), reference), otherwise=relative))
    valid = reference.rlike(_IRI) & ~reference.rlike(_BAD_ESCAPE)
    return sql.when(valid, term_columns.iri(reference))
