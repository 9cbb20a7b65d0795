"""`python -m examples.tsunami`: let buoys measure for a day, say what happens, and draw it."""

from __future__ import annotations

import argparse
from pathlib import Path

from examples.tsunami.ocean import Day
from examples.tsunami.picture import draw
from examples.tsunami.story import story
from examples.tsunami.watch import watch
from penstock import Engine


def main() -> None:
    day, picture = _asked()
    readings = round(day.hours * 240) * len(day.buoys)
    print(
        f"{len(day.buoys)} buoys, a reading every 15 seconds for {day.hours:g} hours: {readings:,} readings. Computing…"
    )
    with Engine() as engine:
        watched = watch(engine, day)
    print(*story(day, watched), sep="\n")
    picture.parent.mkdir(parents=True, exist_ok=True)
    picture.write_text(draw(day, watched), "utf-8")
    print(f"Drawn: {picture}")


def _asked() -> tuple[Day, Path]:
    usual = Day()
    parser = argparse.ArgumentParser(prog="python -m examples.tsunami", description=__doc__)
    parser.add_argument("--hours", type=float, default=usual.hours, help="how long the buoys measure")
    parser.add_argument("--quake", type=float, default=usual.quake, help="after how many hours the earth quakes")
    parser.add_argument("--seed", type=int, default=usual.seed, help="another seed, other tides and noise")
    parser.add_argument("--picture", type=Path, default=Path("artifacts/tsunami.svg"), help="where to draw it")
    given = parser.parse_args()
    return Day(given.hours, given.quake, given.seed), given.picture


if __name__ == "__main__":
    main()
