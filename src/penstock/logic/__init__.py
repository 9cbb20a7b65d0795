"""Logic tests: a stream, a query and the answers expected at instants, in one plain file (docs/how-to/logic-tests.md).

read.py     text → LogicTest, pure
run.py      LogicTest → mismatches, on an engine
compare.py  equality of two answers, and their difference as text
"""

from penstock.logic.model import LogicTest
from penstock.logic.read import read, read_file
from penstock.logic.run import Mismatch, run

__all__ = ["LogicTest", "Mismatch", "read", "read_file", "run"]
