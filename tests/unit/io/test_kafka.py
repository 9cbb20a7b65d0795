"""Addresses, settings and sentences of Kafka, without a broker."""

from __future__ import annotations

import pytest

from penstock.errors import OptionError
from penstock.io.connect.kafka import Topics, said


def test_topics_by_name_and_by_pattern() -> None:
    there = ["orders", "sensors.a", "sensors.b", "old.sensors.a", "__consumer_offsets"]
    assert Topics.parse("orders,sensors.a").chosen(there) == ["orders", "sensors.a"]
    assert Topics.parse(r"^sensors\..*").chosen(there) == ["sensors.a", "sensors.b"]
    assert Topics.parse("^.*").chosen(there) == sorted(there)[1:], "Kafka's own are not meant"


def test_topics_that_are_missing() -> None:
    assert Topics.parse("orders").missing(["orders"]) is None
    assert Topics.parse("order").missing(["orders"]) == "there is no topic order (did you mean orders?)"
    assert Topics.parse("^x.*").missing(["orders"]) == "no topic is like ^x.*"
    with pytest.raises(OptionError, match=r"\^\( is no regular expression"):
        Topics.parse("^(")


def test_texts_of_errors_do_not_change_from_attempt_to_attempt() -> None:
    text = "h:1/bootstrap: Connect to ipv4#1.2.3.4:1 failed: Connection refused (after 3ms in state CONNECT)"
    assert said(text) == "Connect to ipv4#1.2.3.4:1 failed: Connection refused"
