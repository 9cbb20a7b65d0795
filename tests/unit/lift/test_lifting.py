"""The public face of lifting: batches, numbers of messages, times from outside, and options that are wrong."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import penstock
from penstock import LoadError, OptionError
from penstock.lift import Failure, Lifting
from penstock.tuning import DEFAULT

CONTEXT = '{"@context": {"v": "http://e/v"}, "@id": "http://e/{id}"}'
MESSAGES = [b'{"id": %d, "v": "x"}' % number for number in range(100)]


@pytest.mark.parametrize("size", [7, 100, 1_000])
def test_batches_are_lifted_alike(size: int) -> None:
    lifting = Lifting.from_text(CONTEXT, tuning=replace(DEFAULT, lift_messages=size, slow_messages=5))
    messages = [*MESSAGES[:50], b"nonsense", *MESSAGES[50:]]
    lifted = lifting.apply(messages, first=1_000)
    assert lifted.messages == 101
    assert [failure.message for failure in lifted.failures] == [1_050]
    assert lifted.table.column("message").to_pylist() == [1_000 + n for n in range(101) if n != 50]
    assert lifted.table.column("s").to_pylist()[60] == "<http://e/60>"


def test_elements_have_the_times_of_their_messages() -> None:
    lifted = Lifting.from_text(CONTEXT).apply(MESSAGES[:3], first=7)
    assert lifted.elements(5).column("ts").to_pylist() == [5, 5, 5]
    assert lifted.elements(np.array([1, 2, 3])).column("ts").to_pylist() == [1, 2, 3]
    assert lifted.elements(5).column_names == ["s", "p", "o", "ts"]
    with pytest.raises(ValueError, match="stamps are needed"):
        lifted.elements()


def test_declared_times_count() -> None:
    lifted = Lifting.from_text(CONTEXT, time="$.id", time_unit="us").apply(MESSAGES[:3])
    assert lifted.elements(99).column("ts").to_pylist() == [0, 1, 2]


def test_no_messages() -> None:
    lifted = Lifting.from_text(CONTEXT).apply([])
    assert (lifted.table.num_rows, lifted.failures, lifted.messages) == (0, [], 0)


def test_a_lifting_travels_to_workers() -> None:
    copy = pickle.loads(pickle.dumps(Lifting.from_text(CONTEXT)))
    assert copy.apply(MESSAGES).table.num_rows == 100


def test_messages_that_are_not_utf_8() -> None:
    lifted = Lifting.from_text(CONTEXT).apply([b"\xef\xbb\xbf" + MESSAGES[0], b'{"id": "\xff"}'])
    assert lifted.table.num_rows == 1
    assert lifted.failures == [Failure(1, "not UTF-8: byte 0xff at byte 9")]


@pytest.mark.parametrize("few", [0, 1_000], ids=["DuckDB", "Python"])
@pytest.mark.parametrize("depth", [300, 100_000])
def test_deep_nesting_fails_alone(few: int, depth: int) -> None:
    deep = b'{"id": 1, "v": ' + b"[" * depth + b"]" * depth + b"}"
    lifted = Lifting.from_text(CONTEXT, tuning=replace(DEFAULT, slow_messages=few)).apply([deep, *MESSAGES])
    assert lifted.failures == [Failure(0, "not readable: arrays or objects are nested too deeply")]
    assert lifted.table.num_rows == 100


@pytest.mark.parametrize("depth", [20, 600])
def test_deep_objects(depth: int) -> None:
    deep = b'{"id": 1, "v": ' + b'{"v":' * depth + b"1" + b"}" * depth + b"}"
    lifted = Lifting.from_text(CONTEXT).apply([deep])
    assert lifted.table.num_rows in (depth + 1, 0)
    assert len(lifted.failures) == (lifted.table.num_rows == 0)


def test_wrong_options(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"time='\$\.\.t': a search at any depth"):
        Lifting.from_text(CONTEXT, time="$..t")
    with pytest.raises(OptionError, match="time_unit='h': there are iso, s, ms, us"):
        Lifting.from_text(CONTEXT, time="t", time_unit="h")  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="give time or time_properties"):
        Lifting.from_text(CONTEXT, time="t", time_properties=["http://e/t"])
    with pytest.raises(OptionError, match="'t' is not an absolute IRI"):
        Lifting.from_text(CONTEXT, time_properties=["t"])
    with pytest.raises(LoadError, match="No such file"):
        Lifting.from_file(tmp_path / "none.ttl")
    assert penstock.Lifting is Lifting
