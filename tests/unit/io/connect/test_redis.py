"""Addresses and options of Redis, for the source and the sink."""

from __future__ import annotations

import pytest

from penstock.errors import OptionError, PenstockWarning
from penstock.io.connect.redis import order, redis_reason
from penstock.io.sinks import open_sink
from penstock.stream.ingest import sources
from penstock.stream.ingest.sources.redis import RedisSource

redis = pytest.importorskip("redis", reason="redis is not installed: pip install penstock[redis]")


def test_positions_belong_to_the_database_and_the_key() -> None:
    names = [sources.open(text).name for text in ("redis://a/k:1", "rediss://b:1/k:1", "redis://a/k?db=2")]  # type: ignore[union-attr]
    assert names == ["redis:0:k:1", "redis:0:k:1", "redis:2:k"]


def test_missing_entries_are_told() -> None:
    source = RedisSource("h/k")
    with pytest.warns(PenstockWarning, match=r"^redis://h/k: the stream ends at 5-0, before 7-0, which was read"):
        source.check_place("7-0", "5-0", held=False)
    with pytest.warns(PenstockWarning, match=r"trimmed, also of 7-0, .* entries behind it may be gone unread\.$"):
        source.check_place("7-0", "9-0", held=False)
    source.message = None
    source.check_place("7-0", "9-0", held=True)
    source.check_place("0-0", "9-0", held=False)
    assert source.message is None


def test_ids_are_ordered_as_numbers() -> None:
    assert order("9-10") > order("9-9") > order("9") > order("8-11")


def test_reasons() -> None:
    assert redis_reason(redis.TimeoutError("Timeout connecting"), "k") == "it cannot be reached (timed out)"
    assert redis_reason(redis.ResponseError("WRONGTYPE Operation"), "k") == "the key k holds no stream"
    refused = redis.AuthenticationError("invalid password.")
    assert redis_reason(refused, "k") == "the server refuses the connection (invalid password)"


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("redis://h", "redis: which key"),
        ("rediss://h", "rediss: which key"),
        ("redis://h:port/k", "redis: h:port is no HOST:PORT"),
        ("redis://u:p@h/k", "redis: an address is stored"),
        ("redis://h/k?ca_file=ca.pem", "redis: the option ca_file is for a connection with TLS"),
        ("redis://h/k?password=abc", "redis: the option password would be stored"),
        ("redis://h/k?username=me", "redis: the option username needs password"),
        ("redis://h/k?db=-1", "redis: the option db is 0 or more"),
        ("redis://h/k?formt=x", "redis: there is no option formt"),
    ],
)
def test_mistakes_of_both(address: str, said: str) -> None:
    with pytest.raises(OptionError, match=said):
        sources.open(address)
    with pytest.raises(OptionError, match=said):
        open_sink(address, "solutions")


def test_mistakes_of_one() -> None:
    with pytest.raises(OptionError, match="redis: the option batch is 1 or more"):
        sources.open("redis://h/k?batch=0")
    with pytest.raises(OptionError, match="redis: the option max_length is 1 or more"):
        open_sink("redis://h/k?max_length=0", "solutions")
