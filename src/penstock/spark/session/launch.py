"""The process of the JVM, started without importing PySpark, and the choice between a quick and a plain start.

A quick start maps the class-data archive; for a short run Java also compiles with its quick compiler alone and
collects garbage with one thread. A start that fails is tried once more as a plain one, which is PySpark's own.
"""

from __future__ import annotations

import atexit
import os
import shlex
import signal
import struct
import subprocess
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from penstock.errors import SetupError
from penstock.spark.session import archive, java
from penstock.spark.session import settings as spark_settings
from penstock.spark.session.archive import Archive

__all__ = ["Gateway", "is_left", "is_plain", "leave", "quick", "spark_home"]

_SWITCH = "PENSTOCK_START"
_SHORT = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # a run of seconds ends before the other compiler has paid
_NEUTRAL = {"spark.master", "spark.driver.memory"}  # settings of a user that leave class path and options as they are
_LOOK = 0.01  # seconds between two looks whether Java is up


@dataclass(frozen=True, slots=True)
class Gateway:
    """A running JVM, as PySpark connects to it."""

    port: int
    secret: str

    @property
    def variables(self) -> dict[str, str]:
        """The environment variables by which PySpark finds it."""
        return {"PYSPARK_GATEWAY_PORT": str(self.port), "PYSPARK_GATEWAY_SECRET": self.secret}


def is_plain() -> bool:
    """Whether the environment variable PENSTOCK_START switches the quick start off."""
    chosen = os.environ.get(_SWITCH) or "quick"
    if chosen not in ("plain", "quick"):
        raise SetupError(f"{_SWITCH}={chosen}: write plain or quick")
    return chosen == "plain" or os.name == "nt"  # the scripts are for POSIX shells


def quick(master: str | None, settings: Mapping[str, str], short: bool) -> Gateway | None:
    """Start a JVM quickly and wait until it accepts connections; None if there is only the plain start.

    That is so if it is switched off, if Spark runs elsewhere, if the user has options for Java or a class path of
    their own, and if the JVM does not come up: the plain start then says why.
    """
    theirs = spark_settings.at_launch(settings).keys() - _NEUTRAL
    if is_plain() or theirs or not (master or "local").startswith("local") or "PYSPARK_GATEWAY_PORT" in os.environ:
        return None
    home, installed = spark_home(), java.find()
    if home is None or installed is None:
        return None
    configuration = spark_settings.configuration(master, settings)
    classes = archive.archive_of(installed, home)
    reached = _attempt(configuration, installed, home, classes, short)
    if reached is None and classes is not None and classes.exists:
        reached = _attempt(configuration, installed, home, None, short)
        if reached is not None:
            classes.remove()  # it was the archive
    return reached


def _attempt(
    configuration: Mapping[str, str], runtime: java.Java, home_of_spark: Path, classes: Archive | None, short: bool
) -> Gateway | None:
    """Start a JVM that reads the archive if there is one, and writes it if there is none and the run is short."""
    options, writes = [configuration[spark_settings.JAVA_OPTIONS], *([_SHORT] if short else [])], False
    if classes is not None and classes.exists:
        classes.touch()
        options.append(classes.read_options)
    elif classes is not None and short and classes.writable():
        archive.tidy()
        options.append(classes.write_options)
        writes = True
    at_launch = {**spark_settings.at_launch(configuration), spark_settings.JAVA_OPTIONS: " ".join(options)}
    command = _command(home_of_spark, at_launch)
    with java.java_home(runtime) as home:
        variables = {**spark_settings.variables(configuration["spark.master"]), "JAVA_HOME": str(home)}
        return _start(classes.writer(command) if classes and writes else command, variables, home_of_spark)


def _command(home_of_spark: Path, at_launch: Mapping[str, str]) -> list[str]:
    """Return the command with which PySpark starts a JVM."""
    settings = [part for name, value in at_launch.items() for part in ("--conf", f"{name}={value}")]
    arguments = shlex.split(os.environ.get("PYSPARK_SUBMIT_ARGS", "pyspark-shell"))
    return [str(home_of_spark / "bin" / "spark-submit"), *settings, *arguments]


def _start(command: list[str], variables: Mapping[str, str], home_of_spark: Path) -> Gateway | None:
    """Run the command until the JVM has written its port and its secret, and return these; None if it ends
    before.

    The JVM ends when its standard input does, which is when this process ends. It is in a process group of its own:
    Ctrl-C is for Python. Its console is a file, since its output (mostly warnings of Java itself) is no answer.
    """
    with tempfile.TemporaryDirectory(prefix="penstock-java-") as directory, tempfile.TemporaryFile() as console:
        reached = Path(directory, "gateway")
        own = {
            "SPARK_HOME": str(home_of_spark),
            "SPARK_CONNECT_MODE": "0",
            "_PYSPARK_DRIVER_CONN_INFO_PATH": str(reached),
        }
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=console,
                stderr=console,
                env={**os.environ, **variables, **own},
                process_group=0,
            )
        except OSError:
            return None
        _unfinished.append(process)
        while process.poll() is None:
            if reached.is_file():
                _unfinished.remove(process)
                _running.append(process)
                return _gateway(reached.read_bytes())
            time.sleep(_LOOK)
        _unfinished.remove(process)
        return None


def leave() -> None:
    """Leave Spark to Java, which stops it and ends when this process has ended: nobody has to wait for that.

    For a process that ends after its command."""
    _left.append(True)


def is_left() -> bool:
    """Whether Spark is left to Java."""
    return bool(_left)


_left: list[bool] = []
_running: list[subprocess.Popen[bytes]] = []  # with their standard inputs, which are closed when this process ends
_unfinished: list[subprocess.Popen[bytes]] = []  # not up yet: they would wait for ever for a place to write to


@atexit.register
def _end_unfinished() -> None:
    """End the JVMs that start while this process ends, such as after a wrong query or Ctrl-C."""
    for process in _unfinished:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def _gateway(written: bytes) -> Gateway:
    """Return the gateway that Java has written down: its port, and its secret after the length of that."""
    port, length = struct.unpack_from(">ii", written)
    return Gateway(port, written[8 : 8 + length].decode())


def spark_home() -> Path | None:
    """Return the folder of Spark: `SPARK_HOME`, else that of the installed PySpark."""
    if given := os.environ.get("SPARK_HOME"):
        return Path(given)
    spec = find_spec("pyspark")
    home = Path(spec.origin).parent if spec is not None and spec.origin else None
    other = home is None or (home / "spark-distribution").exists() or not (home / "bin" / "spark-submit").exists()
    return None if other else home  # where else it may be is PySpark's affair
