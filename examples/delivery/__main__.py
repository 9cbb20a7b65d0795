"""`python -m examples.delivery`: let couriers deliver for a while, say what happens, and draw the longest way round."""

from __future__ import annotations

import argparse
from pathlib import Path

from examples.delivery.dispatch import dispatch
from examples.delivery.picture import draw
from examples.delivery.shift import Shift, elements, work
from examples.delivery.story import story
from penstock import Engine


def main() -> None:
    shift, picture = _asked()
    trips, closures = work(shift), shift.closures
    count = sum(map(len, elements(trips, closures).values()))
    print(f"{shift.couriers} couriers, {len(closures)} roads blocked for a while: {count:,} elements. Computing…")
    with Engine() as engine:
        found = dispatch(engine, shift)
    print(*story(trips, closures, found), sep="\n")
    picture.parent.mkdir(parents=True, exist_ok=True)
    picture.write_text(draw(trips, closures, found), "utf-8")
    print(f"Drawn: {picture}")


def _asked() -> tuple[Shift, Path]:
    usual = Shift()
    parser = argparse.ArgumentParser(prog="python -m examples.delivery", description=__doc__)
    parser.add_argument("--minutes", type=int, default=usual.minutes, help="how long they work")
    parser.add_argument("--couriers", type=int, default=usual.couriers, help="how many there are")
    parser.add_argument("--blocked", type=float, default=usual.blocked, help="how many roads a minute are blocked")
    parser.add_argument("--seed", type=int, default=usual.seed, help="another seed, another shift")
    parser.add_argument("--picture", type=Path, default=Path("artifacts/delivery.svg"), help="where to draw it")
    given = parser.parse_args()
    return Shift(given.minutes, given.couriers, given.blocked, given.seed), given.picture


if __name__ == "__main__":
    main()
