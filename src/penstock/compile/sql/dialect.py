"""The differences between dialects of SQL, as tables. A function, operator or type that is not in a table is written
as the tree names it, which is Spark's name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

__all__ = ["SPARK", "Dialect"]


@dataclass(frozen=True)
class Dialect:
    """The writing rules of SQL for one engine.

    In `functions` and `operators` an entry is another name, or a template in which {0}, {1} … are the operands (an
    operator then binds like a call). `literals` has a template for each type of constant. A kind of hint that is not in
    `hints` is left out, and so is `spread` if it is empty. `struct` has the text before, for each field (its {name} as
    text, as {column}, and its {value}) and after.
    """

    name: str
    quote: str
    escapes: Mapping[str, str]
    literals: Mapping[str, str]
    functions: Mapping[str, str] = field(default_factory=dict)
    operators: Mapping[str, str] = field(default_factory=dict)
    types: Mapping[str, str] = field(default_factory=dict)
    joins: Mapping[str, str] = field(default_factory=dict)
    hints: frozenset[str] = frozenset()
    hint: str = "/*+ {} */ "
    struct: tuple[str, str, str] = ("named_struct(", "{name}, {value}", ")")
    arrow: str = "{names} -> {body}"
    without: str = "EXCEPT ({})"
    values: str = "VALUES {rows} AS {alias}({columns})"
    numbers: str = "range({})"
    spread: str = ""

    @cached_property
    def translation(self) -> dict[int, str]:
        """Return the escapes in the form that `str.translate` takes."""
        return str.maketrans(dict(self.escapes))

    def type(self, name: str) -> str:
        return self.types.get(name, name)


SPARK = Dialect(
    "spark",
    quote="`",
    escapes={"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\0": "\\0", "\x1a": "\\Z"},
    literals={"INT": "{}", "BIGINT": "{}L", "DECIMAL": "{}BD", "DOUBLE": "{}D"},
    functions={"btrim": "trim(BOTH {1} FROM {0})", "rtrim": "rtrim({1}, {0})", "ltrim": "ltrim({1}, {0})"},
    hints=frozenset(("BROADCAST", "SHUFFLE_HASH", "REPARTITION")),
    spread=" DISTRIBUTE BY {}",
)
