"""`python -m tests.fuzz --seconds 3600`: fuzz all targets by turns, with a seed that is printed; or repeat an input."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from random import SystemRandom
from tempfile import TemporaryDirectory

from tests.fuzz import TARGETS
from tests.fuzz.harness import attempt


def main() -> int:
    known = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    known.add_argument("--seconds", type=float, default=3600)
    known.add_argument("--seed", type=int, default=SystemRandom().randrange(1 << 32))
    known.add_argument("--only", choices=sorted(TARGETS))
    known.add_argument("--number", type=int, help="repeat this input alone")
    asked = known.parse_args()
    targets = [TARGETS[asked.only]] if asked.only else list(TARGETS.values())
    print(f"seed {asked.seed}", flush=True)
    end, number, faults = time.monotonic() + asked.seconds, asked.number or 0, 0
    with TemporaryDirectory(prefix="penstock-fuzz-") as folder:
        while asked.number in (None, number) and time.monotonic() < end:
            found = [fault for target in targets if (fault := attempt(target, asked.seed, number, Path(folder)))]
            faults += len(found)
            for fault in found:
                print(f"\n{fault}", flush=True)
            number += 1
    print(f"\n{number - (asked.number or 0):,} inputs of each of {', '.join(t.name for t in targets)}; {faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
