"""The quick start, with a Spark and a Java that are shell scripts."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import Any

import pytest

from penstock.errors import SetupError
from penstock.spark.session import early_start, launch
from penstock.spark.session.launch import Gateway

SUBMIT = r"""#!/bin/sh
printf '%s\n' "$@" >> {calls}
echo "JAVA_HOME=$JAVA_HOME" >> {calls}
case "$*" in *{refused}*) echo 'no such option' >&2; exit 1;; esac
printf '\000\000\001\002\000\000\000\006secret' > "$_PYSPARK_DRIVER_CONN_INFO_PATH.new"
mv "$_PYSPARK_DRIVER_CONN_INFO_PATH.new" "$_PYSPARK_DRIVER_CONN_INFO_PATH"
cat > /dev/null
"""
UP = Gateway(258, "secret")


class Machine:
    """A Spark that notes its arguments."""

    def __init__(self, place: Path) -> None:
        self._calls, self._submit = place / "calls", place / "spark" / "bin" / "spark-submit"
        self.archives = place / "cache" / "penstock" / "start"
        for folder in ("spark/bin", "spark/jars", "java/bin", "java/lib"):
            (place / folder).mkdir(parents=True)
        self._script(place / "java" / "bin" / "java", "#!/bin/sh\necho 'openjdk version \"17.0.1\"' >&2\n")
        (place / "java" / "release").touch()
        (place / "java" / "lib" / "modules").touch()
        self.refuse("nothing-is-refused")

    def refuse(self, option: str) -> None:
        """Let Java end at once if it is given an option with this text."""
        self.submit(SUBMIT.replace("{calls}", str(self._calls)).replace("{refused}", option))

    def submit(self, script: str) -> None:
        """Let this script be Spark's."""
        self._script(self._submit, script)

    def _script(self, path: Path, text: str) -> None:
        path.write_text(text)
        path.chmod(0o755)

    @property
    def calls(self) -> str:
        """All arguments so far, which are forgotten then."""
        text = self._calls.read_text() if self._calls.exists() else ""
        self._calls.unlink(missing_ok=True)
        return text

    def write_archive(self) -> Path:
        """Put an archive where the next start looks for it."""
        assert launch.quick(None, {}, short=True) == UP
        option = next(line for line in self.calls.splitlines() if "ArchiveClassesAtExit" in line)
        name = Path(option.split("ArchiveClassesAtExit=")[1].split()[0]).name
        path = self.archives / name.replace(f".{os.getpid()}.new", ".jsa")
        path.write_text("classes")
        return path


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "java"))
    monkeypatch.setenv("SPARK_HOME", str(tmp_path / "spark"))
    for name in ("PENSTOCK_START", "PYSPARK_GATEWAY_PORT", "PYSPARK_SUBMIT_ARGS"):
        monkeypatch.delenv(name, raising=False)
    running: list[subprocess.Popen[bytes]] = []
    monkeypatch.setattr(launch, "_running", running)
    yield Machine(tmp_path)
    for process in running:
        assert process.stdin is not None
        process.stdin.close()
        process.wait(timeout=60)


def test_a_short_run_uses_the_quick_compiler_and_writes_the_archive(machine: Machine, tmp_path: Path) -> None:
    assert launch.quick(None, {}, short=True) == UP
    calls = machine.calls
    assert "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:ArchiveClassesAtExit=" in calls
    assert "spark.master=local[*]" in calls
    assert calls.endswith(f"pyspark-shell\nJAVA_HOME={tmp_path}/java\n")


def test_other_runs_keep_their_compiler_and_write_no_archive(machine: Machine) -> None:
    assert launch.quick("local[2]", {"spark.driver.memory": "3g"}, short=False) == UP
    calls = machine.calls
    assert "spark.driver.memory=3g" in calls
    assert not any(option in calls for option in ("Tiered", "SerialGC", "Archive"))


@pytest.mark.parametrize("short", [True, False])
def test_every_start_reads_an_archive_that_exists(machine: Machine, short: bool) -> None:
    path = machine.write_archive()
    os.utime(path, (0, 0))
    assert launch.quick(None, {}, short=short) == UP
    calls = machine.calls
    assert f"-XX:SharedArchiveFile={path}" in calls
    assert "ArchiveClassesAtExit" not in calls
    assert path.stat().st_mtime > 0  # it is in use


def test_an_archive_with_which_java_does_not_start_is_removed(machine: Machine) -> None:
    path = machine.write_archive()
    machine.refuse("SharedArchiveFile")
    assert launch.quick(None, {}, short=True) == UP
    assert not path.exists()


def test_a_java_that_never_starts_is_left_to_the_plain_start(machine: Machine) -> None:
    path = machine.write_archive()
    machine.refuse("memory=2k")
    assert launch.quick(None, {"spark.driver.memory": "2k"}, short=True) is None
    assert path.exists()  # it was not the archive


def test_a_folder_that_cannot_be_written_costs_the_archive_alone(machine: Machine, tmp_path: Path) -> None:
    (tmp_path / "cache").touch()  # a file
    assert launch.quick(None, {}, short=True) == UP
    assert "Archive" not in machine.calls


@pytest.mark.parametrize(
    ("master", "settings"),
    [
        ("spark://host:7077", {}),
        (None, {"spark.driver.extraJavaOptions": "-XX:+UseG1GC"}),
        (None, {"spark.jars": "a.jar"}),
    ],
)
def test_spark_elsewhere_and_options_for_java_have_the_plain_start(
    machine: Machine, master: str | None, settings: dict[str, str]
) -> None:
    assert launch.quick(master, settings, short=True) is None
    assert machine.calls == ""


def test_the_switch(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_START", "plain")
    assert launch.quick(None, {}, short=True) is None
    early_start.begin(None, {}, short=True)
    assert early_start.claim() is None
    assert machine.calls == ""
    monkeypatch.setenv("PENSTOCK_START", "fast")
    with pytest.raises(SetupError, match="PENSTOCK_START=fast: write plain or quick"):
        launch.is_plain()


ENDS_EARLY = """
from pathlib import Path
from penstock.spark.session import early_start
early_start.begin(None, {}, short=True)
print(Path("alive").open().readline())
"""


def test_a_java_that_is_still_starting_ends_with_its_process(machine: Machine, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "alive")
    os.mkfifo(tmp_path / "dead")
    machine.submit("#!/bin/sh\nexec 3> dead\necho started > alive\nsleep 60\necho survived >&3\n")
    command = [sys.executable, "-c", f"import sys; sys.path[:] = {sys.path!r}\n{ENDS_EARLY}"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    end_of_java = (tmp_path / "dead").read_text()  # until nobody has the pipe open
    assert process.communicate() == ("started\n\n", "")
    assert end_of_java == ""


def test_an_early_start_is_claimed_once_with_its_error(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise SetupError("no Java was found: install it")

    monkeypatch.setattr(early_start, "_has_jvm", lambda: False)
    monkeypatch.setattr(launch, "quick", fail)
    early_start.begin(None, {}, short=True)
    begun = early_start.claim()
    assert begun is not None
    with pytest.raises(SetupError, match="no Java was found"):
        begun.result(timeout=60)
    assert early_start.claim() is None


def test_work_beside_the_owner_of_a_session_cannot_fail_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    from penstock.spark.session import session

    def fail(given: object) -> None:
        done.append(given)
        ended.set()
        raise OSError("Spark has stopped")

    done, ended = list[object](), Event()
    monkeypatch.setattr(early_start, "_has_jvm", lambda: False)
    monkeypatch.setattr(launch, "quick", lambda *_: None)
    monkeypatch.setattr(session, "launched", lambda *_: "a session")
    early_start.begin(None, {}, short=True, then=fail)
    begun = early_start.claim()
    assert begun is not None
    assert str(begun.result(timeout=60)) == "a session"
    assert ended.wait(60)
    assert done == ["a session"]


def test_a_session_that_is_left_to_java_is_released_and_not_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    from penstock.spark.session import session

    stops: list[bool] = []
    held: Any = SimpleNamespace(stop=lambda: stops.append(launch.is_left()))
    monkeypatch.setattr(launch, "_left", [])
    monkeypatch.setattr(session, "_holders", [held])
    launch.leave()
    session.stop(held)
    assert (session._holders, stops) == ([], [])
    launch._left.clear()
    session._holders.append(held)
    session.stop(held)
    assert (session._holders, stops) == ([], [False])
