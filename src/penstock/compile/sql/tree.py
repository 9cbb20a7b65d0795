"""SQL as a tree: expressions. (Queries are in `queries`.) No module but `writer` knows the text of a dialect.

Nodes are immutable and shared freely. The facts that the compiler reads are computed when a node is made: whether it is
volatile, calls an Arrow function, reads the left or the right side of a join, or has an unbounded validity.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import is_
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

if TYPE_CHECKING:
    from penstock.compile.sql.queries import Query

VOLATILE, ARROW, LEFT, RIGHT, ALWAYS, NAMED = 1, 2, 4, 8, 16, 32
_SIDES = {"l": LEFT, "r": RIGHT}
_VOLATILE_FUNCTIONS = frozenset(("uuid", "rand", "row_number", "collect_list", "collect_set"))
_INT, _BIGINT = 2**31, 2**63


class Expr:
    """An expression: its own `data`, its operands `args`, and the facts of both.

    Expressions are equal if all parts are. `size` is the estimated number of characters of its text.
    """

    __slots__ = ("__weakref__", "_hash", "args", "data", "facts", "own", "size")

    args: tuple[Expr, ...]
    data: tuple[Any, ...]
    facts: int
    own: int
    size: int

    def __init__(self, data: tuple[Any, ...], args: tuple[Expr, ...] = (), own: int = 0, length: int = 0) -> None:
        facts = own
        for arg in args:
            facts |= arg.facts
            length += arg.size + 2
        self.data, self.args, self.own, self.facts, self.size = data, args, own, facts, length
        self._hash: int | None = None

    def with_args(self, args: tuple[Expr, ...]) -> Expr:
        """Return the same node on other operands."""
        length = self.size - sum(arg.size + 2 for arg in self.args)
        new: Expr = object.__new__(type(self))
        Expr.__init__(new, self.data, args, self.own, length)
        return new

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash((type(self), self.data, self.args))
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(self) is not type(other) or not isinstance(other, Expr) or hash(self) != hash(other):
            return False
        return self.own == other.own and self.data == other.data and self.args == other.args

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, (*self.data, *self.args)))})"

    @property
    def volatile(self) -> bool:
        """Whether each computation may give another value."""
        return bool(self.facts & VOLATILE)

    @property
    def calls_arrow(self) -> bool:
        """Whether it calls an Arrow function, which Spark does not run in a join condition."""
        return bool(self.facts & ARROW)

    @property
    def sides(self) -> frozenset[str]:
        """The sides of a join that it reads: l, r."""
        return frozenset(side for side, fact in _SIDES.items() if self.facts & fact)

    # Operators. `==` compares nodes, so SQL's `=` is a method.

    def eq(self, other: Operand) -> Expr:
        return Operator("=", (self, lifted(other)))

    def ne(self, other: Operand) -> Expr:
        return Operator("<>", (self, lifted(other)))

    def same(self, other: Operand) -> Expr:
        """Return the equality in which NULL equals NULL."""
        return Operator("<=>", (self, lifted(other)))

    def compared(self, symbol: str, other: Operand) -> Expr:
        return Operator(symbol, (self, lifted(other)))

    def __lt__(self, other: Operand) -> Expr:
        return Operator("<", (self, lifted(other)))

    def __le__(self, other: Operand) -> Expr:
        return Operator("<=", (self, lifted(other)))

    def __gt__(self, other: Operand) -> Expr:
        return Operator(">", (self, lifted(other)))

    def __ge__(self, other: Operand) -> Expr:
        return Operator(">=", (self, lifted(other)))

    def __add__(self, other: Operand) -> Expr:
        return Operator("+", (self, lifted(other)))

    def __sub__(self, other: Operand) -> Expr:
        return Operator("-", (self, lifted(other)))

    def __mul__(self, other: Operand) -> Expr:
        return Operator("*", (self, lifted(other)))

    def __truediv__(self, other: Operand) -> Expr:
        return Operator("/", (self, lifted(other)))

    def __mod__(self, other: Operand) -> Expr:
        return Operator("%", (self, lifted(other)))

    def div(self, other: Operand) -> Expr:
        """Return the whole part of the quotient."""
        return Operator("div", (self, lifted(other)))

    def rlike(self, pattern: Expr) -> Expr:
        """Return whether the regular expression is found."""
        return Operator("RLIKE", (self, pattern))

    def __neg__(self) -> Expr:
        return Prefix("-", self)

    def __invert__(self) -> Expr:
        return Prefix("NOT", self)

    def __and__(self, other: Expr) -> Expr:
        return Operator("AND", (self, other))

    def __or__(self, other: Expr) -> Expr:
        return Operator("OR", (self, other))

    def is_null(self) -> Expr:
        return IsNull(self)

    def not_null(self) -> Expr:
        return IsNull(self, negated=True)

    def among(self, options: Iterable[Operand]) -> Expr:
        """IN (…)."""
        return In(self, tuple(map(lifted, options)))

    def not_among(self, options: Iterable[Operand]) -> Expr:
        return In(self, tuple(map(lifted, options)), negated=True)

    def cast(self, type: str, of: str = "") -> Expr:
        return Cast(self, type, of)


Operand = Expr | int


class Column(Expr):
    """A column, of the table with that alias if one is given."""

    __slots__ = ()

    def __init__(self, name: str, table: str | None = None) -> None:
        super().__init__((name, table), (), _SIDES.get(table or "", 0), len(name) + 2)

    @property
    def name(self) -> str:
        return str(self.data[0])


class Literal(Expr):
    """A constant of a type: STRING, BOOLEAN, INT, BIGINT, DECIMAL, DOUBLE, or NULL, which has none."""

    __slots__ = ()

    def __init__(self, value: Any, type: str, facts: int = 0) -> None:
        super().__init__((value, type), (), facts, len(str(value)) + 2)

    @property
    def value(self) -> Any:
        return self.data[0]

    @property
    def is_text(self) -> bool:
        return bool(self.data[1] == "STRING")


class Call(Expr):
    """A function call; an aggregate may be DISTINCT. `arrow`: it runs in Python, on the workers."""

    __slots__ = ()

    def __init__(self, function: str, args: tuple[Expr, ...], distinct: bool = False, arrow: bool = False) -> None:
        own = (VOLATILE if function in _VOLATILE_FUNCTIONS else 0) | (ARROW if arrow else 0)
        super().__init__((function, distinct), args, own, len(function))

    @property
    def function(self) -> str:
        return str(self.data[0])

    @property
    def distinct(self) -> bool:
        return bool(self.data[1])


class Operator(Expr):
    """Operands with a symbol between them: two, or any number with AND and OR.

    `exact +` and the like are the operators on DECIMAL(38,18): NULL where the result is too large.
    """

    __slots__ = ()

    def __init__(self, symbol: str, args: tuple[Expr, ...]) -> None:
        super().__init__((symbol,), args, 0, len(symbol.removeprefix("exact ")) * (len(args) - 1))


class Prefix(Expr):
    __slots__ = ()

    def __init__(self, symbol: str, arg: Expr) -> None:
        super().__init__((symbol,), (arg,), 0, len(symbol))


class IsNull(Expr):
    __slots__ = ()

    def __init__(self, arg: Expr, negated: bool = False) -> None:
        super().__init__((negated,), (arg,), 0, 8)


class In(Expr):
    """Whether the first operand is among the others."""

    __slots__ = ()

    def __init__(self, needle: Expr, options: tuple[Expr, ...], negated: bool = False) -> None:
        super().__init__((negated,), (needle, *options), 0, 6)


class InQuery(Expr):
    """Whether the operand is among the rows of a query of one column."""

    __slots__ = ()

    def __init__(self, needle: Expr, query: Query, negated: bool = False) -> None:
        super().__init__((negated, query), (needle,), query.facts, 50)


class Scalar(Expr):
    """The one value of a query of one column and one row."""

    __slots__ = ()

    def __init__(self, query: Query) -> None:
        super().__init__((query,), (), query.facts, 50)


class Cast(Expr):
    """A cast; one that fails is NULL. `of` is the type of the operand, where engines differ: DECIMAL (of any size),
    DOUBLE, FLOAT or DATE."""

    __slots__ = ()

    def __init__(self, arg: Expr, type: str, of: str = "") -> None:
        super().__init__((type, of), (arg,), 0, 8 + len(type))


class Case(Expr):
    """CASE: `args` are conditions and values alternately, and last the value of ELSE, if there is one."""

    __slots__ = ()

    def __init__(self, args: tuple[Expr, ...]) -> None:
        super().__init__((), args, 0, 8 + 4 * len(args))


class Struct(Expr):
    """A struct with the given field names."""

    __slots__ = ()

    def __init__(self, names: tuple[str, ...], args: tuple[Expr, ...]) -> None:
        super().__init__((names,), args, 0, 8 + sum(map(len, names)))


class Field(Expr):
    """A field of a struct."""

    __slots__ = ()

    def __init__(self, arg: Expr, name: str) -> None:
        super().__init__((name,), (arg,), 0, len(name))


class Parameter(Expr):
    """A variable of a lambda."""

    __slots__ = ()

    def __init__(self, name: str) -> None:
        super().__init__((name,), (), 0, len(name))


class Variable(Expr):
    """A variable of the connection, which is set before the query runs."""

    __slots__ = ()

    def __init__(self, name: str) -> None:
        super().__init__((name,), (), 0, len(name))


class Lambda(Expr):
    __slots__ = ()

    def __init__(self, names: tuple[str, ...], body: Expr) -> None:
        super().__init__((names,), (body,), 0, 6)


class Over(Expr):
    """A window function: the call, its partitions, its order and its frame."""

    __slots__ = ()

    def __init__(self, call: Expr, by: Sequence[Expr] = (), order: Sequence[Expr] = (), frame: str = "") -> None:
        super().__init__((len(by), frame), (call, *by, *order), 0, 40)


class Order(Expr):
    """An expression to sort by."""

    __slots__ = ()

    def __init__(self, arg: Expr, descending: bool = False) -> None:
        super().__init__((descending,), (arg,), 0, 5)


class Alias(Expr):
    """An item of SELECT under a name."""

    __slots__ = ()

    def __init__(self, arg: Expr, name: str) -> None:
        super().__init__((name,), (arg,), 0, len(name) + 6)

    @property
    def name(self) -> str:
        return str(self.data[0])


class Star(Expr):
    """All columns, of one table if it is given, without some."""

    __slots__ = ()

    def __init__(self, table: str | None = None, without: tuple[str, ...] = ()) -> None:
        super().__init__((table, without), (), 0, 1)


class Let(Expr):
    """An expression that may be computed once where it is used several times (`common_subexpressions`).

    There is one such node for equal expressions, so nodes that share it are compared without looking inside.
    """

    __slots__ = ()

    def __init__(self, expr: Expr) -> None:
        super().__init__((), (expr,), NAMED, -2)

    @property
    def expr(self) -> Expr:
        return self.args[0]

    def with_args(self, args: tuple[Expr, ...]) -> Expr:
        return let(args[0])

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other


_lets: WeakValueDictionary[Expr, Let] = WeakValueDictionary()


def let(expr: Expr) -> Expr:
    """Return the expression as shareable; columns and constants stand for themselves."""
    inner = expr.args[0] if isinstance(expr, Cast) else expr
    if isinstance(inner, Column | Literal | Let) and (inner is expr or not isinstance(inner, Let)):
        return expr
    known = _lets.get(expr)
    return _lets.setdefault(expr, Let(expr)) if known is None else known


def lifted(value: Operand) -> Expr:
    """Return a node; of an integer its constant in the smallest type that holds it."""
    if isinstance(value, Expr):
        return value
    type = "INT" if -_INT <= value < _INT else "BIGINT" if -_BIGINT <= value < _BIGINT else "DECIMAL"
    return Literal(value, type)


def rewritten(expr: Expr, change: Callable[[Expr], Expr | None], known: dict[Let, Expr] | None = None) -> Expr:
    """Return the expression with every part replaced for which `change` returns another one."""
    known = {} if known is None else known
    if isinstance(expr, Let) and expr in known:
        return known[expr]
    changed = change(expr)
    if changed is None:
        args = tuple([rewritten(arg, change, known) for arg in expr.args])
        changed = expr if all(map(is_, args, expr.args)) else expr.with_args(args)
    if isinstance(expr, Let):
        known[expr] = changed
    return changed
