"""The differences between dialects of SQL, as tables. A function, operator or type that is not in a table is written
as the tree names it, which is Spark's name, unless the dialect is strict."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

__all__ = ["SPARK", "All", "Dialect", "Form", "Unsupported"]

T = TypeVar("T")


class Unsupported(Exception):
    """A text was asked for that the dialect cannot say exactly. `written` returns the reason as a value instead."""


@dataclass(frozen=True, slots=True)
class All:
    """The form of a call with any number of operands: the text before, for each ({0}), between and after."""

    before: str
    between: str
    after: str
    each: str = "{0}"


Form = str | All


@dataclass(frozen=True)
class Dialect:
    """The writing rules of SQL for one engine.

    In `functions` and `operators` an entry is another name, or a template in which {0}, {1} … are the operands (an
    operator then binds like a call), or `All` for any number of operands. `name/2` is the entry for two operands, and
    `name(x)` that for a last operand that is the constant x. An aggregate's {over} is the place of its OVER clause.
    `literals` has a template for each type of constant, and `casts` for each cast whose operand's type matters. A kind
    of hint that is not in `hints` is left out, and so is `spread` if it is empty. `struct` has the text before, for
    each field (its {name} as text, as {column}, and its {value}) and after. `pattern` and `replacement` translate
    constants that are Java's regular expressions, or return None. `strict`: the dialect lacks all that is not in a
    table, and the methods below return None for it.
    Functions whose name begins with `added` have to be added to the engine; a form that calls one begins with its name.
    """

    name: str
    quote: str
    escapes: Mapping[str, str]
    literals: Mapping[str, str]
    functions: Mapping[str, Form] = field(default_factory=dict)
    operators: Mapping[str, str] = field(default_factory=dict)
    types: Mapping[str, str] = field(default_factory=dict)
    casts: Mapping[str, str] = field(default_factory=dict)
    joins: Mapping[str, str] = field(default_factory=dict)
    hints: frozenset[str] = frozenset()
    hint: str = "/*+ {} */ "
    struct: tuple[str, str, str] = ("named_struct(", "{name}, {value}", ")")
    arrow: str = "{names} -> {body}"
    several: str = "({})"  # parameters of a lambda
    without: str = "EXCEPT ({})"
    values: str = "VALUES {rows} AS {alias}({columns})"
    numbers: str = "range({})"
    spread: str = ""
    unconditional: str = ""  # in place of ON, after a join of all pairs
    variable: str = ":{}"
    parameter: str = "{}"  # of a lambda
    cast: str = "CAST({value} AS {type})"
    order: tuple[str, str] = ("{}", "{} DESC")  # ascending and descending
    pattern: Callable[[str], str | None] | None = None
    replacement: Callable[[str], str | None] | None = None
    case_sensitive: bool = True  # names that differ in case are different
    strict: bool = False
    added: str | None = None

    @cached_property
    def translation(self) -> dict[int, str]:
        """Return the escapes in the form that `str.translate` takes."""
        return str.maketrans(dict(self.escapes))

    def type(self, name: str) -> str | None:
        return self._form(self.types, name)

    def join(self, kind: str) -> str | None:
        return self._form(self.joins, kind)

    def operator(self, symbol: str) -> str | None:
        return self._form(self.operators, symbol)

    def cast_of(self, of: str, type: str) -> str | None:
        """Return the template of a cast."""
        if not of or not self.strict:
            return self.cast
        return self._form(self.casts, f"{of} AS {type}")

    def function(self, name: str, arity: int, last: object) -> Form | None:
        """Return the form of a call of so many operands, with the value of the last one if it is a constant."""
        for key in (f"{name}({last})", f"{name}/{arity}"):
            if key in self.functions:
                return self.functions[key]
        return self._form(self.functions, name)

    def added_function(self, form: str) -> str | None:
        """Return the function that the form calls and the engine lacks; None if it has it."""
        if self.added is None or not form.startswith(self.added):
            return None
        return form.partition("(")[0]

    def _form(self, table: Mapping[str, T], name: str) -> T | str | None:
        return table.get(name, None if self.strict else name)


SPARK = Dialect(
    "Spark",
    quote="`",
    escapes={"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\0": "\\0", "\x1a": "\\Z"},
    literals={"INT": "{}", "BIGINT": "{}L", "DECIMAL": "{}BD", "DOUBLE": "{}D"},
    functions={
        "btrim": "trim(BOTH {1} FROM {0})",
        "exact_sum": "sum",
        "ltrim": "ltrim({1}, {0})",
        "real_sum": "sum",
        "rtrim": "rtrim({1}, {0})",
    },
    operators={f"exact {symbol}": symbol for symbol in "+-*/"},
    hints=frozenset(("BROADCAST", "SHUFFLE_HASH", "REPARTITION")),
    spread=" DISTRIBUTE BY {}",
)
