"""A social service, polled as JSON and as XML: the paper's queries find what counting the posts finds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from typing import Literal

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from examples.social.listen import FOLDER, FRIENDS, STREAM, TOPICS, declare, listen, local, source
from examples.social.posts import NAMESPACE, Post, friends, posts
from examples.social.service import service
from penstock import Answer, Engine
from penstock.stream.ingest.ingest import Ingest
from penstock.stream.ingest.stream_declaration import declare as declare_stream
from penstock.testing import ManualClock

USERS = 6
POSTS = posts(300, USERS, seed=4)


def window(answer: Answer, minutes: int) -> Iterable[Post]:
    assert answer.time is not None
    return [post for post in POSTS if answer.time - timedelta(minutes=minutes) < post.time <= answer.time]


@pytest.mark.parametrize(("format", "time"), [("json", "$.time"), ("xml", "time")])
def test_every_post_is_lifted_once(tmp_path: Path, format: Literal["json", "xml"], time: str) -> None:
    clock, mapping = ManualClock(int(POSTS[-1].time.timestamp()) * 1_000_000), FOLDER / f"mapping-{format}.ttl"
    with service(POSTS, more=40) as server:
        declared = declare_stream(
            source(server.url, format), None, None, False, format, mapping=mapping, time_path=time
        )
        ingest = Ingest(None, tmp_path, clock, {STREAM: declared})  # type: ignore[arg-type]
        ingest.start()
        for _ in range(10):
            clock.await_waiter()
            clock.advance(100_000)
        clock.await_waiter()
        paths = [path for segment in ingest.log.segments(STREAM) for path in segment.paths]
        elements = [row for path in paths for row in pq.read_table(path, partitioning=None).to_pylist()]
        ingest.close()
    topics = [(row["s"], row["o"], row["ts"]) for row in elements if row["p"] == "<http://rdfs.org/sioc/ns#topic>"]
    assert sorted(topics) == sorted(
        (f"<{NAMESPACE}{post.id}>", f"<{NAMESPACE}{post.category}>", int(post.time.timestamp()) * 1_000_000)
        for post in POSTS
    )
    assert len(elements) == 7 * len(POSTS)


@pytest.mark.parametrize("format", ["json", "xml"])
def test_the_papers_queries_on_a_polled_service(spark: SparkSession, format: Literal["json", "xml"]) -> None:
    with service(POSTS, more=40) as server, Engine(spark=spark) as engine:
        declare(engine, server.url, USERS, format)
        engine.start()
        visited, topics = list(listen(engine, FRIENDS, POSTS)), list(listen(engine, TOPICS, POSTS))
        status = engine.status.streams[STREAM]
    assert (status.malformed, status.late) == (0, 0)
    assert len(visited) > 12
    assert len(topics) > 6
    known = set(friends(USERS))
    for answer in visited:
        found = {(local(row["friend"].value), local(row["topic"].value)) for row in answer.rows}
        assert found == {(post.user, post.category) for post in window(answer, 60) if post.user in known}
    for answer in topics:
        counted = {local(row["topic"].value): int(row["number"].value) for row in answer.rows}
        assert counted == Counter(post.category for post in window(answer, 30))
