"""`python -m tests.load --seconds 300`: offer ten times more than an engine can take, and print what becomes of it.

Three streams are fed: one whose pushes wait, one whose pushes are refused, and one from a socket. Each has a query that
counts its elements, and one that makes the evaluation dear; one query has a slow sink, and one has a dead one. At the
end the engine has to come back to normal, and the counts have to be those of the accepted elements. It is an error if
anything is lost, if memory grew from the second quarter to the last, or if less than ten times what was taken was
offered: pushes that are refused come again and again, which makes up for those that wait.
"""

from __future__ import annotations

import argparse
import socket
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from threading import Event, Thread

from penstock import Answer, Engine, OverloadError, Tuning
from tests.support.resources import resident_bytes

PUSHED, REFUSING, SENT = "http://e/pushed", "http://e/refusing", "http://e/sent"
STREAMS = (PUSHED, REFUSING, SENT)
LINES = 1_000  # elements of a push, which have the same time
STEP = 50_000  # microseconds of event time between two pushes
TIMES = 10
PAUSE = 0.001  # seconds after which a refused block is offered again
MOST_GROWTH = 1.25


def block(number: int) -> bytes:
    """The elements of the n-th push."""
    return _LINES.replace(b"@", _time(number))


_LINES = b"".join(b'<http://e/gate%d> <http://e/registers> <http://e/car%d> "@" .\n' % (n % 7, n) for n in range(LINES))


def _time(number: int) -> bytes:
    seconds, part = divmod(number * STEP, 1_000_000)
    return time.strftime(f"%Y-%m-%dT%H:%M:%S.{part:06}Z", time.gmtime(1_700_000_000 + seconds)).encode()


class Producer(Thread):
    """Offers blocks as fast as they are taken or refused, until it is told to end."""

    def __init__(self, give: Callable[[bytes], object], end: Event) -> None:
        super().__init__(daemon=True)
        self._give, self._end = give, end
        self.offered = self.accepted = self.refused = 0
        self.longest = 0.0  # seconds that a block waited

    def run(self) -> None:
        while not self._end.is_set():
            self.offered += 1
            self._offer()

    def _offer(self) -> None:
        asked = time.monotonic()
        try:
            self._give(block(self.accepted))
            self.accepted += 1
        except OverloadError:
            self.refused += 1
            self._end.wait(PAUSE)
        self.longest = max(self.longest, time.monotonic() - asked)


class Sender:
    """A producer that connects to a port, and waits for no acknowledgement."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port))
        Thread(target=self._read, daemon=True).start()
        self.acknowledged = 0

    def _read(self) -> None:
        for line in self._socket.makefile("rb"):
            self.acknowledged = int(line.split()[1])

    def __call__(self, data: bytes) -> None:
        self._socket.sendall(data)

    def close(self) -> None:
        self._socket.shutdown(socket.SHUT_WR)


class Counter:
    """Adds up the counts of the answers."""

    def __init__(self, pause: float = 0.0) -> None:
        self.total, self._pause = 0, pause

    def __call__(self, answer: Answer) -> None:
        time.sleep(self._pause)
        self.total += sum(int(row["n"].value) for row in answer.rows)


def count(stream: str) -> str:
    return f"SELECT (COUNT(*) AS ?n) FROM STREAM <{stream}> [RANGE 10s STEP 10s] {{ ?gate <http://e/registers> ?car }}"


def dear(stream: str) -> str:
    """Each element is in six hundred windows, so that a tenth of the offered elements is more than the engine takes."""
    return f"""SELECT ?gate (COUNT(DISTINCT ?car) AS ?n) FROM STREAM <{stream}> [RANGE 60s STEP 100ms]
        {{ ?gate <http://e/registers> ?car }} GROUP BY ?gate"""


def main() -> int:
    known = argparse.ArgumentParser(prog="python -m tests.load", description=__doc__)
    known.add_argument("--seconds", type=float, default=300)
    known.add_argument("--backlog", type=int, default=16 << 20, help="bytes that may wait, of each stream")
    asked = known.parse_args()
    with tempfile.TemporaryDirectory(prefix="penstock-load-") as folder:
        return Overload(Path(folder), asked.seconds, asked.backlog).run()


class Overload:
    """One run."""

    def __init__(self, folder: Path, seconds: float, backlog: int) -> None:
        self._folder, self._seconds, self._backlog = folder, seconds, backlog
        self._counters = {stream: Counter() for stream in STREAMS}
        self._slow, self._dead = Counter(1.0), Event()
        self._memory: list[int] = []
        self._waiting: list[int] = []

    def run(self) -> int:
        tuning = Tuning(backlog_bytes=self._backlog)
        with Engine(checkpoint=self._folder / "state", rounds="auto", tuning=tuning) as engine:
            for stream in STREAMS:
                source = "listen://127.0.0.1:0" if stream == SENT else None
                when_full = "refuse" if stream == REFUSING else "block"
                engine.stream(stream, source, max_ahead=None, when_full=when_full)  # type: ignore[arg-type]
                engine.register(count(stream), name=stream[9:], sink=self._counters[stream])
                engine.register(dear(stream), name=f"dear-{stream[9:]}", sink=lambda _: None)
            engine.register(count(PUSHED), name="slow", sink=self._slow)
            engine.register(count(PUSHED), name="dead", sink=lambda _: self._dead.wait())
            engine.start()
            return self._overload(engine)

    def _overload(self, engine: Engine) -> int:
        sender = Sender(engine._runtime._live.ingest._sources[SENT].port)  # type: ignore[union-attr]
        end = Event()
        producers = {
            PUSHED: Producer(lambda data: engine.push(PUSHED, data), end),
            REFUSING: Producer(lambda data: engine.push(REFUSING, data), end),
            SENT: Producer(sender, end),
        }
        for producer in producers.values():
            producer.start()
        until = time.monotonic() + self._seconds
        while time.monotonic() < until:
            end.wait(1)
            self._look(engine)
        end.set()
        return self._after(engine, producers, sender)

    def _slow_flush(self, engine: Engine) -> None:
        """Wait until the counting queries have answered: `flush` would wait for the dead sink."""
        while any(engine[f"{kind}{stream[9:]}"].status.due for stream in STREAMS for kind in ("", "dear-")):
            time.sleep(0.01)

    def _look(self, engine: Engine) -> None:
        self._memory.append(sum(resident_bytes().values()))
        self._waiting.append(max(engine.status.streams[stream].waiting for stream in STREAMS))

    def _after(self, engine: Engine, producers: dict[str, Producer], sender: Sender) -> int:
        lag, ended = engine.status.lag, time.monotonic()
        producers[PUSHED].join()
        producers[REFUSING].join()
        producers[SENT].join()
        sender.close()
        while sender.acknowledged < producers[SENT].accepted * LINES:
            time.sleep(0.01)
        for stream, producer in producers.items():
            engine.advance(stream, (1_700_000_000 + producer.accepted * STEP // 1_000_000 + 60) * 1_000_000)
        self._slow_flush(engine)
        back = time.monotonic() - ended
        taken = sum(one.accepted for one in producers.values()) * LINES / (self._seconds + back)
        times = sum(one.offered for one in producers.values()) * LINES / self._seconds / taken
        print(f"taken: {taken:,.0f} elements a second; offered: {times:.1f} times as many")
        faults = list(self._faults(engine, producers))
        if times < TIMES:
            faults.append(f"TOO LITTLE: {TIMES} times as many should have been offered")
        self._print(engine, producers, back, lag)
        print("\n".join(faults) or "nothing lost; memory bounded")
        self._dead.set()
        return 1 if faults else 0

    def _faults(self, engine: Engine, producers: dict[str, Producer]) -> list[str]:
        status, (second, last) = engine.status, self._quarters()
        faults = []
        for stream, producer in producers.items():
            found, counted = producer.accepted * LINES, self._counters[stream].total
            if status.streams[stream].late or counted != found:
                faults.append(f"LOST: {stream} has {found:,} elements, and its answers count {counted:,}")
        if last > MOST_GROWTH * second:
            faults.append("GROWN: the memory of the last quarter is more than that of the second")
        if max(self._waiting) > self._backlog + 2 * len(block(0)) + (1 << 18):
            faults.append(f"UNBOUNDED: {max(self._waiting):,} bytes waited")
        if {name: status.queries[name].state for name in ("slow", "dead")}["dead"] != "delivering":
            faults.append("the dead sink should be at work")
        return faults

    def _quarters(self) -> tuple[float, float]:
        """Return the median memory of the second quarter, after everything has started, and of the last."""
        quarter = len(self._memory) // 4
        return median(self._memory[quarter : 2 * quarter]), median(self._memory[3 * quarter :])

    def _print(self, engine: Engine, producers: dict[str, Producer], back: float, lag: object) -> None:
        for stream, one in producers.items():
            print(
                f"{stream}: offered {one.offered * LINES:,}, accepted {one.accepted * LINES:,}, "
                f"refused {one.refused * LINES:,}; the longest push took {one.longest:.2f} s"
            )
        sizes = (*self._quarters(), max(self._memory))
        print("memory (MB), median of the second and the last quarter, and most:", *(f"{s / 1e6:,.0f}" for s in sizes))
        print(f"most that waited of a stream: {max(self._waiting) / 1e6:.1f} MB of {self._backlog / 1e6:.1f}")
        print(f"lag at the end: {lag}; back to normal after {back:.1f} s")
        states = {name: engine.status.queries[name].state for name in ("slow", "dead")}
        print(f"slow sink: {states['slow']}, {self._slow.total:,} counted; dead sink: {states['dead']}")


if __name__ == "__main__":
    sys.exit(main())
