"""IRIs shortened for reading by people, with the prefixes that error messages suggest."""

from __future__ import annotations

import re

from penstock.syntax.suggest import WELL_KNOWN

__all__ = ["shorten"]

_PREFIX_OF = {iri: prefix for prefix, iri in WELL_KNOWN.items()}
_SPLIT = re.compile(r"(.*[/#])([A-Za-z_][\w-]*)")


def shorten(iri: str) -> str:
    """`prefix:name` where that is well known and plain, and `<iri>` otherwise."""
    parts = _SPLIT.fullmatch(iri)
    prefix = _PREFIX_OF.get(parts[1]) if parts else None
    return f"{prefix}:{parts[2]}" if parts and prefix else f"<{iri}>"
