"""The brokers and databases of these tests, each started once."""

from tests.connect.postgresql import postgresql

__all__ = ["postgresql"]
