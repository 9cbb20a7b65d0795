"""Classes by name, Penstock's own and those of entry points, and the specs of sources and sinks that name them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import pytest

from penstock.cli.inputs import stream_spec
from penstock.errors import PenstockError, SetupError
from penstock.io.sinks import SINKS, open_sink, sink_text
from penstock.io.sinks.files import FileSink
from penstock.plug_ins import PlugIns
from penstock.stream.ingest import sources
from penstock.stream.ingest.sources.tcp import TcpSource
from penstock.stream.ingest.stream_declaration import declare

QUEUE = "penstock.stream.ingest.sources.tcp:TcpSource"
TABLE = f"{__name__}:Table"
TWO_SOURCES = PlugIns("penstock.sources", "source", {"tcp": QUEUE, "listen": QUEUE})
NO_SINKS = PlugIns("penstock.sinks", "sink")


@dataclass(frozen=True)
class Table:
    """A sink that is only opened."""

    address: str


def offered(plug_ins: PlugIns, **classes: str) -> PlugIns:
    """The table on a machine where a package offers these classes."""
    found = EntryPoints(EntryPoint(name.replace("dot_", "."), value, plug_ins.group) for name, value in classes.items())
    return replace(plug_ins, entry_points=found.select)


def test_names_are_those_of_penstock_and_of_packages() -> None:
    assert offered(TWO_SOURCES, mine=QUEUE).names() == ("listen", "mine", "tcp")
    assert offered(NO_SINKS).names() == ()
    both = {"kafka", "mqtt", "mqtts", "nats", "redis", "rediss"}
    assert {"listen", "poll", "sse", "tcp", "ws", "wss"} | both <= set(sources.SOURCES.names())
    assert {"postgresql", "sqlite", "webhook"} | both <= set(SINKS.names())


def test_a_built_in_class_goes_before_one_of_a_package() -> None:
    assert offered(sources.SOURCES, tcp=TABLE).load("tcp") is TcpSource


def test_classes_of_other_groups_are_not_found() -> None:
    others = offered(SINKS, mine=TABLE)
    assert replace(sources.SOURCES, entry_points=others.entry_points).find("mine") is None


@pytest.mark.parametrize(
    ("plug_ins", "message"),
    [
        (offered(TWO_SOURCES), r"no source 'qq': installed are listen, tcp; .* an entry point penstock\.sources\."),
        (offered(TWO_SOURCES, qqq=QUEUE), r"no source 'qq': did you mean 'qqq'\? installed are listen, qqq, tcp;"),
        (offered(NO_SINKS), r"no sink 'qq': none is installed; for another, install .* entry point penstock\.sinks\."),
        (
            offered(SINKS, qq="no_such_package:Sink"),
            r"sink 'qq' is broken: no_such_package:Sink .* Install its package",
        ),
        (offered(SINKS, qq="penstock.io.sinks:Nothing"), r"sink 'qq' is broken: penstock\.io\.sinks:Nothing cannot"),
    ],
)
def test_errors_say_what_is_installed_and_what_to_do(plug_ins: PlugIns, message: str) -> None:
    with pytest.raises(SetupError, match=message):
        plug_ins.load("qq")


def test_a_source_is_named_by_its_scheme() -> None:
    source = sources.open("mine://host:80", offered(sources.SOURCES, mine=QUEUE))
    assert isinstance(source, TcpSource)
    assert isinstance(source, sources.Source)


@pytest.mark.parametrize(
    ("spec", "live"),
    [
        ("tcp://a:1", True),
        ("mine://x", True),
        ("hdfs://h/d", False),
        ("S3://b/d", False),
        ("d", False),
        ("d://", False),
    ],
)
def test_a_scheme_that_is_no_file_system_is_that_of_a_live_source(spec: str, live: bool) -> None:
    assert sources.is_live(spec) is live
    assert stream_spec(f"gates={spec}").endless is live if "://" in spec else True


def test_a_stream_of_a_source_that_is_not_installed_is_refused_when_it_is_declared() -> None:
    with pytest.raises(SetupError, match=r"There is no source 'nosuchqueue': installed are .*listen, .*tcp"):
        declare("nosuchqueue://a", None, None, False, None)
    with pytest.raises(PenstockError, match="HOST:PORT"):
        declare("tcp://nowhere", None, None, False, None)


def test_a_sink_is_named_by_its_scheme_or_ending(tmp_path: Path) -> None:
    plug_ins = offered(SINKS, mine=TABLE, dot_xlsx=TABLE, dot_csv=TABLE)
    by_scheme: object = open_sink("mine://host/a.csv", "solutions", plug_ins)
    by_ending: object = open_sink(tmp_path / "two.XLSX", "solutions", plug_ins)
    assert by_scheme == Table("host/a.csv")
    assert by_ending == Table(f"{tmp_path}/two.XLSX")
    assert isinstance(open_sink(tmp_path / "three.csv", "solutions", plug_ins), FileSink)  # Penstock's own go first


def test_the_address_of_a_sink_is_remembered_as_it_is() -> None:
    assert sink_text("mine://a/b") == "mine://a/b"


def test_a_sink_that_is_not_installed_is_refused() -> None:
    with pytest.raises(SetupError, match="There is no sink 'nosuchtable'"):
        open_sink("nosuchtable://a", "solutions")
