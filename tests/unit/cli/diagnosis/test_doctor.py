from __future__ import annotations

import sys
from pathlib import Path

import pytest

from penstock.cli.diagnosis import doctor
from penstock.errors import SetupError
from penstock.spark.session import archive, memory
from penstock.spark.session.java import Java

JAVA_17 = Java(Path("/opt/java"), 17, "PATH")
JAVA_11 = Java(Path("/opt/old"), 11, "JAVA_HOME")


def test_java_that_suits() -> None:
    check = doctor._java(JAVA_17, JAVA_11)
    assert (check.status, check.found) == ("OK", "17, from PATH: /opt/java")


def test_java_too_old_and_none() -> None:
    old, none = doctor._java(None, JAVA_11), doctor._java(None, None)
    assert "11, from JAVA_HOME: too old" in old.found
    assert none.found == "not found"
    for check in (old, none):
        assert check.status == "missing"
        assert "pip install 'penstock[java]'" in (check.remedy or "")


def test_the_class_data_archive_in_all_its_states(tmp_path: Path) -> None:
    kept = archive.Archive(tmp_path / "a.jsa", 17)
    assert doctor._archive(kept, plain=False).found == f"none yet; the next short `penstock run` writes {kept.path}"
    kept.path.write_bytes(bytes(1_600_000))
    assert doctor._archive(kept, plain=False).found == f"2 MB, {kept.path}"
    assert doctor._archive(kept, plain=True).found == "not used: PENSTOCK_START=plain"
    assert doctor._archive(None, plain=False).ok
    nowhere = doctor._archive(archive.Archive(kept.path / "start" / "b.jsa", 17), plain=False)
    assert (nowhere.status, nowhere.found) == ("optional", f"cannot be written into {kept.path / 'start'}")
    assert "XDG_CACHE_HOME" in (nowhere.remedy or "")


def test_old_python() -> None:
    assert doctor._python((3, 10, 4)).remedy == "install Python 3.11 or newer"
    assert doctor._python((3, 11, 0)).ok


def test_packages() -> None:
    assert doctor._package("pyoxigraph").ok
    assert doctor._package("no-such-package").remedy == "pip install no-such-package"


@pytest.mark.parametrize(("size", "status"), [(memory.GIB, "optional"), (16 * memory.GIB, "OK"), (None, "OK")])
def test_memory(size: int | None, status: str) -> None:
    assert doctor._memory(size).status == status


def test_a_full_disk() -> None:
    check = doctor._disk("/tmp", 10 << 20)
    assert check.found == "0.0 GiB free in /tmp"
    assert "TMPDIR" in (check.remedy or "")


def test_only_missing_requirements_make_a_machine_unhealthy() -> None:
    fine = doctor.Check("a", "1")
    optional = doctor.Check("b", "none", "get it", required=False)
    missing = doctor.Check("c", "none", "get it")
    assert doctor.healthy([fine, optional])
    assert not doctor.healthy([fine, optional, missing])


def test_spark_that_does_not_start_is_a_finding() -> None:
    def fail() -> int:
        raise SetupError("no Java was found: install it")

    check = doctor.start_spark(fail)
    assert (check.status, check.remedy) == ("missing", "no Java was found: install it")
    assert doctor.start_spark(lambda: 1000).found == "started and counted 1,000 rows"


def test_no_jvm_unless_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_count", lambda: 1000)
    monkeypatch.setitem(sys.modules, "penstock.spark.session.session", None)  # importing it would be an error
    assert "Spark" not in [check.name for check in doctor.checks()]
    assert "Spark" in [check.name for check in doctor.checks(full=True)]


def test_the_smaller_of_machine_and_container_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(memory, "_physical", lambda: 64 * memory.GIB)
    for text, size, heap in (("max", 64, 8), (f"{3 * memory.GIB}", 3, 1)):
        limit.write_text(f"{text}\n")
        found = memory.memory((limit, tmp_path / "absent"))
        assert (found, memory.heap_gib(found)) == (size * memory.GIB, heap)
