"""The quick start of `penstock run` in processes of its own: what is cached changes the time, never the answer."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

STREAM = "http://example.org/gates"
QUERY = f"SELECT (COUNT(*) AS ?n) FROM STREAM <{STREAM}> [RANGE 10s STEP 5s] WHERE {{ ?gate ?registers ?car }}"
LINE = (
    "<http://example.org/gate> <http://example.org/registers> <http://example.org/car{0}> "
    '"2009-07-20T08:00:{0:02}Z"^^<http://www.w3.org/2001/XMLSchema#dateTime> .\n'
)
# Waits for Java, which ends after the command, and notes whether it had mapped an archive.
RUN = f"""
import json, sys
from pathlib import Path
from penstock.cli import app
from penstock.spark.session import launch

try:
    app(["run", "query.rq", "--stream", "{STREAM}=gates.nq", "-f", "csv"])
finally:
    maps = [Path(f"/proc/{{java.pid}}/maps") for java in launch._running]
    mapped = any(".jsa" in file.read_text() for file in maps if file.exists())
    for java in launch._running:
        java.stdin.close()
        java.wait()
    Path(sys.argv[1]).write_text(json.dumps([len(maps), mapped]))
"""


class Shell:
    """A folder with a query and a stream, and a cache folder for it."""

    def __init__(self, place: Path) -> None:
        self.place, self.archives = place, place / "cache" / "penstock" / "start"
        (place / "query.rq").write_text(QUERY)
        (place / "gates.nq").write_text("".join(map(LINE.format, range(20))))

    def begin(self, start: str = "quick", note: str = "note") -> subprocess.Popen[str]:
        code = f"import sys; sys.path[:] = {sys.path!r}\n{RUN}"
        variables = os.environ | {"PENSTOCK_START": start, "XDG_CACHE_HOME": str(self.place / "cache")}
        command = [sys.executable, "-c", code, note]
        return subprocess.Popen(
            command, cwd=self.place, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def run(self, start: str = "quick") -> tuple[str, str]:
        """The two outputs of a run."""
        return self.begin(start).communicate(timeout=300)

    def note(self, name: str = "note") -> list[int]:
        """The number of JVMs that started quickly, and whether they mapped an archive."""
        return json.loads((self.place / name).read_text())  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    return Shell(tmp_path_factory.mktemp("start"))


@pytest.fixture(scope="module")
def expected(shell: Shell) -> tuple[str, str]:
    answers, errors = shell.run("plain")
    assert (answers.splitlines()[:2], errors) == (["time,n", "2009-07-20T08:00:00Z,1"], "")
    assert shell.note() == [0, False]
    return answers, errors


@pytest.fixture(scope="module")
def archive(shell: Shell, expected: tuple[str, str]) -> Path:
    """The archive, after two processes have started at once without one."""
    both = [shell.begin(note=note) for note in ("one", "other")]
    assert [process.communicate(timeout=300) for process in both] == [expected, expected]
    assert [shell.note(name) for name in ("one", "other")] == [[1, False], [1, False]]
    (written,) = shell.archives.iterdir()  # one whole archive, and nothing half-written
    assert written.suffix == ".jsa"
    return written


def test_a_later_start_maps_the_archive(shell: Shell, archive: Path, expected: tuple[str, str]) -> None:
    assert shell.run() == expected
    assert shell.note() == [1, sys.platform == "linux"]
    assert list(shell.archives.iterdir()) == [archive]


@pytest.mark.parametrize("damage", ["shorter", "changed"])
def test_a_damaged_archive_costs_time_alone(
    shell: Shell, archive: Path, expected: tuple[str, str], damage: str
) -> None:
    whole = archive.read_bytes()
    half = len(whole) // 2
    changed = whole[:half] + bytes(255 - byte for byte in whole[half : half + 4_000_000]) + whole[half + 4_000_000 :]
    try:
        archive.unlink()
        archive.write_bytes(whole[:half] if damage == "shorter" else changed)
        assert shell.run() == expected
        assert not list(shell.place.glob("hs_err*"))  # Java's report of a crash
    finally:
        archive.unlink(missing_ok=True)
        archive.write_bytes(whole)
