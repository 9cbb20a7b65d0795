"""Mutations of bytes: flipped, cut, repeated, exchanged and odd ones."""

from __future__ import annotations

from random import Random

__all__ = ["mutated"]

_ODD = (
    b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"\xc3", b"\\uD800", b"\\", b'"', b"'", b"<", b">", b"\r", b"\n", b"\n\n",
    b"#", b"^^", b"@", b"_:", b".", b"-", b"9" * 400, b"1e999", b"\xf0\x9f\x98\x80", b"{", b"}", b"[", b"]", b"null",
)  # fmt: skip


def mutated(draw: Random, data: bytes, brackets: bytes = b"") -> bytes:
    """Return the bytes with some changes; one of them may nest brackets."""
    found = bytearray(data)
    for _ in range(draw.choice((1, 1, 2, 3, 8))):
        at = draw.randrange(len(found) + 1)
        length = draw.choice((1, 1, 2, 8, 40, 400))
        match draw.randrange(7):
            case 0 if at < len(found):
                found[at] ^= 1 << draw.randrange(8)
            case 1:
                del found[at : at + length]
            case 2:
                del found[at:]
            case 3:
                found[at:at] = found[at : at + length] * draw.choice((1, 2, 50))
            case 4:
                found[at:at] = draw.choice(_ODD)
            case 5:
                found[at : at + length] = draw.randbytes(length)
            case 6 if brackets:
                one = brackets[draw.randrange(len(brackets)) :][:1]
                found[at:at] = one * draw.choice((2, 50, 1000, 5000))
    return bytes(found)
