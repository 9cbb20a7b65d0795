"""Addresses and options of NATS, for the source and the sink."""

from __future__ import annotations

import pytest

from penstock.errors import OptionError
from penstock.io.sinks import open_sink
from penstock.stream.ingest import sources
from penstock.stream.ingest.sources.nats import NatsSource

pytest.importorskip("nats", reason="nats-py is not installed: pip install penstock[nats]")


def test_positions_belong_to_the_stream_and_the_subject() -> None:
    names = [sources.open(f"nats://{text}").name for text in ("a:1,b/S", "c/S", "c/S?subject=x.*", "c/T")]  # type: ignore[union-attr]
    assert names == ["nats:S:>", "nats:S:>", "nats:S:x.*", "nats:T:>"]
    assert isinstance(sources.open("nats://h/S"), NatsSource)


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("nats://h:port/S", "nats: h:port is no HOST:PORT"),
        ("nats://a:1,:2/S", "nats: a:1,:2 is no HOST:PORT"),
        ("nats:///S", "nats: nothing is no HOST:PORT"),
        ("nats://u:p@h/S", "nats: an address is stored"),
        ("nats://h/S?ca_file=ca.pem", "nats: the option ca_file is for a connection with TLS"),
        ("nats://h/S?token=abc", "nats: the option token would be stored"),
        ("nats://h/S?username=me", "nats: the options username and password go together"),
        ("nats://h/S?usrname=x", "nats: there is no option usrname: did you mean username"),
    ],
)
def test_mistakes_of_both(address: str, said: str) -> None:
    with pytest.raises(OptionError, match=said):
        sources.open(address)
    with pytest.raises(OptionError, match=said):
        open_sink(address, "solutions")


@pytest.mark.parametrize("path", ["", "a.b", "a*", "S?batch=0", "S?start=now"])
def test_mistakes_of_a_source(path: str) -> None:
    with pytest.raises(OptionError, match="nats: "):
        sources.open(f"nats://h/{path}")


@pytest.mark.parametrize("path", ["", "a.*", "a.>"])
def test_a_sink_has_one_subject(path: str) -> None:
    with pytest.raises(OptionError, match="nats: which subject"):
        open_sink(f"nats://h/{path}", "solutions")
