"""Query families: evaluation groups, their plans and parameter tables, and the progress that is saved."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.algebra.build import translate
from penstock.io.sinks import Batch, Position
from penstock.stream.base import failpoints
from penstock.stream.evaluation.report_state import ReportState
from penstock.stream.evaluation.rounds import Rounds
from penstock.stream.registry.catalogue import Catalogue, entry_of
from penstock.stream.registry.metadata_store import MetadataStore
from penstock.stream.registry.registered_query import RegisteredQuery
from tests.support.query_families import Planner, S, text, told
from tests.support.runtime import FakeInputs, register, segment
from tests.support.tape import Tape

BYTES = 200


class Sink:
    """Keeps when it was told what (None: that there is nothing); its position is how much that is."""

    def __init__(self) -> None:
        self.told: list[tuple[int, int | None]] = []
        self.fails = False

    def begin(self) -> Position:
        return 0

    def rewind(self, position: Position) -> None:
        del self.told[int(position or 0) :]

    def deliver(self, batch: Batch) -> Position:
        for answer in batch.answers:
            assert answer.time is not None
            number = int(str(answer.rows[0]["n"].value)) if answer.rows else None
            self.told.append((round(answer.time.timestamp() * 1e6), number))
        if self.fails:
            raise OSError("disk full")
        return len(self.told)

    def close(self) -> None: ...


class Crash(BaseException):
    """The end of a process."""


@dataclass
class Engine:
    """The state that outlives a restart: the folder, the sinks, and the first instants of queries."""

    root: Path | None = None
    emit: str = "istream"
    sinks: dict[str, Sink] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    begun: dict[str, int] = field(default_factory=dict)
    now: int = 0

    def __post_init__(self) -> None:
        self.open()

    def open(self) -> None:
        self.planner = Planner(self.emit)
        self.registry = MetadataStore(None if self.root is None else self.root / "registry")
        self.catalogue = Catalogue(self.registry, self.planner)
        self.groups = self.catalogue.groups
        self.inputs = FakeInputs({S: [segment(0, 10**9)]}, {S: self.now})
        carried = None if self.root is None else ReportState(self.root / "carried")
        if carried is not None:
            carried.sweep(self.groups.files())
        self.rounds = Rounds(self.inputs, self.inputs.watermarks, self.groups, report_state=carried)
        for name in self.texts:
            self._register(name)

    def register(self, name: str, k: int, other: str = "p") -> RegisteredQuery:
        self.sinks[name], self.texts[name], self.begun[name] = Sink(), text(k, other), self.now
        return self._register(name)

    def _register(self, name: str) -> RegisteredQuery:
        query, sink = translate(self.texts[name]), self.sinks[name]
        entry = entry_of(name, self.texts[name], None, "keep", None, sink)
        return register(self.catalogue, entry, query, sink, [S], self.begun[name])

    def drop(self, name: str) -> None:
        self.catalogue.drop(self.catalogue[name])
        del self.texts[name], self.sinks[name]

    def go(self, to: int) -> None:
        self.now = self.inputs.ends[S] = max(self.now, to)
        while self.rounds.live():
            pass

    def together(self) -> list[set[str]]:
        return [{task.name for task in unit.tasks.values()} for unit in self.groups]

    def check(self) -> None:
        """Every query got its due answers exactly once."""
        for name, sink in self.sinks.items():
            k = int(self.texts[name].rpartition("> ")[2].split()[0])
            assert sink.told == told(k, self.begun[name], self.now), name


def test_queries_that_differ_in_constants_are_one_evaluation() -> None:
    engine = Engine(emit="rstream")
    for k in (1, 2, 3):
        engine.register(f"q{k}", k)
    engine.register("other", 1, "other")
    engine.go(25)
    assert engine.planner.asked == [(1, 2, 3), None]
    assert engine.sinks["q2"].told == [(10, None), (20, 2)]
    assert engine.sinks["q1"].told == engine.sinks["other"].told == [(10, 1), (20, 2)]
    assert [task.answers for task in engine.catalogue] == [2, 2, 2, 2]


def test_two_equal_queries_are_a_family() -> None:
    engine = Engine(emit="rstream")
    engine.register("a", 1)
    engine.go(15)
    engine.register("b", 1)
    engine.go(25)
    assert engine.planner.asked == [None, (1, 2)]
    assert (engine.sinks["a"].told, engine.sinks["b"].told) == ([(10, 1), (20, 2)], [(20, 2)])


def test_the_plan_is_made_again_only_where_queries_differ_in_something_new() -> None:
    engine = Engine(emit="rstream")
    engine.register("a", 1)
    engine.go(15)
    for k in range(2, 20):
        engine.register(f"q{k}", k)
        engine.go(15 + 10 * k)
    assert (len(engine.planner.plans), len(engine.planner.released)) == (2, 1)
    engine.drop("a")
    for k in range(3, 20):
        engine.drop(f"q{k}")
    engine.go(300)
    assert (len(engine.planner.plans), engine.together()) == (2, [{"q2"}])
    engine.drop("q2")
    engine.go(310)
    assert engine.planner.released == engine.planner.plans


def test_parameter_table_is_made_again_only_when_members_change() -> None:
    engine = Engine(emit="rstream")
    for k in (1, 2):
        engine.register(f"q{k}", k)
    for end in range(15, 95, 10):
        engine.go(end)
    assert engine.planner.tables == 1


def test_later_query_joins_the_group_at_equal_progress(tmp_path: Path) -> None:
    engine = Engine(tmp_path)
    for k in (1, 2):
        engine.register(f"q{k}", k)
    engine.go(35)
    engine.now = 65
    engine.register("late", 2)
    assert sorted(map(len, engine.together())) == [1, 2]
    engine.go(85)
    engine.go(95)
    assert engine.together() == [{"q1", "q2", "late"}]
    engine.check()


def test_paused_query_leaves_the_group_and_catches_up(tmp_path: Path) -> None:
    engine = Engine(tmp_path)
    tasks = [engine.register(f"q{k}", k) for k in (1, 2, 3)]
    engine.go(25)
    tasks[1].pause()
    engine.go(55)
    assert (engine.together(), tasks[1].progress) == ([{"q1", "q3"}, {"q2"}], 25)
    tasks[1].resume()
    engine.go(75)
    engine.go(85)
    assert engine.together() == [{"q1", "q2", "q3"}]
    engine.check()


def test_a_sink_that_fails_is_one_querys_own_failure(tmp_path: Path) -> None:
    engine = Engine(tmp_path)
    tasks = [engine.register(f"q{k}", k) for k in (1, 2, 3)]
    engine.sinks["q2"].fails = True
    engine.go(25)
    assert [task.state for task in tasks] == ["running", "failed", "running"]
    engine.sinks["q2"].fails = False
    engine.go(45)
    tasks[1].resume()
    engine.go(55)
    engine.check()


def test_the_error_of_a_family_is_told_once_with_its_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    class Costly(RuntimeError):
        asked = 0

        def __str__(self) -> str:
            Costly.asked += 1
            return "out of memory"

    def fail(*_: object) -> None:
        raise Costly

    engine = Engine(tmp_path)
    tasks = [engine.register(f"q{k}", k) for k in range(2, 50)]
    monkeypatch.setattr("tests.support.query_families.Counting.result", fail)
    engine.go(25)
    assert {task.error for task in tasks} == {"Costly: out of memory"}
    assert [record.exc_info is not None for record in caplog.records if record.levelname == "ERROR"] == [
        True,
        *(False for _ in tasks[1:]),
    ]
    assert Costly.asked < 10


def test_an_evaluation_that_fails_is_everybodys_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine(tmp_path)
    tasks = [engine.register(f"q{k}", k) for k in (1, 2)]
    monkeypatch.setattr(engine.inputs, "dropped", lambda _: 1 // 0)
    engine.go(25)
    assert [task.error for task in tasks] == ["ZeroDivisionError: integer division or modulo by zero"] * 2


class Pausing(Sink):
    """Pauses a query when it is told something, and perhaps lets it go on at once."""

    def __init__(self, whom: list[RegisteredQuery], resumes: bool) -> None:
        super().__init__()
        self._whom, self._resumes = whom, resumes

    def deliver(self, batch: Batch) -> Position:
        for task in self._whom:
            task.pause()
            if self._resumes:
                task.resume()
        return super().deliver(batch)


@pytest.mark.parametrize("resumes", [True, False])
@pytest.mark.parametrize("who", ["a", "b", "c"])
def test_a_sink_may_pause_any_of_them(who: str, resumes: bool, tmp_path: Path) -> None:
    """Itself, one that was delivered to before, and one that will be."""
    engine, whom = Engine(tmp_path), list[RegisteredQuery]()
    for name in ("a", "b", "c"):
        engine.register(name, 1)
        if name == "b":
            engine.drop("b")
            engine.texts["b"], engine.sinks["b"], engine.begun["b"] = text(1), Pausing(whom, resumes), 0
            engine._register("b")
    whom.append(engine.catalogue[who])
    engine.go(25)
    engine.catalogue[who].resume()
    engine.go(45)
    engine.catalogue[who].resume()
    engine.go(55)
    engine.catalogue[who].resume()
    whom.clear()
    engine.go(65)
    engine.check()


def test_round_saves_delivered_queries_and_one_row_for_the_group(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = Engine(tmp_path)
    for n in range(300):
        engine.register(f"q{n}", 2 if n < 3 else 1000)
    engine.go(15)
    written: list[tuple[int, int]] = []
    save_all = MetadataStore.save_all

    def counted(self: MetadataStore, entries: list, units: dict, gone: object = ()) -> None:  # type: ignore[type-arg]
        rows = list(entries)
        written.append((len(rows), len(units)))
        save_all(self, rows, units, gone)  # type: ignore[arg-type]

    monkeypatch.setattr(MetadataStore, "save_all", counted)
    engine.go(25)
    engine.go(35)
    assert written == [(3, 1), (0, 1)]
    assert len(list((tmp_path / "carried").iterdir())) == 1


def test_registering_or_dropping_one_of_many_touches_no_other_query(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted in looks at other queries, which would grow with their number."""
    engine = Engine(emit="rstream")
    for n in range(50):
        engine.register(f"q{n}", n + 1)
    engine.go(15)
    looks: list[str] = []

    def recorded(read: Callable[[RegisteredQuery], object]) -> property:
        def get(self: RegisteredQuery) -> object:
            looks.append(self.name)
            return read(self)

        return property(get)

    for name in ("output", "inputs", "named", "state", "ready", "is_rule", "progress"):
        monkeypatch.setattr(RegisteredQuery, name, recorded(getattr(RegisteredQuery, name).fget))
    engine.register("new", 7)
    engine.drop("q7")
    assert set(looks) <= {"new", "q7"}


def test_streams_are_read_once_for_all_due_groups() -> None:
    engine = Engine(emit="rstream")
    for n in range(4):
        engine.register(f"q{n}", 1, f"p{n}")
    engine.go(25)
    assert len(engine.planner.plans) == 4
    streams = [stream for plan in engine.planner.plans for found, _ in plan.seen for stream in found.values()]
    assert len(streams) == 4
    assert all(stream is streams[0] for stream in streams)


def test_open_intervals_belong_to_their_own_query(tmp_path: Path) -> None:
    """The file is of the one that was there alone, and is gone."""
    engine = Engine(tmp_path)
    engine.register("first", 1)
    engine.go(15)
    engine.register("second", 1)
    engine.go(16)
    engine.drop("first")
    engine.go(45)
    engine.check()


@contextmanager
def crashing(place: str, number: int) -> Iterator[None]:
    """At that place, when it is reached for the n-th time."""
    left = [number]

    def come_to(here: str) -> None:
        left[0] -= here == place
        if left[0] < 0:
            raise Crash

    failpoints.handler = come_to
    try:
        yield
    finally:
        failpoints.handler = None


def _event(draw: Tape) -> tuple[str, int, int]:
    kinds = ("register", "round", "round", "round", "drop", "pause", "resume", "resume", "fail", "restart", "crash")
    return draw.pick(kinds), draw.count(0, 9), draw.count(1, 45)


def _do(engine: Engine, event: tuple[str, int, int], names: Iterator[int]) -> None:
    what, n, by = event
    known = list(engine.texts)
    chosen = known[n % len(known)] if known else None
    if what == "register":
        engine.register(f"q{next(names)}", n % 3 + 1, f"p{n % 2}")
    elif what == "round":
        engine.go(engine.now + by)
    elif what == "restart":
        engine.open()
    elif what == "crash":
        try:
            with crashing(("carried", "delivered", "saved", "skipped")[n % 4], by % 4):
                engine.go(engine.now + by)
        except Crash:
            engine.open()
    elif chosen is not None and what == "drop":
        engine.drop(chosen)
    elif chosen is not None and what == "fail":
        engine.sinks[chosen].fails = True
    elif chosen is not None:
        engine.sinks[chosen].fails = False
        getattr(engine.catalogue[chosen], what)()


def test_operator_state_of_dropped_queries_is_removed(tmp_path: Path) -> None:
    """A group without queries leaves its state behind, and the next evaluation removes it."""
    engine = Engine(tmp_path)
    engine.register("dropped", 1)
    engine.register("other", 1, "p1")
    engine.go(10)
    engine.go(20)
    before = set((tmp_path / "carried").iterdir())
    engine.drop("dropped")
    engine.go(30)
    after = set((tmp_path / "carried").iterdir())
    assert (len(before), len(after), before & after) == (2, 1, set())


@given(st.binary(min_size=BYTES, max_size=BYTES))
@settings(max_examples=60, deadline=None)
def test_every_query_gets_each_due_answer_once(tape: bytes) -> None:
    """Queries are registered, dropped, paused and fail, and the process ends: each gets the answers it has alone."""
    draw = Tape(tape)
    events = [_event(draw) for _ in range(draw.count(10, 40))]
    with tempfile.TemporaryDirectory() as folder:
        engine, names = Engine(Path(folder)), iter(range(1000))
        for event in events:
            _do(engine, event, names)
        for name, sink in engine.sinks.items():
            sink.fails = False
            engine.catalogue[name].resume()
        engine.go(engine.now + 10)
        engine.go(engine.now + 20)
        engine.check()
        assert len(engine.together()) <= 2  # p0 and p1
        assert len(list((Path(folder) / "carried").glob("*"))) <= 2
