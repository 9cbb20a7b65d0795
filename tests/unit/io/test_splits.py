"""Files cut into pieces: every line once, in order, whole, whatever the size of the pieces."""

from __future__ import annotations

import gzip
import os
from codecs import BOM_UTF8
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock.errors import LoadError
from penstock.io.splits import Split, chunks, line_of, splits


def pieces(source: str | Path, size: int, chunk: int = 5) -> list[list[bytes]]:
    return [list(chunks(split, chunk)) for split in splits(source, size)]


@pytest.mark.parametrize("size", [1, 3, 4, 7, 100])
def test_lines_stay_whole(tmp_path: Path, size: int) -> None:
    file = tmp_path / "a.nq"
    file.write_bytes(b"one\ntwo\n\nthree\nfour")
    found = [b"".join(piece) for piece in pieces(file, size) if piece]
    assert b"".join(found) == file.read_bytes()
    assert all(piece.endswith(b"\n") for piece in found[:-1])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None)
@given(st.text("ab\n", max_size=30).map(str.encode), st.integers(1, 12), st.integers(1, 12))
def test_every_line_once(tmp_path: Path, data: bytes, size: int, chunk: int) -> None:
    file = tmp_path / "a.nq"
    file.write_bytes(data)
    found = pieces(file, size, chunk)
    assert b"".join(b"".join(piece) for piece in found) == data
    assert [line for piece in found for part in piece for line in part.split(b"\n") if line] == data.split()


def test_a_line_belongs_to_the_piece_where_it_begins(tmp_path: Path) -> None:
    #  |aa|\nbb|bb\n|cc\n|    four pieces of at most 4 bytes; no line begins in the third
    file = tmp_path / "a.nq"
    file.write_bytes(b"aa\nbbbb\ncc\n")
    assert pieces(file, 4, 100) == [[b"aa\n"], [b"bbbb\n"], [], [b"cc\n"]]


@pytest.mark.parametrize(("size", "count"), [(100, 1), (14, 1), (13, 2), (7, 2), (6, 4), (1, 14)])
def test_pieces_are_even_in_number_and_alike_in_length(tmp_path: Path, size: int, count: int) -> None:
    file = tmp_path / "a.nq"
    file.write_bytes(b"aa\nbbbb\ncc\ndd\n")
    lengths = [(split.end or 0) - split.start for split in splits(file, size)]
    assert (len(lengths), sum(lengths)) == (count, 14)
    assert max(lengths) <= min(size, min(lengths) + 1)


def test_the_number_of_the_first_line(tmp_path: Path) -> None:
    file = tmp_path / "a.nq"
    file.write_bytes(b"aa\nbbbb\ncc\ndd\n")
    #  |aa|\nb|bbb|\nc|c\n|dd\n|
    assert [line_of(split) for split in splits(file, 3)] == [1, 2, 3, 3, 4, 4]


@pytest.mark.parametrize("chunk", [1, 3, 100])
@pytest.mark.parametrize("rest", [b"", b"thr"])
def test_a_file_that_has_become_shorter(tmp_path: Path, chunk: int, rest: bytes) -> None:
    """Whole lines are read as far as they go; half a line is none."""
    file = tmp_path / "a.nq"
    file.write_bytes(b"one\ntwo\n" + rest)
    found, error = until_error(Split(str(file), 0, 40), chunk)
    assert b"one\ntwo\n".startswith(found)
    assert error == f"{file}: the file has become shorter while it was read"
    assert until_error(Split(str(file), 30, 40), chunk) == (b"", error)


@pytest.mark.parametrize("split", [Split(""), Split("", 0, 300)])
def test_a_file_that_becomes_shorter_meanwhile(tmp_path: Path, split: Split) -> None:
    file = tmp_path / "a.nq"
    file.write_bytes(b"0123456789abcd\n" * 20)
    portions = chunks(replace(split, path=str(file)), 30)
    assert next(portions) == b"0123456789abcd\n" * 2
    os.truncate(file, 100)
    rest: list[bytes] = []
    with pytest.raises(LoadError) as caught:
        rest.extend(portions)
    assert str(caught.value) == f"{file}: the file has become shorter while it was read"
    assert all(portion.replace(b"0123456789abcd\n", b"") == b"" for portion in rest)


def test_a_gzip_file_that_is_cut_off_or_damaged(tmp_path: Path) -> None:
    file, packed = tmp_path / "a.nq.gz", gzip.compress(b"".join(b"%d\n" % number for number in range(10_000)))
    for content, reason in (
        (packed[:1000], "the gzip file is cut off"),
        (packed[:-1], "the gzip file is cut off"),
        (packed[:5], "the gzip file is cut off"),
        (packed[:-8] + bytes(8), "the gzip file is damaged"),
        (b"no gzip", "the gzip file is damaged"),
    ):
        file.write_bytes(content)
        assert until_error(Split(str(file)), 100)[1] == f"{file}: {reason}"


def until_error(split: Split, chunk: int) -> tuple[bytes, str]:
    """What is read of a piece before the error, and its message."""
    found: list[bytes] = []
    with pytest.raises(LoadError) as caught:
        found.extend(chunks(split, chunk))
    return b"".join(found), str(caught.value)


def test_gzip_is_one_piece_even_of_several_members(tmp_path: Path) -> None:
    file = tmp_path / "a.nq.gz"
    file.write_bytes(gzip.compress(b"one\ntw") + gzip.compress(b"o\nthree"))
    assert splits(file, 1) == [Split(str(file))]
    assert b"".join(pieces(file, 1)[0]) == b"one\ntwo\nthree"
    assert line_of(splits(file)[0]) == 1


def test_a_whole_file_is_unpacked_only_if_its_name_says_so(tmp_path: Path) -> None:
    (tmp_path / "a.nq").write_bytes(b"one\ntwo")
    (tmp_path / "a.NQ.GZ").write_bytes(gzip.compress(b"one\ntwo"))
    assert [b"".join(chunks(Split(str(tmp_path / name)))) for name in ("a.nq", "a.NQ.GZ")] == [b"one\ntwo"] * 2


def test_a_folder_by_the_names_of_its_files(tmp_path: Path) -> None:
    for name in ("b.nq", "a.nq", "c.NQ", ".hidden.nq", "_part.nq", "notes.txt"):
        (tmp_path / name).write_text(f"{name}\n")
    (tmp_path / "d.NQ.GZ").write_bytes(gzip.compress(b"d\n"))
    (tmp_path / "e.nq").mkdir()
    assert pieces(tmp_path, 100, 100) == [[b"a.nq\n"], [b"b.nq\n"], [b"c.NQ\n"], [b"d\n"]]


def test_by_uri(tmp_path: Path) -> None:
    (tmp_path / "a b.nq").write_bytes(b"one\n")
    assert pieces(tmp_path.as_uri(), 100) == [[b"one\n"]]
    assert pieces((tmp_path / "a b.nq").as_uri(), 100) == [[b"one\n"]]


def test_an_empty_file_has_no_pieces(tmp_path: Path) -> None:
    (tmp_path / "a.nq").touch()
    assert splits(tmp_path / "a.nq") == []


def test_unreadable_paths_are_errors_that_name_the_path(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match=r"gone\.nq: there is no such file"):
        splits(tmp_path / "gone.nq")
    with pytest.raises(LoadError, match="holds no file named"):
        splits(tmp_path)
    with pytest.raises(LoadError, match=r"no\.such://x"):
        splits("no.such://x")
    with pytest.raises(LoadError, match=r"gone\.nq"):
        list(chunks(Split(str(tmp_path / "gone.nq"), 0, 4)))


@pytest.mark.parametrize("data", [b"no gzip at all", gzip.compress(b"one\n" * 1000, mtime=0)[:-20]])
def test_damaged_gzip(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "a.nq.gz"
    file.write_bytes(data)
    with pytest.raises(LoadError, match=r"a\.nq\.gz: "):
        list(chunks(Split(str(file))))


@pytest.mark.parametrize("size", [1, 2, 4, 100])
def test_a_byte_order_mark_begins_no_line(tmp_path: Path, size: int) -> None:
    file, packed = tmp_path / "a.nq", tmp_path / "b.nq.gz"
    file.write_bytes(BOM_UTF8 + b"one\n" + BOM_UTF8 + b"two\n")
    packed.write_bytes(gzip.compress(file.read_bytes()))
    for source in (file, packed):  # only at the very start: the second one belongs to its line
        assert b"".join(b"".join(piece) for piece in pieces(source, size)) == b"one\n" + BOM_UTF8 + b"two\n"


def test_a_file_of_a_byte_order_mark_alone_has_no_lines(tmp_path: Path) -> None:
    (tmp_path / "a.nq").write_bytes(BOM_UTF8)
    assert pieces(tmp_path / "a.nq", 100) == [[]]
