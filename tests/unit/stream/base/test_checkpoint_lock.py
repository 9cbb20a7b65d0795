"""One engine owns a checkpoint: others are refused until it is closed or its process ends, however it ends."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import pytest

from penstock.errors import PenstockWarning, StoreError
from penstock.stream.base import checkpoint_lock
from penstock.stream.base.checkpoint_lock import Process, acquire

Acquire = Callable[[Path], checkpoint_lock.CheckpointLock]

OWNER = """
import errno, fcntl, sys, warnings
from pathlib import Path
from penstock.stream.base.checkpoint_lock import acquire

def refuse(*_):
    raise OSError(errno.ENOLCK, "no locks available")

warnings.simplefilter("ignore")
if sys.argv[2] == "refuses":
    fcntl.flock = refuse
lock = acquire(Path(sys.argv[1]))
print("owner", flush=True)
sys.stdin.read()
"""


@contextmanager
def another_process(folder: Path, locks: str) -> Iterator[subprocess.Popen[str]]:
    """A process that owns the folder until its input ends, or it is killed."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-c", OWNER, str(folder), locks]
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "owner\n"
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture(params=["has", "refuses"])
def locks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Whether the file system has locks."""
    if request.param == "refuses":
        monkeypatch.setattr(fcntl, "flock", refuse)
    return str(request.param)


def refuse(*_: object) -> None:
    raise OSError(errno.ENOLCK, "no locks available")


@pytest.fixture
def own(locks: str) -> Acquire:
    def acquired(folder: Path) -> checkpoint_lock.CheckpointLock:
        if locks == "has":
            return acquire(folder)
        with pytest.warns(PenstockWarning, match="no locks"):
            return acquire(folder)

    return acquired


def refusal(folder: Path) -> str:
    with pytest.raises(StoreError) as caught:
        acquire(folder)
    return str(caught.value)


def test_another_process_is_named_until_it_ends(tmp_path: Path, locks: str, own: Acquire) -> None:
    with another_process(tmp_path, locks) as owner:
        assert refusal(tmp_path) == (
            f"The checkpoint {tmp_path} is in use by process {owner.pid}: end that process, or use another folder."
        )
        owner.communicate()
        own(tmp_path).release()


def test_a_killed_owner_owns_nothing(tmp_path: Path, locks: str, own: Acquire) -> None:
    with another_process(tmp_path, locks) as owner:
        owner.send_signal(signal.SIGKILL)
        owner.wait()
        own(tmp_path).release()


def test_a_killed_owner_that_nobody_waits_for_owns_nothing(tmp_path: Path, locks: str, own: Acquire) -> None:
    with another_process(tmp_path, locks) as owner:
        owner.send_signal(signal.SIGKILL)
        os.waitid(os.P_PID, owner.pid, os.WEXITED | os.WNOWAIT)  # it stays a zombie
        own(tmp_path).release()


def test_two_owners_in_one_process(tmp_path: Path, own: Acquire) -> None:
    first = own(tmp_path)
    assert refusal(tmp_path) == (
        f"The checkpoint {tmp_path} is in use by another engine of this process ({os.getpid()}): "
        "close() that engine, or use another folder."
    )
    first.release()
    second = own(tmp_path)
    first.release()  # again: harmless, and not the second's
    refusal(tmp_path)
    second.release()


def test_a_link_to_the_folder_is_the_folder(tmp_path: Path, own: Acquire) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "state")
    (tmp_path / "state").mkdir()
    lock = own(tmp_path / "state")
    refusal(tmp_path / "link")
    lock.release()


def test_a_lock_that_nobody_refers_to_is_released(tmp_path: Path) -> None:
    acquire(tmp_path)
    acquire(tmp_path).release()


# Children


def test_a_spawned_child_does_not_keep_the_lock(tmp_path: Path) -> None:
    lock = acquire(tmp_path)
    with subprocess.Popen(["sleep", "60"], close_fds=False) as child:
        cast(Any, lock)._file.close()  # as at the end of the process, without unlocking
        acquire(tmp_path).release()
        child.kill()


def test_a_forked_child_neither_keeps_nor_releases_the_lock(tmp_path: Path, own: Acquire) -> None:
    lock = own(tmp_path)
    until, end = os.pipe()
    released, say = os.pipe()
    child = os.fork()
    if child == 0:
        lock.release()
        os.write(say, b"released")
        os.close(end)
        os.read(until, 1)
        os._exit(0)
    try:
        assert os.read(released, 8) == b"released"
        refusal(tmp_path)
        lock.release()
        own(tmp_path).release()
    finally:
        os.close(end)
        os.waitpid(child, 0)
        for descriptor in (until, released, say):
            os.close(descriptor)


# Where the file system has no locks


@pytest.fixture
def no_locks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fcntl, "flock", refuse)


def left_behind(folder: Path, owner: Process) -> Path:
    file = folder / "owner" / "process.json"
    file.parent.mkdir()
    file.write_text(json.dumps({"host": owner.host, "pid": owner.pid, "started": owner.started, "claim": "x"}))
    return file


@pytest.mark.usefixtures("no_locks")
def test_the_warning_says_where_the_owner_is_written(tmp_path: Path) -> None:
    with pytest.warns(PenstockWarning) as caught:
        acquire(tmp_path).release()
    assert [str(warning.message) for warning in caught] == [
        f"The file system of {tmp_path} has no locks: the owner of the checkpoint is written to "
        f"{tmp_path}/owner/process.json, and another engine takes over when that process no longer exists."
    ]
    assert not (tmp_path / "owner").exists()


@pytest.mark.usefixtures("no_locks")
def test_a_later_process_with_the_same_number_is_another(tmp_path: Path) -> None:
    file = left_behind(tmp_path, Process(socket.gethostname(), os.getpid(), "before the last boot 1"))
    with pytest.warns(PenstockWarning, match=f"It was left by process {os.getpid()}, which no longer exists"):
        lock = acquire(tmp_path)
    claim = checkpoint_lock._read(file)
    assert claim is not None
    assert claim.owner == Process.this()
    lock.release()


@pytest.mark.usefixtures("no_locks")
def test_whether_a_process_of_another_host_exists_cannot_be_known(tmp_path: Path) -> None:
    file = left_behind(tmp_path, Process("elsewhere", 17, "1"))
    assert refusal(tmp_path) == (
        f"The checkpoint {tmp_path} is in use by process 17 on elsewhere: "
        f"end that process, or use another folder (if it has ended, delete {tmp_path}/owner)."
    )
    assert file.exists()


@pytest.mark.usefixtures("no_locks")
def test_an_owner_that_cannot_be_read_is_not_taken_over(tmp_path: Path) -> None:
    left_behind(tmp_path, Process("elsewhere", 17, "1")).write_text("{")
    assert refusal(tmp_path) == (
        f"The checkpoint {tmp_path} is in use by another process: "
        f"end that process, or use another folder (if it has ended, delete {tmp_path}/owner)."
    )


@pytest.mark.usefixtures("no_locks")
def test_of_two_that_take_over_one_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second has seen the owner that is gone before the first took over, and acts on it afterwards."""
    gone = Process(socket.gethostname(), os.getpid(), "long ago")
    left_behind(tmp_path, gone)
    read = checkpoint_lock._read
    locks: list[checkpoint_lock.CheckpointLock] = []

    def read_late(file: Path) -> checkpoint_lock.Claim | None:
        found = read(file)
        if not locks:
            monkeypatch.setattr(checkpoint_lock, "_read", read)
            locks.append(acquire(tmp_path))
        return found

    monkeypatch.setattr(checkpoint_lock, "_read", read_late)
    with pytest.warns(PenstockWarning):
        refusal(tmp_path)
    locks[0].release()


@pytest.mark.usefixtures("no_locks")
def test_takeovers_leave_little_behind(tmp_path: Path) -> None:
    for number in range(3):
        file = left_behind(tmp_path, Process(socket.gethostname(), os.getpid(), f"{number}"))
        file.write_text(file.read_text().replace('"x"', f'"{number}"'))
        with pytest.warns(PenstockWarning):
            acquire(tmp_path).release()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["owner.gone-2", "owner.lock"]


def test_other_errors_are_not_taken_for_a_file_system_without_locks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.EIO, "broken")

    monkeypatch.setattr(fcntl, "flock", fail)
    with pytest.raises(OSError, match="broken"):
        acquire(tmp_path)
