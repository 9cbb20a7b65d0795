"""A table of PostgreSQL.

postgresql://HOST:5432/DATABASE?table=cars&username=penstock&password=${env:PGPASSWORD}
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Literal

from penstock.errors import OptionError
from penstock.io.connect.options import SECRET
from penstock.io.connect.secrets import Secret
from penstock.io.sinks.databases.table import TableSink

__all__ = ["PostgresqlOptions", "PostgresqlSink"]

_PORT = 5432
_CONNECTING = 10  # seconds


@dataclass(frozen=True, slots=True)
class PostgresqlOptions:
    """`table` may have a schema before it, and is made if it is not there; `ssl` is libpq's sslmode."""

    table: str
    username: Secret | None = None
    password: Secret | None = field(default=None, metadata=SECRET)
    ssl: Literal["disable", "prefer", "require", "verify-ca", "verify-full"] = "prefer"


class PostgresqlSink(TableSink):
    """Instants are of the type timestamptz, and numbers numeric."""

    kind = "postgresql"
    client = "psycopg"
    extra = "postgres"
    Options = PostgresqlOptions
    mark, moment, whole = "%s", "TIMESTAMPTZ", "BIGINT"

    def check(self) -> None:
        super().check()
        host, _, port = (
            self.address.place.rpartition(":") if ":" in self.address.place else (self.address.place, "", "")
        )
        if not host or not self.address.path or (port and not port.isdecimal()):
            raise OptionError("postgresql: which database? Write postgresql://HOST:5432/DATABASE?table=NAME")
        self._host, self._port = host.strip("[]"), int(port or _PORT)

    def connect(self) -> Any:
        options = self.options
        return self.module().connect(
            host=self._host,
            port=self._port,
            dbname=self.address.path,
            user=options.username.reveal() if options.username else None,
            password=options.password.reveal() if options.password else None,
            sslmode=options.ssl,
            connect_timeout=_CONNECTING,
            application_name="penstock",
            autocommit=True,
        )

    def transaction(self, connection: Any) -> AbstractContextManager[Any]:
        block: AbstractContextManager[Any] = connection.transaction()
        return block

    def exists(self, cursor: Any) -> bool:
        return cursor.execute("SELECT to_regclass(%s)", (self.table,)).fetchone()[0] is not None
