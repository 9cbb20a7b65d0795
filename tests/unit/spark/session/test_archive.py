"""The class-data archive: its name, its place, and commands that write it, with shell scripts in the place of Java."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from penstock.spark.session import archive
from penstock.spark.session.archive import Archive
from penstock.spark.session.java import Java

DAY = 86_400


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "penstock" / "start"


@pytest.fixture
def java(tmp_path: Path) -> Java:
    home = tmp_path / "java"
    (home / "lib").mkdir(parents=True)
    (home / "lib" / "modules").write_text("modules")
    (home / "release").write_text('JAVA_VERSION="17.0.15"')
    return Java(home, 17, "PATH")


@pytest.fixture
def spark_home(tmp_path: Path) -> Path:
    (tmp_path / "spark" / "jars").mkdir(parents=True)
    return tmp_path / "spark"


def made(java: Java, spark_home: Path) -> Archive:
    found = archive.archive_of(java, spark_home)
    assert found is not None
    return found


def test_the_name_has_the_versions_and_the_place_is_the_cache_folder(java: Java, spark_home: Path, cache: Path) -> None:
    path = made(java, spark_home).path
    assert path.parent == cache
    assert path.name.startswith("java17-spark")
    assert "-penstock" in path.name
    assert made(java, spark_home).path == path


def test_another_build_of_java_has_another_archive(java: Java, spark_home: Path) -> None:
    before = made(java, spark_home).path
    (java.home / "release").write_text('JAVA_VERSION="17.0.16", of another vendor')
    after = made(java, spark_home).path
    assert after != before
    assert made(replace(java, version=21), spark_home).path != after


def test_jars_that_were_installed_again_have_another_archive(java: Java, spark_home: Path) -> None:
    before = made(java, spark_home).path
    os.utime(spark_home / "jars", (1, 1))
    assert made(java, spark_home).path != before


def test_without_java_or_a_home_there_is_no_archive(
    java: Java, spark_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert archive.archive_of(replace(java, home=tmp_path / "gone"), spark_home) is None
    monkeypatch.setenv("XDG_CACHE_HOME", "relative/paths/are/ignored")

    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", homeless)
    assert archive.archive_of(java, spark_home) is None


@pytest.mark.parametrize(
    ("version", "reads", "writes"),
    [
        (17, "-XX:SharedArchiveFile=", "-XX:ArchiveClassesAtExit="),
        (24, "-XX:SharedArchiveFile=", "-XX:ArchiveClassesAtExit="),
        (25, "-XX:AOTCache=", "-XX:AOTCacheOutput="),
        (99, "-XX:AOTCache=", "-XX:AOTCacheOutput="),
    ],
)
def test_options_by_the_version_of_java(version: int, reads: str, writes: str) -> None:
    kept = Archive(Path("/cache/a b.jsa"), version)
    report = "-XX:ErrorFile=/cache/java-error-%p.log"
    assert kept.read_options == f"'{reads}/cache/a b.jsa' -XX:+VerifySharedSpaces {report} -Xlog:disable"
    assert kept.write_options == f"'{writes}/cache/a b.{os.getpid()}.new' -Xlog:disable"


def test_the_archive_appears_whole_when_java_has_ended_well(tmp_path: Path) -> None:
    kept = Archive(tmp_path / "a.jsa", 17)
    seen = f"ls {tmp_path}; echo classes > {kept.new}"
    ran = subprocess.run(kept.writer(["/bin/sh", "-c", seen]), capture_output=True, text=True)
    assert (ran.stdout, ran.stderr) == ("", "")
    assert kept.path.read_text() == "classes\n"
    assert not kept.new.exists()


@pytest.mark.parametrize("ending", ["exit 1", "kill -9 $$"])
def test_a_java_that_fails_leaves_the_old_archive_as_it_is(tmp_path: Path, ending: str) -> None:
    kept = Archive(tmp_path / "a.jsa", 17)
    kept.path.write_text("old")
    subprocess.run(kept.writer(["/bin/sh", "-c", f"echo half > {kept.new}; {ending}"]), capture_output=True)
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("a.jsa", "old")]


def test_no_archive_is_written_to_a_full_disk_or_a_place_that_is_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = Archive(tmp_path / "new" / "a.jsa", 17)
    assert kept.writable()
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=100 << 20))
    assert not kept.writable()
    assert kept.writable(room_bytes=1 << 20)
    (tmp_path / "file").touch()
    assert not Archive(tmp_path / "file" / "start" / "a.jsa", 17).writable()


def test_tidy_removes_unused_archives(cache: Path) -> None:
    now, cache = 1_000 * DAY, cache
    cache.mkdir(parents=True)
    ages = {"used.jsa": 29, "unused.jsa": 31, "under way.1.new": 0.5, "torn.2.new": 2}
    for name, days in ages.items():
        (cache / name).touch()
        os.utime(cache / name, (now - days * DAY,) * 2)
    archive.tidy(30, now)
    assert {file.name for file in cache.iterdir()} == {"used.jsa", "under way.1.new"}


def test_use_keeps_an_archive_and_a_lost_one_is_no_error(cache: Path) -> None:
    kept = Archive(cache / "a.jsa", 17)
    kept.touch()
    kept.remove()
    archive.tidy()
    cache.mkdir(parents=True)
    kept.path.touch()
    os.utime(kept.path, (0, 0))
    kept.touch()
    archive.tidy()
    assert kept.exists
