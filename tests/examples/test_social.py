"""A social service, polled as JSON and as XML: the paper's queries find what counting the posts finds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import timedelta
from typing import Literal

import pytest
from pyspark.sql import SparkSession

from examples.social.listen import FRIENDS, STREAM, TOPICS, declare, listen, local
from examples.social.posts import Post, friends, posts
from examples.social.service import service
from penstock import Answer, Engine

USERS = 6
POSTS = posts(300, USERS, seed=4)


def window(answer: Answer, minutes: int) -> Iterable[Post]:
    assert answer.time is not None
    return [post for post in POSTS if answer.time - timedelta(minutes=minutes) < post.time <= answer.time]


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
