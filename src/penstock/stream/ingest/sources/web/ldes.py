"""Linked Data Event Streams: follows the relations of TREE pages, and brings members in the order of their times.

    ldes+https://example.org/observations#interval=1m

Pages are asked for by the lower bounds of their relations. A member is brought when no page that is still to be read
can hold an earlier one. The position has the pages that may change, those that are finished, and the newest ids. It is
stored with the members, so that after a crash none is missing and none comes twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any
from urllib.parse import urldefrag, urljoin, urlsplit

import httpx

from penstock.errors import OptionError
from penstock.io.connect.http import HttpOptions, Wire, check_request, failure_of, headers_of, http_client, reason_of
from penstock.io.connect.options import Microseconds
from penstock.stream.base.clock import Clock
from penstock.stream.ingest.sources.connector import Connector
from penstock.stream.ingest.sources.receiver import Accept, Message, Positions
from penstock.stream.ingest.sources.web.tree_page import ACCEPTED, Collection, Member, Page, read_page

__all__ = ["LdesOptions", "LdesSource"]

_LARGEST = 64 << 20  # bytes of a page
_REDIRECTS = 5
_GONE = 410  # the status of a page whose members are no longer kept
_INTERVAL = Microseconds(60_000_000)
_NO_BOUND = -(1 << 62)


@dataclass(frozen=True, slots=True)
class LdesOptions(HttpOptions):
    """`interval` is the time between two looks at pages that may change, `hosts` are further ones that pages may lead
    to, `timestamp` is the property with a member's time if the stream names none, and `remember` how many ids of
    members are kept beside those of pages that may change."""

    interval: Microseconds = _INTERVAL
    hosts: tuple[str, ...] = ()
    timestamp: str | None = None
    remember: int = 1000


@dataclass(slots=True)
class _Open:
    """A page that is unread or may change: the lower bound of its times, its ETag, and the ids of its members."""

    bound: int
    etag: str | None = None
    ids: tuple[str, ...] = ()
    is_immutable: bool = False


class LdesSource(Connector):
    """Reads all pages, then at each interval those that may change."""

    kind = "ldes"
    Options = LdesOptions
    _open: dict[str, _Open]  # by URL
    _done: dict[str, None]  # the finished pages, in short
    _ids: dict[str, None]  # the members that are in the log, in short, oldest first
    _held: dict[str, Member]  # read, and not yet in the log
    _stored: dict[str, Any]  # the newest position

    def check(self) -> None:
        check_request(self.kind, self.address.resource, self.options)
        if self.options.interval <= 0 or self.options.remember < 1:
            raise OptionError(f"{self.kind}: interval and remember are more than 0")
        self.name = f"ldes:{self.address.resource}"
        self._wire = Wire()

    def run(self, accept: Accept, clock: Clock, position: Positions) -> None:
        self._wire.open()
        self._restore(position.get(""))
        unread = set(self._open)
        with http_client(self.options, redirects=False) as client:
            while not self.stopping:
                try:
                    self._next(client, accept, unread)
                except (httpx.HTTPError, ValueError, OSError) as error:
                    if not self.stopping:
                        self.trouble(reason_of(error))
                    self.back_off(clock)
                    continue
                self.well()
                if not unread:
                    self.pause(clock, self.options.interval)
                    unread = set(self._open)

    def interrupt(self) -> None:
        self._wire.cut()

    def _next(self, client: httpx.Client, accept: Accept, unread: set[str]) -> None:
        """Read the page that may have the earliest members, and bring all that no other page can precede."""
        if unread:
            url = min(unread, key=lambda one: (self._open[one].bound, one))
            page = self._page(client, url)
            if page is not None:
                self._add(url, page, unread)
            unread.discard(url)
        until = min((self._open[one].bound for one in unread), default=1 << 62)
        ready = sorted(
            (member for member in self._held.values() if _order(member) <= until), key=lambda one: (_order(one), one.id)
        )
        for member in ready:
            self._ids[_short(member.id)] = None
            del self._held[_short(member.id)]
        self._finish(unread)
        behind = self._position()
        if ready or behind != self._stored:
            accept([self._message(member) for member in ready], {"": behind})
            self._stored = behind

    def _add(self, url: str, page: Page, unread: set[str]) -> None:
        here = self._open[url]
        here.is_immutable = here.is_immutable or page.is_immutable
        here.ids = tuple(_short(member.id) for member in page.members)
        self._collection = page.collection
        for member in page.members:
            if _short(member.id) not in self._ids:
                self._held.setdefault(_short(member.id), member)
        for node, bound in page.relations.items():
            target = urldefrag(node).url
            if target not in self._open and _short(target) not in self._done:
                self._open[target] = _Open(here.bound if bound is None else max(bound, here.bound))
                unread.add(target)

    def _finish(self, unread: set[str]) -> None:
        """Forget pages that are final and whose members are in the log, and ids beyond those that may come again."""
        for url, page in list(self._open.items()):
            if url not in unread and page.is_immutable and not any(id in self._held for id in page.ids):
                del self._open[url]
                self._done[_short(url)] = None
        needed = {id for page in self._open.values() for id in page.ids}
        others = [id for id in self._ids if id not in needed]
        for id in others[: max(0, len(others) - self.options.remember)]:
            del self._ids[id]

    def _page(self, client: httpx.Client, url: str) -> Page | None:
        """The page, and None if it has not changed; relations to hosts that are not allowed are a `ValueError`."""
        known = self._open[url]
        response, body, final = self._response(client, url, known.etag)
        if response.status_code == _GONE:
            known.is_immutable = True
            return Page(self._collection)
        if reason := failure_of(response):
            raise ValueError(reason if url == self.address.resource else f"{reason} to {url}")
        if response.status_code == 304:
            return None
        page = read_page(body, response.headers.get("content-type", ""), final, self._collection)
        for node in page.relations:
            self._check_host(node)
        known.etag = response.headers.get("etag")
        known.is_immutable = "immutable" in response.headers.get("cache-control", "").lower()
        return page

    def _response(self, client: httpx.Client, url: str, etag: str | None) -> tuple[httpx.Response, bytes, str]:
        """The response behind all redirects, its body and its URL."""
        for _ in range(_REDIRECTS + 1):
            self._check_host(url)
            asked = {"Accept": ACCEPTED} | ({"If-None-Match": etag} if etag else {})
            request = client.build_request("GET", url, headers=asked, extensions=self._wire.extensions)
            if _origin(url) != _origin(self.address.resource):
                for name in headers_of(self.options):
                    request.headers.pop(name, None)
            response = client.send(request, stream=True)
            try:
                if not response.has_redirect_location:
                    return response, _body(response, url), url
                url = urldefrag(urljoin(url, response.headers["location"])).url
            finally:
                response.close()
        raise ValueError("it redirects in circles")

    def _check_host(self, url: str) -> None:
        parts = urlsplit(url)
        allowed = parts.scheme in ("http", "https") and parts.netloc in self.options.hosts
        if _origin(url) != _origin(self.address.resource) and not allowed:
            where = parts.netloc or url
            raise ValueError(f"it leads to {parts.scheme}://{where}, which is not allowed: give hosts={where}")

    def _message(self, member: Member) -> Message:
        headers = () if member.version_of is None else (("version-of", member.version_of.encode()),)
        return Message(
            member.payload,
            key=member.id.encode(),
            headers=headers,
            topic=self.address.resource,
            time=member.time,
            partition="",
            place=f"{self.address.text}@{member.id}",
        )

    def _restore(self, stored: Any) -> None:
        position: Mapping[str, Any] = stored if isinstance(stored, Mapping) else {}
        given = (self.options.timestamp,) if self.options.timestamp else ()
        timestamp, version_of = position.get("timestamp") or given, position.get("version_of", ())
        self._collection = Collection(tuple(timestamp), tuple(version_of))
        self._ids = dict.fromkeys(map(str, position.get("ids", ())))
        self._done = dict.fromkeys(map(str, position.get("done", ())))
        self._held = {}
        pages = position.get("open", {self.address.resource: {"bound": _NO_BOUND}})
        self._open = {
            url: _Open(page["bound"], page.get("etag"), tuple(page.get("ids", ()))) for url, page in pages.items()
        }
        self._stored = self._position()

    def _position(self) -> dict[str, Any]:
        """A page with members that are not in the log yet is stored without its ETag: it is read again."""
        pages = {}
        for url, page in self._open.items():
            is_whole = page.etag is not None and not any(id in self._held for id in page.ids)
            pages[url] = {"bound": page.bound, "ids": list(page.ids)} | ({"etag": page.etag} if is_whole else {})
        collection = {"timestamp": list(self._collection.timestamp), "version_of": list(self._collection.version_of)}
        return {"open": pages, "done": list(self._done), "ids": list(self._ids)} | collection


def _body(response: httpx.Response, url: str) -> bytes:
    body = bytearray()
    for piece in response.iter_bytes():
        body += piece
        if len(body) > _LARGEST:
            raise ValueError(f"{url} has more than {_LARGEST >> 20} MiB")
    return bytes(body)


def _order(member: Member) -> int:
    """The time; a member without one comes at once, and becomes a dead letter."""
    return _NO_BOUND if member.time is None else member.time


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc


def _short(id: str) -> str:
    return blake2b(id.encode(), digest_size=12).hexdigest()
