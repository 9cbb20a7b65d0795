"""Relative IRIs against a base: https://www.rfc-editor.org/rfc/rfc3986#section-5.2, for any scheme."""

from __future__ import annotations

import re

__all__ = ["is_absolute", "resolve"]

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_PARTS = re.compile(r"(?:([^:/?#]+):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.DOTALL)

_Parts = tuple[str | None, str | None, str, str | None, str | None]


def is_absolute(iri: str) -> bool:
    return _SCHEME.match(iri) is not None


def resolve(iri: str, base: str | None) -> str:
    """The IRI resolved against the base. An absolute IRI stays as it is, with its dots, as the parser of the data
    leaves it."""
    if base is None or is_absolute(iri):
        return iri
    scheme, authority, path, query, _ = _split(base)
    _, new_authority, new_path, new_query, fragment = _split("./" + iri if _looks_like_scheme(iri) else iri)
    if new_authority is not None:
        return _join((scheme, new_authority, _without_dots(new_path), new_query, fragment))
    if not new_path:
        return _join((scheme, authority, path, query if new_query is None else new_query, fragment))
    merged = new_path if new_path.startswith("/") else _merge(authority, path, new_path)
    return _join((scheme, authority, _without_dots(merged), new_query, fragment))


def _looks_like_scheme(iri: str) -> bool:
    """Whether a path without scheme has a colon in its first segment, as in `1:2`."""
    return re.match(r"[^/?#]*:", iri) is not None


def _split(iri: str) -> _Parts:
    match = _PARTS.fullmatch(iri)
    assert match is not None, "every string has the five parts"
    return (match[1], match[2], match[3], match[4], match[5])


def _join(parts: _Parts) -> str:
    scheme, authority, path, query, fragment = parts
    return "".join(
        [
            f"{scheme}:" if scheme is not None else "",
            f"//{authority}" if authority is not None else "",
            path,
            f"?{query}" if query is not None else "",
            f"#{fragment}" if fragment is not None else "",
        ]
    )


def _merge(authority: str | None, path: str, reference: str) -> str:
    return f"/{reference}" if authority is not None and not path else path[: path.rfind("/") + 1] + reference


def _without_dots(path: str) -> str:
    """Section 5.2.4: `.` is dropped, `..` takes the segment before it along."""
    segments = path.split("/")
    result: list[str] = []
    for segment in segments:
        if segment == "..":
            del result[max(1, len(result) - 1) if result[:1] == [""] else max(0, len(result) - 1) :]
        elif segment != ".":
            result.append(segment)
    if segments[-1] in (".", ".."):
        result.append("")
    return "/".join(result)
