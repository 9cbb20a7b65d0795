"""The catalogue of tables as the compiler uses it: Arrow tables by name, which compiled queries read."""

from __future__ import annotations

from typing import Protocol

import pyarrow as pa

__all__ = ["TableCatalog"]


class TableCatalog(Protocol):
    """A place for tables that compiled queries name."""

    def put(self, name: str, table: pa.Table) -> None:
        """Add a table, or replace the table of that name."""

    def drop(self, *names: str) -> None:
        """Remove tables."""
