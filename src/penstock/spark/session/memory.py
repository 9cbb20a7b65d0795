"""Memory of the machine or container, and the share of it that the JVM's heap gets."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

__all__ = ["GIB", "heap_gib", "memory"]

GIB = 1 << 30
_CONTAINER_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))


def memory(container_limits: Sequence[Path] = _CONTAINER_LIMITS) -> int | None:
    """Return the bytes of memory that this process may use: the machine's, or the container's if that is less."""
    sizes = [size for size in (_physical(), *map(_limit, container_limits)) if size is not None]
    return min(sizes, default=None)


def heap_gib(size: int | None = None) -> int:
    """Return the GiB of the JVM's heap: half of the memory, at most as much as small jobs can use.

    The rest is for Python and Arrow. The memory is that of this process unless it is given.
    """
    size = size or memory()
    return 1 if size is None else max(1, min(8, size // (2 * GIB)))


def _physical() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def _limit(path: Path) -> int | None:
    try:
        return int(path.read_text())
    except (OSError, ValueError):  # no such file, or the word "max"
        return None
