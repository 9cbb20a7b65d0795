"""The lock of a checkpoint: one engine owns the folder until it is closed, or its process ends, however it ends.

    DIR/owner.lock            locked by `flock`; its text is the owner, for the message to others
    DIR/owner/process.json    where the file system has no locks: the owner, until it removes it or no longer exists

A lock belongs to an open file, so two engines of one process are two owners. It ends when the file is closed, also by
the kernel: `os.open` keeps the file from programs that are started (Spark's JVM), and a forked child closes it.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shutil
import socket
import sqlite3
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from uuid import uuid4
from weakref import WeakSet

from penstock.errors import PenstockWarning, StoreError
from penstock.stream.base import durable_files
from penstock.stream.base.checkpoint_folder import open_folder

__all__ = ["CheckpointLock", "Process", "acquire", "check", "opening"]

_NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EINVAL}
_TAKEN = {errno.ENOTEMPTY, errno.EEXIST}
_ATTEMPTS = 10  # to become the owner, while owners come and go


class CheckpointLock(Protocol):
    """The lock by which an engine owns a checkpoint."""

    def release(self) -> None:
        """Let others own the checkpoint. Releasing twice is harmless."""

    def forget(self) -> None:
        """Let go of the lock in a forked child, whose parent keeps it."""


@dataclass(frozen=True, slots=True)
class Process:
    """A process of a machine. `started` tells it from a later one with the same number; "" if that is unknown."""

    host: str
    pid: int
    started: str

    @classmethod
    def this(cls) -> Process:
        """The process that runs this."""
        return cls(socket.gethostname(), os.getpid(), _started(os.getpid()) or "")

    def may_exist(self) -> bool:
        """Whether it still exists. About a process of another machine nothing is known, so it may."""
        if self.host != socket.gethostname():
            return True
        started = _started(self.pid)
        return started is not None and (started == self.started or "" in (started, self.started))


@dataclass(frozen=True, slots=True)
class Claim:
    """An owner, and the name of the one time that it became that."""

    owner: Process
    name: str

    def to_json(self) -> str:
        owner = self.owner
        return json.dumps({"host": owner.host, "pid": owner.pid, "started": owner.started, "claim": self.name})


def acquire(folder: Path) -> CheckpointLock:
    """The lock of a checkpoint's folder, which is made if it does not exist. StoreError if another engine owns it."""
    open_folder(folder)
    try:
        lock: CheckpointLock = _FileLock(folder)
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
        lock = _OwnerFolder(folder)
    _held.add(lock)
    return lock


def check(folder: Path) -> None:
    """Raise a StoreError if the folder cannot be a checkpoint, or another engine owns it; else it stays free."""
    with opening(folder):
        if folder.exists():
            acquire(folder).release()


@contextmanager
def opening(folder: Path | None) -> Iterator[None]:
    """Raise failures of the disk in opening the checkpoint as one sentence."""
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        if folder is None:
            raise
        place, reason = getattr(error, "filename", None), getattr(error, "strerror", None) or str(error)
        where = "" if place in (None, str(folder)) else f"{place}: "
        remedy = "Give a folder that can be written."
        raise StoreError(f"The checkpoint {folder} cannot be opened: {where}{reason}. {remedy}") from error


class _FileLock:
    """The lock of the operating system on `owner.lock`. The file stays: a new one would be another lock."""

    def __init__(self, folder: Path) -> None:
        path = folder / "owner.lock"
        self._file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600), "r+b", buffering=0)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._file.truncate(0)
            self._file.write(Claim(Process.this(), uuid4().hex).to_json().encode())
        except OSError as error:
            self._file.close()
            if isinstance(error, BlockingIOError):
                raise _refusal(folder, _read(path)) from None
            raise

    def release(self) -> None:
        if not self._file.closed:
            self._file.truncate(0)
            self._file.close()

    def forget(self) -> None:
        self._file.close()  # without unlocking, which would unlock it for the parent too


class _OwnerFolder:
    """The folder `owner`, which appears with the owner in it: to rename a folder to one that is not empty fails.

    A folder whose owner no longer exists is renamed by its claim. A process that has read that claim, and comes
    later, cannot rename the folder of the new owner to the same name.
    """

    def __init__(self, folder: Path) -> None:
        self._place = folder / "owner"
        self._claim: Claim | None = Claim(Process.this(), uuid4().hex)
        new = Path(tempfile.mkdtemp(prefix=".owner-", dir=folder))
        try:
            durable_files.replace(new / "process.json", self._claim.to_json().encode())
            left = self._become_owner(new)
        finally:
            shutil.rmtree(new, ignore_errors=True)
        _warn(folder, left)

    def _become_owner(self, new: Path) -> Process | None:
        """Put the new folder in its place, and return the owner that had left one there, if any."""
        left = claim = None
        for _ in range(_ATTEMPTS):
            if _rename(new, self._place):
                return left
            claim = _read(self._place / "process.json")
            if claim is None:  # gone in this moment, or not readable
                continue
            if claim.owner.may_exist():
                break
            gone = self._place.with_name(f"owner.gone-{claim.name}")
            if _rename(self._place, gone):
                left = claim.owner
                for older in set(gone.parent.glob("owner.gone-*")) - {gone}:
                    shutil.rmtree(older, ignore_errors=True)
        raise _refusal(self._place.parent, claim, self._place)

    def release(self) -> None:
        if self._claim is not None and _read(self._place / "process.json") == self._claim:
            (self._place / "process.json").unlink()
            with suppress(OSError):  # the next owner may be there already
                self._place.rmdir()
        self._claim = None

    def forget(self) -> None:
        self._claim = None


def _rename(folder: Path, to: Path) -> bool:
    """Rename a folder, unless it is gone or there is one of that name with something in it."""
    try:
        folder.rename(to)
    except FileNotFoundError:
        return False
    except OSError as error:
        if error.errno not in _TAKEN:
            raise
        return False
    return True


def _read(file: Path) -> Claim | None:
    """The claim that was written to a file; None if there is none."""
    try:
        claim = json.loads(file.read_text())
        return Claim(Process(claim["host"], claim["pid"], claim["started"]), claim["claim"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _started(pid: int) -> str | None:
    """When a process of this machine began, as the kernel writes it; "" if it does not; None if it has ended."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return None
    except PermissionError:
        pass  # it exists, and is somebody else's
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        state, *fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return None if state in "ZX" else f"{boot} {fields[18]}"  # the 22nd field, and the state is the third


def _refusal(folder: Path, claim: Claim | None, place: Path | None = None) -> StoreError:
    """The error that names the owner; with a place, the folder to delete if the owner cannot be looked at."""
    this = Process.this()
    if claim is not None and claim.owner == this:
        who, what = f"another engine of this process ({this.pid})", "close() that engine, or use another folder"
    else:
        who, what = _name(None if claim is None else claim.owner), "end that process, or use another folder"
        if place is not None and (claim is None or claim.owner.host != this.host):
            what += f" (if it has ended, delete {place})"
    return StoreError(f"The checkpoint {folder} is in use by {who}: {what}.")


def _name(owner: Process | None) -> str:
    if owner is None:
        return "another process"
    return f"process {owner.pid}" + ("" if owner.host == socket.gethostname() else f" on {owner.host}")


def _warn(folder: Path, left: Process | None) -> None:
    text = (
        f"The file system of {folder} has no locks: the owner of the checkpoint is written to "
        f"{folder}/owner/process.json, and another engine takes over when that process no longer exists."
    )
    if left is not None:
        text += f" It was left by {_name(left)}, which no longer exists."
    warnings.warn(text, PenstockWarning, stacklevel=2)


_held: WeakSet[CheckpointLock] = WeakSet()


def _forget_all() -> None:
    for lock in list(_held):
        lock.forget()


os.register_at_fork(after_in_child=_forget_all)
