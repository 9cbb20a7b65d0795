"""Polls the service into a live engine, and takes the answers of the paper's queries until all posts are in."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

from examples.social.posts import NAMESPACE, Post, knows
from penstock import Answer, Engine

__all__ = ["FRIENDS", "TOPICS", "declare", "listen", "local", "source"]

FOLDER = Path(__file__).parent
STREAM = f"{NAMESPACE}interactions.trdf"
FRIENDS, TOPICS = "WhatHaveMyCloseFriendsBeenVisitingInTheLastHour", "TopTopicsGlueUsersAreInterestedIn"
_STEPS = {FRIENDS: timedelta(minutes=5), TOPICS: timedelta(minutes=10)}
_ITEMS = {"json": ("/interactions", "/id", "$.time"), "xml": ("/adaptiveblue/interactions/interaction", "/@id", "time")}
_PATIENCE = 60.0  # seconds without an answer


def declare(engine: Engine, url: str, users: int, format: Literal["json", "xml"]) -> None:
    """Who knows whom, the polled stream with its mapping, and the queries."""
    engine.load(knows(users), graph=f"{NAMESPACE}glueusers.rdf", format="nt")
    mapping, time = FOLDER / f"mapping-{format}.ttl", _ITEMS[format][2]
    engine.stream(STREAM, source(url, format), format=format, mapping=mapping, time_path=time)
    for path in sorted(FOLDER.glob("*.rq")):
        engine.register(path.read_text("utf-8"))


def source(url: str, format: Literal["json", "xml"]) -> dict[str, str]:
    """The service's newest posts, polled."""
    items, id, _ = _ITEMS[format]
    address = f"poll+{url}?format={format}"
    return {"address": address, "interval": "100ms", "items": items, "id": id, "newest": "first"}


def listen(engine: Engine, query: str, posts: list[Post]) -> Iterator[Answer]:
    """The answers of a query, one by one as they come, until that of the last instant before the newest post."""
    last = _before(posts[-1].time, _STEPS[query])
    for answer in engine[query].answers(_PATIENCE):
        yield answer
        if answer.time is not None and answer.time >= last:
            return


def local(iri: str) -> str:
    """The name of a user or of a topic."""
    return iri.removeprefix(NAMESPACE)


def _before(time: datetime, step: timedelta) -> datetime:
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    return epoch + (time - timedelta(microseconds=1) - epoch) // step * step
