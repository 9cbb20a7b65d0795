"""Large tables that workers keep: broadcast once, and not sent again with every job that reads them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from weakref import WeakKeyDictionary

import pyarrow as pa
from pyspark import SparkContext
from pyspark.core.broadcast import Broadcast

__all__ = ["SentTables", "sent_tables"]

_SENT: WeakKeyDictionary[SparkContext, SentTables] = WeakKeyDictionary()


def sent_tables(context: SparkContext) -> SentTables:
    """Return the tables that the workers of a context keep."""
    return _SENT.setdefault(context, SentTables(context))


class SentTables:
    """The broadcasts by the identity of their tables, the least recently used first."""

    def __init__(self, context: SparkContext) -> None:
        self._context = context
        self._sent: OrderedDict[int, tuple[pa.Table, Broadcast[pa.Table]]] = OrderedDict()

    def broadcasts(self, tables: Iterable[pa.Table], least: int, most: int) -> dict[int, Broadcast[pa.Table]]:
        """Return the broadcasts of those tables that have at least so many bytes, by identity.

        Workers keep at most `most` bytes, unless these tables alone have more.
        """
        wanted = {id(table): table for table in tables if table.nbytes >= least}
        for key, table in wanted.items():
            if key not in self._sent:
                self._sent[key] = table, self._context.broadcast(table)
            self._sent.move_to_end(key)
        while len(self._sent) > len(wanted) and sum(table.nbytes for table, _ in self._sent.values()) > most:
            _, (_, oldest) = self._sent.popitem(last=False)
            oldest.destroy()
        return {key: self._sent[key][1] for key in wanted}
