"""Sinks without a broker, killed twenty times in the middle: what is there is what an undisturbed run leaves."""

from __future__ import annotations

from pathlib import Path

from tests.connect.sink_kills import killed, live


def test_an_event_stream_killed_in_the_middle(tmp_path: Path) -> None:
    address = "ldes://{}?size=3"
    killed(address.format(tmp_path / "killed"), "sinks/ldes.py", tmp_path / "killed.json", 300)
    live(address.format(tmp_path / "whole"), tmp_path / "whole.json", 0)
    found, expected = (
        {page.name: page.read_bytes() for page in (tmp_path / which).iterdir()} for which in ("killed", "whole")
    )
    assert found == expected
    assert len(expected) == 100
