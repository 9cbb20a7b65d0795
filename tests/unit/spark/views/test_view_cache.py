"""The cache of materialised views: keys, users, invalidation, replacement, eviction. A fake records dropped names."""

from __future__ import annotations

import pytest

from penstock.spark.views.view_cache import ViewCache


class Session:
    """Records the views that exist and the names that were dropped, as a Spark session would."""

    def __init__(self) -> None:
        self.views: set[str] = set()
        self.dropped: list[str] = []

    def make(self, name: str) -> str:
        self.views.add(name)
        return name

    def drop(self, name: str) -> None:
        self.views.discard(name)
        self.dropped.append(name)


@pytest.fixture
def session() -> Session:
    return Session()


@pytest.fixture
def cache(session: Session) -> ViewCache[str]:
    return ViewCache("test", session.drop)


def test_a_key_has_one_view(session: Session, cache: ViewCache[str]) -> None:
    assert cache.get("key") is None
    name = cache.put("key", session.make)
    assert cache.get("key") == name
    assert session.views == {name}
    assert len(cache) == 1


def test_names_are_unique_across_caches(session: Session) -> None:
    names = [ViewCache[str]("test", session.drop).put("key", session.make) for _ in range(3)]
    assert len(set(names)) == 3
    assert all(name.startswith("penstock_test_") for name in names)


def test_the_value_is_what_make_returns(session: Session) -> None:
    cache = ViewCache[list[str]]("test", session.drop)
    rows = cache.put("key", lambda name: [name])
    assert cache.get("key") is rows


def test_a_view_is_dropped_with_its_last_user(session: Session, cache: ViewCache[str]) -> None:
    name = cache.put("key", session.make, "one")
    cache.get("key", "other")
    cache.release("one")
    assert cache.get("key") == name
    cache.release("other")
    assert session.dropped == [name]
    assert cache.get("key") is None


def test_release_keeps_views_of_others_and_views_without_users(session: Session, cache: ViewCache[str]) -> None:
    shared, unused = cache.put("shared", session.make, "one", "other"), cache.put("unused", session.make)
    own = cache.put("own", session.make, "one")
    cache.release("one")
    cache.release("nobody")
    assert session.dropped == [own]
    assert session.views == {shared, unused}


def test_release_keeps_the_view_of_the_given_key(session: Session, cache: ViewCache[str]) -> None:
    older, newer = (cache.put(span, session.make, "query") for span in (1, 2))
    cache.release("query", kept=2)
    assert session.dropped == [older]
    cache.release("query")
    assert session.dropped == [older, newer]


@pytest.mark.parametrize(
    ("changed", "left"),
    [
        (frozenset({"name"}), {"floor", "nothing"}),
        (frozenset({"name", "floor"}), {"nothing"}),
        (frozenset({"age"}), {"name", "floor", "nothing"}),
        (frozenset(), {"name", "floor", "nothing"}),
        (None, set()),
    ],
)
def test_a_view_is_invalid_when_a_predicate_it_reads_has_changed(
    session: Session, cache: ViewCache[str], changed: frozenset[str] | None, left: set[str]
) -> None:
    reads = {"name": frozenset({"name"}), "floor": frozenset({"floor"}), "nothing": frozenset[str](), "any": None}
    names = {key: cache.put(key, session.make, "query", reads=predicates) for key, predicates in reads.items()}
    cache.invalidate(changed)
    assert {key for key in reads if cache.get(key) is not None} == left
    assert session.views == {names[key] for key in left}
    assert len(cache) == len(left)


def test_a_replaced_view_is_dropped_after_the_new_one_is_made(session: Session, cache: ViewCache[str]) -> None:
    former = cache.put("key", session.make, "one")

    def make(name: str) -> str:
        assert cache.get("key") == former
        assert session.dropped == []
        return session.make(name)

    name = cache.put("key", make, "other")
    assert name != former
    assert session.dropped == [former]
    assert cache.get("key") == name


def test_a_new_view_takes_over_the_users_of_the_former(session: Session, cache: ViewCache[str]) -> None:
    former = cache.put("key", session.make, "one")
    name = cache.put("key", session.make, "other")
    cache.release("other")
    assert session.dropped == [former]
    cache.release("one")
    assert session.dropped == [former, name]


def test_predicates_of_a_replaced_view_no_longer_invalidate(session: Session, cache: ViewCache[str]) -> None:
    cache.put("key", session.make, reads=frozenset({"name"}))
    name = cache.put("key", session.make, reads=frozenset({"floor"}))
    cache.invalidate(frozenset({"name"}))
    assert cache.get("key") == name


def test_the_least_recently_used_view_is_evicted(session: Session) -> None:
    cache = ViewCache[str]("test", session.drop, most=2)
    names = {key: cache.put(key, session.make) for key in "ab"}
    assert cache.get("a") == names["a"]
    cache.put("c", session.make)
    assert session.dropped == [names["b"]]
    assert cache.get("b") is None
    assert len(cache) == 2


def test_replacing_a_view_evicts_no_other(session: Session) -> None:
    cache = ViewCache[str]("test", session.drop, most=2)
    names = [cache.put(key, session.make) for key in "ab"]
    cache.put("a", session.make)
    assert session.dropped == names[:1]


def test_a_view_that_fails_leaves_nothing_behind(session: Session, cache: ViewCache[str]) -> None:
    former = cache.put("key", session.make, "query")

    def fails(name: str) -> str:
        session.make(name)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cache.put("key", fails, "query")
    assert session.views == {former}
    assert cache.get("key") == former


def test_making_a_view_may_make_another(session: Session, cache: ViewCache[str]) -> None:
    def make(name: str) -> str:
        return session.make(f"{name}_on_{cache.put('inner', session.make, 'query')}")

    assert cache.put("outer", make, "query").endswith(cache.get("inner") or "?")
    assert len(cache) == 2


def test_discard_drops_the_view_of_a_key_if_there_is_one(session: Session, cache: ViewCache[str]) -> None:
    name = cache.put("key", session.make, "query")
    cache.discard("other")
    assert session.dropped == []
    cache.discard("key")
    assert session.dropped == [name]
    assert len(cache) == 0
