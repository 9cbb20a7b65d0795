"""The lines that the fast kernels take, as one regular expression that RE2 runs over whole columns.

It is a part of N-Quads, cut so that a match proves the line to be well-formed: one space or tab between terms, IRIs as
RFC 3987 has them but for user names and addresses in brackets, the usual language tags, times that exist. A line that
does not match may still be fine; it is read one by one (`nquads_slow`), where pyoxigraph decides.

RE2 and Python's `re` understand the expressions alike, which lets a test generate lines from them.
"""

from __future__ import annotations

__all__ = ["DATE_TIME", "INTERVAL", "MOMENT", "OBJECT", "PLAIN_LINES", "TIMED_LINES"]

DATE_TIME = "http://www.w3.org/2001/XMLSchema#dateTime"
INTERVAL = "urn:penstock:interval"
"""The type of "start/end" in the place of a time, for elements with a duration. The kernels leave such lines."""

_LETTERS = "A-Za-z0-9._~!$&'()*+,;=:@\u00a0-\ud7ff\uf900-\ufdcf\ufdf0-\uffef\\-"
_PERCENT = "%[0-9A-Fa-f]{2}"
_SEGMENT = f"(?:[{_LETTERS}]|{_PERCENT})"
_AFTER_PATH = f"(?:[{_LETTERS}/?]|{_PERCENT})*"
_AUTHORITY = r"//[A-Za-z0-9.\-]*(?::[0-9]*)?"
_PATH = f"(?:{_AUTHORITY}(?:/{_SEGMENT}*)*|/?(?:{_SEGMENT}+(?:/{_SEGMENT}*)*)?)"
_IRI = rf"<[A-Za-z][A-Za-z0-9+.\-]*:{_PATH}(?:\?{_AFTER_PATH})?(?:#{_AFTER_PATH})?>"
_BLANK_NODE = r"_:[A-Za-z0-9_](?:[A-Za-z0-9_.\-]*[A-Za-z0-9_\-])?"

_HEX = "[0-9A-Fa-f]"
_FOUR = f"(?:[0-9A-CE-Fa-ce-f]{_HEX}{{3}}|[Dd][0-7]{_HEX}{{2}})"  # without the surrogates
_ESCAPE = rf"\\(?:[tbnrf\"'\\]|u{_FOUR}|U0000{_FOUR}|U00(?:0[1-9A-Fa-f]|10){_HEX}{{4}})"
_LANGUAGE = "@[A-Za-z]{2,3}(?:-[A-Za-z]{4})?(?:-(?:[A-Za-z]{2}|[0-9]{3}))?"
_LITERAL = rf'"(?:[^"\\\n\r]|{_ESCAPE})*"(?:{_LANGUAGE}|\^\^{_IRI})?'

_COMMON_DAY = (
    "[12][0-9]{3}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)"
)
_LEAP_DAY = "(?:[12][0-9](?:0[48]|[2468][048]|[13579][26])|(?:1[26]|2[048])00)-02-29"
_CLOCK = r"T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]+)?"
_ZONE = r"(?:Z|[+\-](?:(?:0[0-9]|1[0-3]):[0-5][0-9]|14:00))?"
MOMENT = f"(?:{_COMMON_DAY}|{_LEAP_DAY}){_CLOCK}{_ZONE}"
_STAMP = rf'"{MOMENT}"(?:\^\^<{DATE_TIME.replace(".", "[.]")}(?:Stamp)?>)?'

_GAP = "[ \t]"
OBJECT = f"(?:{_IRI}|{_BLANK_NODE}|{_LITERAL})"
_RESOURCE = f"(?:{_IRI}|{_BLANK_NODE})"
_TRIPLE = f"{_RESOURCE}{_GAP}{_IRI}{_GAP}{OBJECT}"
TIMED_LINES = rf"^(?:{_TRIPLE}(?:{_GAP}{_RESOURCE})?{_GAP}{_STAMP}{_GAP}?\.\n)+$"
PLAIN_LINES = rf"^(?:{_TRIPLE}{_GAP}?\.\n)+$"
"""They match one line or several together, each with its newline, of which no term has one."""
