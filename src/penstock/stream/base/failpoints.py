"""Failpoints: the places at which a crash must do no harm. Tests inject a crash there."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["handler", "reach"]

handler: Callable[[str], None] | None = None


def reach(place: str) -> None:
    """Say that the engine is at this place."""
    if handler is not None:
        handler(place)
