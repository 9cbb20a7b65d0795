"""A disk that fails under metadata, state, sinks and a whole engine: it is said, and nothing wrong is answered."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from penstock import Engine
from penstock.answer import Answer
from penstock.errors import StoreError
from penstock.io.sinks.files import FileSink, ndjson_text
from penstock.stream.answers.answer_batch import single_answer
from penstock.stream.base.disk_errors import damaged
from penstock.stream.evaluation.report_state import ReportState
from penstock.stream.log.segment import Segment
from penstock.stream.registry.metadata_store import GroupProgress, MetadataStore, QueryProgress, QueryRecord
from tests.support.failing_disk import failing_disk, flip
from tests.support.runtime import FakeInputs, FakePlan, ListSink, rounds, segment, task
from tests.unit.stream.evaluation.test_report_state import Leaving, Left

S = "http://e/s"


# Metadata


def saved(folder: Path) -> tuple[object, ...]:
    """Queries, groups and streams, in the file itself and not in SQLite's log beside it."""
    store = MetadataStore(folder)
    for number in range(3):
        store.add(QueryRecord(f"q{number}", f"SELECT {number}", group=number + 1), GroupProgress(number))
    store.save_all([QueryProgress(2, 5, "p", 0, 2)], {2: GroupProgress(9, (("x.parquet", 2),), 3)})
    store.pause(1, True)
    store.save_streams({S: {"source": None}})
    found = loaded(store)
    store._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    store.close()
    return found


def loaded(store: MetadataStore) -> tuple[object, ...]:
    return store.load(), store.load_groups(), store.load_streams()


def loaded_or_refused(folder: Path) -> tuple[object, ...] | str:
    try:
        store = MetadataStore(folder)
    except StoreError as error:
        return str(error)
    try:
        return loaded(store)
    except StoreError as error:
        return str(error)
    finally:
        store.close()


def test_a_flipped_byte_of_the_metadata_is_found_or_does_no_harm(tmp_path: Path) -> None:
    """Most of the pages of so small a file are empty."""
    sound = saved(tmp_path / "sound")
    size = (tmp_path / "sound" / "registry.sqlite").stat().st_size
    said = 0
    for place in range(100, size, 61):
        shutil.copytree(tmp_path / "sound", tmp_path / "copy")
        flip(tmp_path / "copy" / "registry.sqlite", place)
        found = loaded_or_refused(tmp_path / "copy")
        assert found == sound or (isinstance(found, str) and "registry.sqlite is damaged: " in found), (place, found)
        said += isinstance(found, str)
        shutil.rmtree(tmp_path / "copy")
    assert said > 10


def test_a_schema_that_is_no_text_any_more_is_damage(tmp_path: Path) -> None:
    saved(tmp_path)
    file = tmp_path / "registry.sqlite"
    file.write_bytes(file.read_bytes().replace(b"CREATE TABLE queries", b"CREATE TABL\xcc queries"))
    with pytest.raises(StoreError) as caught:
        MetadataStore(tmp_path)
    assert str(caught.value) == (
        f'{file} is damaged: malformed database schema (queries) - near "TABL\ufffd": syntax error. Put back a copy of '
        "the checkpoint, or start on an empty folder and replay the sources."
    )


def test_a_row_that_is_not_as_it_was_written_is_named(tmp_path: Path) -> None:
    saved(tmp_path)
    with sqlite3.connect(tmp_path / "registry.sqlite") as file:
        file.execute("UPDATE queries SET batches = batches + 1 WHERE name = 'q1'")
    file.close()
    with pytest.raises(StoreError) as caught:
        MetadataStore(tmp_path).load()
    assert str(caught.value) == (
        f"{tmp_path}/registry.sqlite is damaged: the progress checksum of a row of queries is wrong. Put back a copy "
        "of the checkpoint, or start on an empty folder and replay the sources."
    )


def test_metadata_that_cannot_be_written_say_so_and_stay(tmp_path: Path) -> None:
    store = MetadataStore(tmp_path)
    entry = store.add(QueryRecord("q", "…", group=1), GroupProgress(1))
    pages = store._scalar("PRAGMA page_count")
    store._connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StoreError) as caught:
        store.save_streams({f"{S}/{number}": {"source": "x" * 500} for number in range(100)})
    assert str(caught.value) == (
        f"{tmp_path}/registry.sqlite cannot be written: database or disk is full; free some space on its disk, and try "
        "again."
    )
    store._connection.execute("PRAGMA max_page_count = 1000")
    store.pause(entry.number, True)
    assert (MetadataStore(tmp_path).load()[0].paused, store.load_streams()) == (True, {})


# Operator state


def test_a_state_that_is_not_as_it_was_written_is_refused(tmp_path: Path) -> None:
    name, _ = ReportState(tmp_path).keep(Left(pa.table({}), 12345))
    file = tmp_path / name
    assert Path(ReportState(tmp_path).path(name)) == file
    flip(file, 2)
    with pytest.raises(StoreError) as caught:
        ReportState(tmp_path).path(name)
    assert str(caught.value) == str(damaged(file, "its checksum is not the one in its name"))
    file.unlink()
    with pytest.raises(StoreError) as caught:
        ReportState(tmp_path).path(name)
    assert str(caught.value) == str(damaged(file, "it cannot be read (No such file or directory)"))


@pytest.mark.parametrize("name", ["../x.parquet", "/etc/passwd", "x.parquet", "", "."])
def test_a_state_outside_of_its_folder_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(StoreError, match=f"the registry names a state '{name}', which is no file of this folder"):
        ReportState(tmp_path).path(name)


def test_a_query_whose_state_is_lost_fails_and_answers_nothing(tmp_path: Path) -> None:
    """Without its state it would report again what it has reported."""
    q = task("q", S, sink=(sink := ListSink()))
    q.plan = Leaving(emit="dstream")
    inputs = FakeInputs({S: [segment(3, 25)]}, {S: 12})
    state = ReportState(tmp_path)
    round = rounds(inputs, q, report_state=state)
    round.live()
    (file,) = tmp_path.iterdir()
    file.unlink()
    state._verified.clear()  # as in another process
    inputs.ends[S] = 22
    round.live()
    assert (q.error, sink.times) == (str(damaged(file, "it cannot be read (No such file or directory)")), [])


def test_a_state_that_cannot_be_written_fails_the_query_until_it_is_resumed(tmp_path: Path) -> None:
    q = task("q", S, sink=(sink := ListSink()))
    q.plan = Leaving(emit="dstream")
    inputs = FakeInputs({S: [segment(3, 25)]}, {S: 12})
    round = rounds(inputs, q, report_state=ReportState(tmp_path))
    with failing_disk("failed fsync"):
        round.live()
    assert q.error is not None
    assert q.error.endswith(" cannot be written: Input/output error; look after its disk, and try again.")
    assert list(tmp_path.iterdir()) == []
    q.resume()
    for end in (12, 22):
        inputs.ends[S] = end
        round.live()
    assert sink.times == [20]


# Rounds


class Damaged(FakeInputs):
    """A log whose segments are damaged."""

    def verify(self, stream: str, segments: object) -> None:
        assert [type(part) for part in segments] == [Segment]  # type: ignore[attr-defined]
        raise damaged("part-0.parquet", "its checksum is not the one in its manifest")


class Full(FakeInputs):
    """A log that cannot drop its segments, since the totals of those that are dropped have to be written."""

    def tidy(self, stream: str, horizon: int, keep_last: int) -> None:
        raise StoreError("there is no space")


def test_a_log_that_cannot_be_tidied_is_read_as_it_is(caplog: pytest.LogCaptureFixture) -> None:
    q = task("q", S, sink=(sink := ListSink()))
    q.plan = FakePlan()
    inputs = Full({S: [segment(3, 25)]}, {S: 12})
    round = rounds(inputs, q)
    for end in (12, 22):
        inputs.ends[S] = end
        round.live()
    assert (q.state, sink.times) == ("running", [10, 20])
    assert f"{S}: the log was not tidied: there is no space" in caplog.messages


def test_a_query_over_a_damaged_segment_fails_and_answers_nothing() -> None:
    q = task("q", S, sink=(sink := ListSink()))
    q.plan = FakePlan()
    rounds(Damaged({S: [segment(3, 25)]}, {S: 22}), q).live()
    assert (q.state, q.error, sink.times) == (
        "failed",
        str(damaged("part-0.parquet", "its checksum is not the one in its manifest")),
        [],
    )


# Sinks


def test_a_file_whose_sync_failed_is_rewound_and_has_each_answer_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sink = FileSink(tmp_path / "a.ndjson", ndjson_text)
    batch = single_answer(Answer(boolean=True), "q")
    position = sink.begin()
    position = sink.deliver(batch)
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(5, "Input/output error")))
        with pytest.raises(OSError, match="Input/output error"):
            sink.deliver(batch)
    sink.rewind(position)
    sink.deliver(batch)
    sink.close()
    assert len((tmp_path / "a.ndjson").read_text().splitlines()) == 2


# A real limit of the system

CHILD = """
import json, resource, sys
from penstock import Engine
from penstock.errors import StoreError

S, folder = "http://e/s", sys.argv[1]
acknowledged, failures = [], []
time = '"2026-01-01T00:00:00Z"^^<http://www.w3.org/2001/XMLSchema#dateTime>'

def push(engine, number):
    try:
        engine.push(S, "".join(f'<a:{number}> <a:p> "{number} {i}" {time} .\\n' for i in range(50)))
        acknowledged.append(number)
    except StoreError as error:
        failures.append(str(error))

hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
with Engine(checkpoint=folder) as engine:
    engine.stream(S)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    for number in range(40):
        push(engine, number)
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    for number in range(40, 50):
        push(engine, number)
    inside = engine.status.streams[S].elements
with Engine(checkpoint=folder) as engine:
    print(json.dumps([acknowledged, failures, inside, engine.status.streams[S].elements]))
"""


def test_an_engine_at_a_real_limit_of_the_system_goes_on_when_it_is_lifted(tmp_path: Path) -> None:
    """No file may grow beyond 100 kB for a while. Half records are left where the limit was met."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-c", CHILD, str(tmp_path / "state")]
    output = subprocess.run(command, env=environment, capture_output=True, check=True, timeout=300).stdout
    acknowledged, failures, inside, reopened = json.loads(output)
    assert (len(acknowledged) + len(failures), acknowledged[-10:]) == (50, list(range(40, 50)))
    assert failures
    assert inside == reopened == 50 * len(acknowledged)
    assert failures[0].endswith(
        "/journal cannot be written: File too large; raise the limit for the size of a file (ulimit -f), and try again."
    )


def test_damage_is_said_when_an_engine_first_reads_it(tmp_path: Path) -> None:
    with Engine(checkpoint=tmp_path / "state") as engine:
        engine.stream(S)
        engine.push(S, '<a:s> <a:p> "1" "2026-01-01T00:00:00Z"^^<http://www.w3.org/2001/XMLSchema#dateTime> .\n')
    (journal,) = tmp_path.rglob("journal")
    flip(journal, 200)
    with Engine(checkpoint=tmp_path / "state") as engine, pytest.raises(StoreError) as caught:
        _ = engine.status
    assert str(caught.value) == str(damaged(journal, "its record at byte 0 is not as it was written"))
