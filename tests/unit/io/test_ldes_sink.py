"""A folder as an event stream: pages, rewinding, and the round trip to the source."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyoxigraph import Literal, Triple

from penstock.answer import Answer
from penstock.errors import OptionError, StoreError
from penstock.io.sinks import Sink, open_sink
from penstock.stream.ingest import sources
from penstock.testing import ManualClock
from tests.support.taking import Taking
from tests.support.web_server import Asked, Reply, web_server
from tests.unit.io.test_sinks import A, Given, P, at


def graph(second: int) -> Answer:
    return Answer(triples=[Triple(A, P, Literal(str(second)))], time=at(second))


def opened(folder: Path, size: int = 2) -> Sink:
    return open_sink(f"ldes://{folder}?size={size}", "graph")


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_source_reads_what_the_sink_has_written(tmp_path: Path) -> None:
    sink = opened(tmp_path / "s")
    sink.begin()
    sink.deliver(Given(0, [graph(second) for second in (1, 2, 3)]))
    sink.deliver(Given(1, [Answer(triples=[], time=at(4)), graph(5), graph(6)]))

    def files(asked: Asked) -> Reply:
        return Reply((tmp_path / "s" / asked.path[1:]).read_bytes(), headers={"Content-Type": "application/trig"})

    taken, clock = Taking(), ManualClock()
    with web_server(files) as server:
        source = sources.open(f"ldes+{server.url}/1.trig#interval=10s")
        assert not isinstance(source, sources.Folder)
        source.start(taken, clock)
        clock.await_waiter()
        clock.advance(10_000_000)
        clock.await_waiter()
        source.stop()
        assert [asked.path for asked in server.asked] == ["/1.trig", "/2.trig", "/3.trig", "/3.trig"]
    for second, payload in zip((1, 2, 3, 5, 6), taken.payloads, strict=True):
        assert f'{A} {P} "{second}" "2009-07-20T22:50:0{second}Z"' in payload.decode()


@pytest.mark.parametrize("before", range(5))
def test_a_repeated_batch_is_there_once(tmp_path: Path, before: int) -> None:
    whole, killed = opened(tmp_path / "a"), opened(tmp_path / "b")
    position = [sink.begin() for sink in (whole, killed)][1]
    if before:
        whole.deliver(Given(0, [graph(second) for second in range(before)]))
        position = killed.deliver(Given(0, [graph(second) for second in range(before)]))
    rest = Given(1, [graph(second) for second in range(before, before + 4)])
    whole.deliver(rest)
    killed.deliver(rest)
    again = opened(tmp_path / "b")
    again.rewind(position)
    again.deliver(rest)
    assert contents(tmp_path / "a") == contents(tmp_path / "b")


def test_no_page_outlives_a_rewinding_that_was_killed(tmp_path: Path) -> None:
    sink = opened(tmp_path / "s", 1)
    position = sink.begin()
    sink.deliver(Given(0, [graph(second) for second in range(4)]))
    (tmp_path / "s" / "2.trig").unlink()
    sink.rewind(position)
    assert list(contents(tmp_path / "s")) == ["1.trig"]


def test_a_beginning_that_was_killed_begins_again(tmp_path: Path) -> None:
    position = opened(tmp_path / "s").begin()
    (tmp_path / "s" / "1.trig").write_bytes((tmp_path / "s" / "1.trig").read_bytes()[:50])
    assert opened(tmp_path / "s").begin() == position


def test_names_of_pages_are_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[Path] = []
    monkeypatch.setattr("penstock.io.sinks.ldes._sync", synced.append)
    sink = opened(tmp_path / "s", 1)
    sink.begin()
    sink.deliver(Given(0, [graph(1), graph(2)]))
    assert synced == [tmp_path / "s", tmp_path, tmp_path / "s"]


def test_mistakes_are_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="size is more than 0"):
        opened(tmp_path, 0)
    (tmp_path / "x").touch()
    with pytest.raises(StoreError, match="is not empty"):
        opened(tmp_path).begin()
    sink = opened(tmp_path / "s")
    sink.begin()
    with pytest.raises(StoreError, match="register a CONSTRUCT"):
        sink.deliver(Given(0, [Answer(boolean=True, time=at(1))]))
    with pytest.raises(StoreError, match="has lost answers"):
        sink.rewind("1:99999:3")
