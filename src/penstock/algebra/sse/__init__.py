"""Plans and queries as s-expressions, which a person can read, write and diff: `read(write(op)) == op`."""

from penstock.algebra.sse.query import read_query, write_query
from penstock.algebra.sse.reader import read, read_expression
from penstock.algebra.sse.sexpr import SexprError
from penstock.algebra.sse.writer import write

__all__ = ["SexprError", "read", "read_expression", "read_query", "write", "write_query"]
