"""The memory and the files that a running engine has: for `make load` and `make soak`."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["files_of", "resident_bytes"]


def resident_bytes() -> dict[str, int]:
    """The resident memory of this process and of its children (Java, workers), by name; empty where /proc is not."""
    sizes: dict[str, int] = {}
    for pid, name in _family(os.getpid()):
        sizes[name] = sizes.get(name, 0) + _resident(pid)
    return sizes


def files_of(folder: Path) -> tuple[int, int]:
    """The number of files below a folder, and their size together; one that goes meanwhile does not count."""
    count = size = 0
    for base, _, names in os.walk(folder):
        for name in names:
            try:
                size += os.stat(os.path.join(base, name)).st_size
                count += 1
            except FileNotFoundError:
                continue
    return count, size


def _family(root: int) -> list[tuple[int, str]]:
    parents: dict[int, list[int]] = {}
    names = {root: "driver"}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = entry.read_text().partition("(")[2].rpartition(")")
        except OSError:
            continue
        parents.setdefault(int(rest.split()[1]), []).append(pid := int(entry.parent.name))
        names.setdefault(pid, "Java" if name == "java" else "workers")
    found, waiting = [], [root]
    while waiting:
        pid = waiting.pop()
        found.append((pid, names.get(pid, "workers")))
        waiting += parents.get(pid, [])
    return found


def _resident(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return 1024 * next((int(line.split()[1]) for line in lines if line.startswith("VmRSS")), 0)
