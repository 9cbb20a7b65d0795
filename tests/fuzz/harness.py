"""Runs a target on generated inputs. Each input follows from the target's name, a seed and a number, for a replay."""

from __future__ import annotations

import faulthandler
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from penstock.errors import PenstockError

__all__ = ["LONGEST_S", "Fault", "Target", "attempt"]

LONGEST_S = 60  # seconds for one input, beyond which the process ends with a stack trace


@dataclass(frozen=True)
class Target:
    """What is fuzzed: `make` draws an input, and `run` gives it to Penstock, with an empty folder to work in."""

    name: str
    make: Callable[[Random], Any]
    run: Callable[[Any, Path], None]
    quick: int  # inputs of an ordinary test run


@dataclass(frozen=True)
class Fault:
    """An input that caused another exception than a `PenstockError`."""

    target: str
    seed: int
    number: int
    value: Any
    error: BaseException

    def __str__(self) -> str:
        again = f"python -m tests.fuzz --only {self.target} --seed {self.seed} --number {self.number}"
        place = traceback.extract_tb(self.error.__traceback__)[-1]
        first = f"{type(self.error).__name__} in {place.filename}:{place.lineno}: {str(self.error)[:300]}"
        return f"{first}\n{self.value!r:.3000}\n{again}"


def attempt(target: Target, seed: int, number: int, folder: Path) -> Fault | None:
    """Run the target on one input. A hang ends the process."""
    value = target.make(Random(f"{target.name} {seed} {number}"))
    faulthandler.dump_traceback_later(LONGEST_S, exit=True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            target.run(value, folder)
    except PenstockError:
        return None
    except Exception as error:
        return Fault(target.name, seed, number, value, error)
    finally:
        faulthandler.cancel_dump_traceback_later()
    return None
