"""The brokers and databases of these tests. Each is started once, when a test wants it, and ended with the last test.

Each has a module of its own, with its fixture imported here.
"""

from tests.connect.kafka.fixture import kafka
from tests.connect.postgresql import postgresql
from tests.connect.watched_ingest import open_ingest

__all__ = ["kafka", "open_ingest", "postgresql"]
