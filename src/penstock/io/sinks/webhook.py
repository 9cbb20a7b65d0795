"""A webhook: each batch of answers is one POST, signed, with a key by which a receiver knows a repeated one.

    webhook+https://example.org/alarms#secret=${env:HOOK_SECRET}

Headers are those of Standard Webhooks: webhook-id, webhook-timestamp, and webhook-signature, which is "v1," and the
base64 of the HMAC-SHA256 of ID.TIMESTAMP.BODY. Idempotency-Key is the id again, QUERY/NUMBER-ANSWERS. A batch that is
delivered again after a crash has the same id, unless more instants were due by then: a receiver must not drop these.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import time
from dataclasses import dataclass, field
from urllib.parse import quote

import httpx

from penstock.errors import OptionError
from penstock.io.connect.http import HttpOptions, check_request, failure_of, http_client, reason_of
from penstock.io.connect.options import SECRET
from penstock.io.connect.secrets import Secret
from penstock.io.sinks.answer_formats import ENCODINGS
from penstock.io.sinks.connector import AnswerFormat, SinkConnector, encoder
from penstock.io.sinks.sink import Batch

__all__ = ["WebhookOptions", "WebhookSink", "signature"]

_BASE64 = "whsec_"  # the prefix of secrets that are written in base64


@dataclass(frozen=True, slots=True)
class WebhookOptions(HttpOptions):
    """`secret` signs (none: not signed), and `key` goes before the query's name in the id, so that queries of the same
    name on several engines, or after a new beginning, have other ids."""

    format: AnswerFormat = "ndjson"
    secret: Secret | None = field(default=None, metadata=SECRET)
    key: str = ""


class WebhookSink(SinkConnector):
    """POSTs the answers. In NDJSON a batch is one request; the other formats hold one answer, so each is a request of
    its own, whose id ends in its place in the batch. Any 2xx means that the receiver has it."""

    kind = "webhook"
    Options = WebhookOptions
    _client: httpx.Client | None = None

    def check(self) -> None:
        check_request(self.kind, self.address.resource, self.options)
        if not self.options.key.isascii():
            raise OptionError(f"{self.kind}: the option key goes into a header: write it in ASCII")

    def send(self, batch: Batch) -> None:
        id = self.options.key + quote(batch.query, safe="-._~") + f"/{batch.number}"
        encoded = encoder(self.options.format)
        if self.options.format == "ndjson":
            lines = [encoded(answer) + b"\n" for answer in batch.answers]
            self._post(f"{id}-{len(lines)}", b"".join(lines))
            return
        for place, answer in enumerate(batch.answers):
            self._post(f"{id}/{place}", encoded(answer))

    def close(self) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None

    def _post(self, id: str, body: bytes) -> None:
        headers = {"Content-Type": ENCODINGS[self.options.format].media_type, "Idempotency-Key": id, "webhook-id": id}
        if self.options.secret is not None:
            stamp = int(time.time())
            headers["webhook-timestamp"] = str(stamp)
            headers["webhook-signature"] = signature(self.options.secret.reveal(), id, stamp, body)
        if self._client is None:
            self._client = http_client(self.options, redirects=False)
        try:
            response = self._client.post(self.address.resource, content=body, headers=headers)
        except httpx.HTTPError as error:
            raise ConnectionError(reason_of(error)) from None
        if reason := failure_of(response) or (None if response.is_success else "the server says 304 Not Modified"):
            raise ConnectionError(f"{reason} to the batch {id}")


def signature(secret: str, id: str, stamp: int, body: bytes) -> str:
    """The signature of a request; a receiver computes it too, compares in constant time, and looks at the stamp."""
    signed = hmac.digest(_key(secret), f"{id}.{stamp}.".encode() + body, "sha256")
    return f"v1,{base64.b64encode(signed).decode()}"


def _key(secret: str) -> bytes:
    if not secret.startswith(_BASE64):
        return secret.encode()
    try:
        return base64.b64decode(secret.removeprefix(_BASE64), validate=True)
    except binascii.Error:
        raise ValueError(f"the secret begins with {_BASE64}, and base64 has to follow") from None
