"""No test of the command line starts Java by itself."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def plain_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_START", "plain")
