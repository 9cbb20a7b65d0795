"""Java's regular expressions in RE2's syntax."""

from __future__ import annotations

import pytest

from penstock.compile.sql.re2 import to_re2, to_re2_replacement


@pytest.mark.parametrize(
    ("java", "expected"),
    [
        ("^[a-c]+\\z", "^[a-c]+\\z"),
        ("(?d)a.b", "a.b"),
        ("(?ds)a.b", "(?s)a.b"),
        ("(?dm)a$", "(?m)a$"),
        ("(?:a|b){2,3}?\\x2E", "(?:a|b){2,3}?\\x2E"),
        ("(?iu)ab", "[ABab]".replace("[ABab]", "[aA][bB]")),
        ("(?iu)k1", "[kK\u212a]1"),
        ("(?iu)[x-z]", "[x-zXYZxyz]"),
        ("(?iu)[K]", "[KKk\u212a]"),
        ("(?iu)[J-L]", "[J-LJKLjkl]"),  # the Kelvin sign is neither in the range nor its lower case
    ],
)
def test_patterns(java: str, expected: str) -> None:
    assert to_re2(java) == expected


@pytest.mark.parametrize(
    "java",
    [
        "a.b",
        "(?=a)",
        "(?!a)b",
        "(a)\\1",
        "\\bx",
        "[\\p{L}]",
        "(?iu)é",
        "(?iu)[à-é]",
        "a{1001}",
        "(?dm)^a",
        "[a&&b]",
        "[a[b]]",
    ],
)
def test_patterns_without_a_certain_counterpart(java: str) -> None:
    assert to_re2(java) is None


@pytest.mark.parametrize(
    ("java", "expected"), [("$1-$2", "\\1-\\2"), ("\\$", "$"), ("a\\\\b", "a\\\\b"), ("$0", "\\0"), ("é\n", "é\n")]
)
def test_replacements(java: str, expected: str) -> None:
    assert to_re2_replacement(java) == expected
