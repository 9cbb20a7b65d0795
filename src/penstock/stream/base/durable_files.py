"""Durable files: written atomically and synced, so that a crash leaves the old content or the new.

All that the log, the dead letters and the operator state write goes through here. Files of JSON carry a checksum.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from contextlib import suppress
from hashlib import blake2s
from pathlib import Path
from typing import Any
from zlib import crc32

from penstock.stream.base.disk_errors import damaged, disk_errors

__all__ = [
    "checksum", "faults", "folder_name", "make_folder", "read_json", "replace", "replace_json", "sync", "write",
    "write_at",
]  # fmt: skip

faults: Callable[[str, Path], None] | None = None
"""Called with each operation ("make", "write", "sync", "rename") before it is done. Tests raise errors of a disk."""

_LONGEST = 40  # letters of the readable part of a folder's name
_OWNER_ONLY = 0o700
_READ = 1 << 22  # bytes at a time
_CHECKED = b'{"crc32": "%08x", "content": '
_PREFIX = len(_CHECKED % 0)


def write(path: Path, data: bytes | memoryview) -> None:
    """Write a new file, or one in the place of a file. It is durable after a `sync` of the file and of its folder.
    After an error there is no file."""
    with disk_errors(path):
        try:
            write_at(path, 0, data, os.O_TRUNC)
        except BaseException:
            with suppress(OSError):
                path.unlink()
            raise


def write_at(path: Path, place: int, data: bytes | memoryview, flags: int = 0, *, durable: bool = False) -> None:
    """Write into a file, from that byte on. The error of a disk is raised as it is."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | flags, 0o600)
    try:
        _ask("write", path)
        os.lseek(descriptor, place, os.SEEK_SET)
        while data:
            data = data[os.write(descriptor, data) :]
        if durable:
            _fsync(descriptor, path)
    finally:
        os.close(descriptor)


def replace(path: Path, data: bytes) -> None:
    """Replace the content of a file atomically: a reader sees the old or the new, also after a crash. A file whose sync
    has failed is removed: what the system then says of its content is not to be trusted."""
    temporary = path.with_name(f".{path.name}.tmp")
    with disk_errors(path):
        try:
            write_at(temporary, 0, data, os.O_TRUNC, durable=True)
            _ask("rename", path)
            temporary.replace(path)
        except BaseException:
            with suppress(OSError):
                temporary.unlink()
            raise
    sync(path.parent)


def replace_json(path: Path, content: Any) -> None:
    """Replace the content of a file by JSON, with a checksum of its name and content."""
    replace(path, _checked(path, json.dumps(content, ensure_ascii=False).encode()))


def read_json(path: Path) -> Any:
    """The JSON that `replace_json` has written; StoreError if the file is not as it was written."""
    data = path.read_bytes()
    text = data[_PREFIX:-1]
    if data != _checked(path, text):
        raise damaged(path, "its checksum is wrong")
    return json.loads(text)


def _checked(path: Path, text: bytes) -> bytes:
    """The content of a file of JSON. The checksum covers its name: a file in the place of another is found out."""
    return _CHECKED % crc32(text, crc32(path.name.encode())) + text + b"}"


def make_folder(path: Path, *, durable: bool = True) -> None:
    """Make a folder for its owner only, and those that it lies in. Their names are on the disk when this returns, if
    they are to be durable."""
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    with disk_errors(path):
        for folder in reversed(missing):
            _ask("make", folder)
            folder.mkdir(_OWNER_ONLY, exist_ok=True)
            if durable:
                sync(folder.parent)


def sync(path: Path) -> None:
    """Wait until a file's content, or a folder's list of names, is on the disk."""
    with disk_errors(path):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            _fsync(descriptor, path)
        finally:
            os.close(descriptor)


def checksum(path: Path, before: int = 0) -> int:
    """The CRC-32 of a file's content, after some content that has the checksum `before`."""
    with path.open("rb", buffering=0) as file:
        while part := file.read(_READ):
            before = crc32(part, before)
    return before


def folder_name(text: str) -> str:
    """A name for a folder that belongs to an IRI or a path: readable, and different for every text."""
    words = re.sub(r"[^A-Za-z0-9]+", "-", text.partition("://")[2] or text).strip("-")
    return f"{words[-_LONGEST:].strip('-')}-{blake2s(text.encode(), digest_size=4).hexdigest()}".lstrip("-")


def _fsync(descriptor: int, path: Path) -> None:
    _ask("sync", path)
    os.fsync(descriptor)


def _ask(operation: str, path: Path) -> None:
    if faults is not None:
        faults(operation, path)
