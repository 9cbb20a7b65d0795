"""Which tests of a run on several workers stay together."""

from __future__ import annotations

from xdist.scheduler import LoadScopeScheduling

__all__ = ["InTurn"]


class InTurn(LoadScopeScheduling):  # type: ignore[misc]  # xdist has no types
    """Gives the next test to the worker that is free. Tests of a module of `tests/spark` stay together, since they
    share what is set up once, such as an engine or a class-data archive."""

    def _split_scope(self, nodeid: str) -> str:
        return nodeid.partition("::")[0] if nodeid.startswith("tests/spark/") else nodeid
