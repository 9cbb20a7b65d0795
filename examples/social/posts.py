"""Posts of a social service, and who knows whom: generated, the same for the same seed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random

__all__ = ["NAMESPACE", "Post", "friends", "knows", "posts"]

NAMESPACE = "http://c-sparql.cefriel.it/sdow-demo/"
_BEGIN = datetime(2009, 7, 20, 22, 0, tzinfo=UTC)
_TITLES = {
    "movies": ("The Proposal", "Up", "Moon"),
    "video_games": ("Mario Kart Wii", "Wii Sports"),
    "books": ("The Girl Who Played with Fire", "Anathem"),
    "music": ("Merriweather Post Pavilion", "Bitte Orca"),
    "wine": ("Barolo 2004", "Nero d'Avola"),
}
_SITES = {
    "movies": "imdb.com", "video_games": "gamefaqs.com", "books": "goodreads.com", "music": "last.fm",
    "wine": "snooth.com",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Post:
    """A user visits a page about something of a category."""

    id: str
    user: str
    title: str
    site: str
    category: str
    time: datetime


def posts(count: int, users: int, seed: int) -> list[Post]:
    """Posts in the order of time, some 16 seconds apart."""
    random, time, made = Random(seed), _BEGIN, []
    for number in range(1, count + 1):
        time += timedelta(seconds=random.randint(2, 30))
        category = random.choice(list(_TITLES))
        title = random.choice(_TITLES[category])
        made.append(Post(f"i{number}", f"id{random.randint(2, users)}", title, _SITES[category], category, time))
    return made


def friends(users: int) -> list[str]:
    """The friends of id1: every third user."""
    return [f"id{number}" for number in range(2, users + 1, 3)]


def knows(users: int) -> bytes:
    """The graph of who knows whom, in N-Triples."""
    lines = (f"<{NAMESPACE}id1> <http://xmlns.com/foaf/0.1/knows> <{NAMESPACE}{friend}> ." for friend in friends(users))
    return "\n".join(lines).encode()
