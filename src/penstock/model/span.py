"""Span: an interval of time, the instants of one evaluation."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Span"]


@dataclass(frozen=True, slots=True)
class Span:
    """The instants t with after < t <= through."""

    after: int
    through: int
