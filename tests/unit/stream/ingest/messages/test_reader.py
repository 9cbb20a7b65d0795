"""Messages of every format become elements of the right times, and bad ones dead letters with a reason. No broker."""

from __future__ import annotations

import io
import json
from base64 import b64encode
from typing import Any

import pytest

from penstock.errors import LoadError, MappingError, OptionError
from penstock.io.connect.clients import client
from penstock.stream.ingest.element_reader import of_blocks
from penstock.stream.ingest.elements import Block
from penstock.stream.ingest.late_filter import Reading
from penstock.stream.ingest.messages.message import Message
from penstock.stream.ingest.stream_declaration import Declared, declare
from tests.support.arrivals import SECOND, STREAM

NOW = 77 * SECOND
RESULT, PHENOMENON = "http://www.w3.org/ns/sosa/resultTime", "http://www.w3.org/ns/sosa/phenomenonTime"
TIME = '"1970-01-01T00:00:05Z"^^<http://www.w3.org/2001/XMLSchema#dateTime>'


def declared(**options: Any) -> Declared:
    return declare(None, None, None, False, options.pop("format", None), **options)


def read(messages: list[Message], options: Declared) -> tuple[list[tuple[Any, ...]], list[str]]:
    """The elements as (s, o, seconds, g), and the reasons of the others."""
    rows, reasons = list[tuple[Any, ...]](), list[str]()
    for item in of_blocks(STREAM, [Block(STREAM, stamp=NOW, messages=messages)], "push-0", options):
        assert isinstance(item, Reading)
        for row in item.elements.to_pylist():
            rows.append((row["s"], row["o"], row["ts"] / SECOND, row.get("g")))
        reasons += [f"{bad.source}: {bad.reason}" for bad in item.malformed]
    return rows, reasons


def message(payload: str, **others: Any) -> Message:
    return Message(payload.encode(), place="t/0@7", **others)


def test_lines_of_messages_have_their_own_times_or_those_of_their_messages() -> None:
    timed, plain = f"<x:a> <x:p> <x:o> {TIME} .", "<x:b> <x:p> <x:o> .\n<x:c> <x:p> <x:o> <x:g> ."
    messages = [message(timed, time=1 * SECOND), message(plain, time=2 * SECOND), message(plain, time=3 * SECOND)]
    rows, reasons = read(messages, declared(format="nquads", time="broker"))
    assert [(s, when, g) for s, _, when, g in rows] == [
        ("<x:a>", 5, None), ("<x:b>", 2, None), ("<x:c>", 2, "<x:g>"), ("<x:b>", 3, None), ("<x:c>", 3, "<x:g>"),
    ]  # fmt: skip
    assert reasons == []
    rows, _ = read(messages, declared(format="nquads", time="arrival"))
    assert [when for _, _, when, _ in rows] == [5, 77, 77, 77, 77]
    rows, reasons = read(messages[:2], declared(format="nquads"))
    assert ([when for _, _, when, _ in rows], len(reasons)) == ([5], 2)
    assert reasons[0].startswith("t/0@7: ")


def test_many_lines_keep_the_times_of_their_messages() -> None:
    """More than the slow parser takes, with malformed lines between."""
    bodies = [f'<x:s{n}> <x:p> <x:o> .\nbad\n<x:s{n}> <x:p> "\\u00e9" .' for n in range(200)]
    messages = [message(body, time=n * SECOND) for n, body in enumerate(bodies)]
    rows, reasons = read(messages, declared(format="nquads", time="broker"))
    assert [(s, when) for s, _, when, _ in rows] == [(f"<x:s{n}>", n) for n in range(200) for _ in range(2)]
    assert len(reasons) == 200


@pytest.mark.parametrize("format", ["nquads", "nt", "turtle", "trig"])
def test_the_time_is_found_in_the_data(format: str) -> None:
    first = f"<x:o1> <x:value> <x:5> .\n<x:o1> <{PHENOMENON}> {TIME} ."
    options = declared(format=format, time="data", time_property=[RESULT, PHENOMENON])
    rows, reasons = read([message(first), message("<x:o2> <x:value> <x:6> .")], options)
    assert [(s, when) for s, _, when, _ in rows] == [("<x:o1>", 5), ("<x:o1>", 5)]
    assert reasons == [f"t/0@7: the message has no time: no triple has <{RESULT}> or <{PHENOMENON}>"]


def test_graphs_of_a_message_have_their_own_times() -> None:
    text = f"""
      <x:g1> <{RESULT}> "1970-01-01T00:00:09Z"^^<http://www.w3.org/2001/XMLSchema#dateTime> .
      GRAPH <x:g1> {{ <x:a> <x:p> <x:b> }}
      GRAPH <x:g2> {{ <x:c> <x:p> <x:d> . <x:c> <{RESULT}> {TIME} }}
      <x:e> <x:p> <x:f> .
    """
    rows, _ = read([message(text)], declared(format="trig", time="data", time_property=RESULT))
    assert [(s, when, g) for s, _, when, g in rows] == [
        ("<x:a>", 9, "<x:g1>"), ("<x:c>", 5, "<x:g2>"), ("<x:c>", 5, "<x:g2>"), ("<x:e>", 9, None),
    ]  # fmt: skip


def test_messages_are_taken_whole_or_not_at_all() -> None:
    good, bad = '{"@id": "x:a", "x:p": {"@id": "x:b"}}', '{"@id": "x:c", "x:p": "v", "@type": }'
    rows, reasons = read([message(bad), message(good)], declared(format="jsonld", time="arrival"))
    assert [(s, when) for s, _, when, _ in rows] == [("<x:a>", 77)]
    assert len(reasons) == 1
    rows, reasons = read([message("<x:a> <x:p> <x:b> . <x:c> <x:p>")], declared(format="turtle", time="arrival"))
    assert (rows, len(reasons)) == ([], 1)


def test_ndjsonld_has_a_document_in_each_line() -> None:
    lines = '{"@id": "x:a", "x:p": 1}\n\nno JSON\n{"@id": "x:b", "x:p": 2}\n'
    rows, reasons = read([message(lines, time=4 * SECOND)], declared(format="ndjsonld", time="broker"))
    assert [(s, when) for s, _, when, _ in rows] == [("<x:a>", 4), ("<x:b>", 4)]
    assert len(reasons) == 1


def test_ndjsonld_documents_of_a_message_may_share_a_time_in_the_data() -> None:
    line = '{"@id": "x:%s", "%s": {"@value": "1970-01-01T00:00:05Z", "@type": "%sdateTime"}}'
    text = "\n".join(line % (name, RESULT, "http://www.w3.org/2001/XMLSchema#") for name in "ab")
    rows, reasons = read([message(text)], declared(format="ndjsonld", time="data", time_property=RESULT))
    assert ([(s, when) for s, _, when, _ in rows], reasons) == ([("<x:a>", 5), ("<x:b>", 5)], [])


def test_blank_nodes_are_of_their_message() -> None:
    rows, _ = read([message("_:a <x:p> _:a ."), message("_:a <x:p> _:a .")], declared(format="turtle", time="arrival"))
    assert rows[0][0] == rows[0][1]
    assert rows[0][0] != rows[1][0]


def test_a_message_without_the_time_of_a_broker_is_a_dead_letter() -> None:
    for format in ("nquads", "turtle"):
        rows, reasons = read([message("<x:a> <x:p> <x:b> .")], declared(format=format, time="broker"))
        assert (rows, reasons) == ([], ["t/0@7: the broker has given the message no time"])


def test_graphs_with_times_are_read_as_before() -> None:
    text = f"<x:g> <http://www.w3.org/ns/prov#generatedAtTime> {TIME} . GRAPH <x:g> {{ <x:a> <x:p> <x:b> }}"
    assert read([message(text)], declared(format="trig")) == ([("<x:a>", "<x:b>", 5, "<x:g>")], [])


# Jelly


def jelly(*statements: tuple[str, ...]) -> bytes:
    generic = client("pyjelly.integrations.generic.generic_sink", "jelly", "a test")
    sink = generic.GenericStatementSink()
    for s, p, o in statements:
        node = generic.Literal(o[1:], None, None) if o.startswith('"') else generic.IRI(o)
        sink.add(generic.Triple(generic.IRI(s), generic.IRI(p), node))
    out = io.BytesIO()
    sink.serialize(out)
    return out.getvalue()


def test_jelly() -> None:
    pytest.importorskip("pyjelly", reason="the extra jelly is not installed")
    payload = jelly(("x:a", "x:p", "x:b"), ("x:a", "x:q", '"v'))
    good, bad = Message(payload, time=3 * SECOND), Message(b"\x0a\xff\xff", time=0, place="t/0@8")
    rows, reasons = read([good, bad], declared(format="jelly", time="broker"))
    assert [(s, o, when) for s, o, when, _ in rows] == [("<x:a>", "<x:b>", 3), ("<x:a>", '"v"', 3)]
    assert len(reasons) == 1
    assert reasons[0].startswith("t/0@8: not Jelly: ")


# CloudEvents

EVENT = {"specversion": "1.0", "id": "1", "source": "/sensors", "type": "reading", "time": "1970-01-01T00:00:05Z"}


def test_cloud_events_in_json() -> None:
    data = {"@id": "x:a", "x:p": {"@id": "x:b"}}
    events = [
        EVENT | {"data": data},
        EVENT | {"datacontenttype": "text/turtle", "data": "<x:c> <x:p> <x:d> ."},
        EVENT | {"datacontenttype": "text/turtle", "data_base64": b64encode(b"<x:e> <x:p> <x:f> .").decode()},
        EVENT | {"datacontenttype": "image/png", "data": ""},
        {"id": "1"},
    ]
    messages = [message(json.dumps(event), time=9 * SECOND) for event in events] + [message("no JSON")]
    rows, reasons = read(messages, declared(format="cloudevents"))
    assert [(s, when) for s, _, when, _ in rows] == [("<x:a>", 5), ("<x:c>", 5), ("<x:e>", 5)]
    assert [reason.partition(";")[0].partition(":")[2].strip() for reason in reasons] == [
        "the event has data of the type image/png",
        "no CloudEvent: it has no specversion, source, type",
        "neither an event in JSON, nor has it headers of one: Expecting value: line 1 column 1 (char 0)",
    ]


@pytest.mark.parametrize("prefix", ["ce_", "ce-", ""])
def test_cloud_events_with_headers(prefix: str) -> None:
    headers = [(f"{prefix}{name}", value.encode()) for name, value in EVENT.items()]
    headers.append(("content-type", b"application/n-triples; charset=utf-8"))
    rows, reasons = read([message("<x:a> <x:p> <x:b> .", headers=tuple(headers))], declared(format="cloudevents"))
    assert (rows, reasons) == ([("<x:a>", "<x:b>", 5, None)], [])


# Lifting

CONTEXT = json.dumps({"@context": {"@vocab": "http://e/", "id": None, "t": None}, "@id": "http://e/sensor/{id}"})


@pytest.fixture
def mapping(tmp_path: Any) -> str:
    file = tmp_path / "sensors.jsonld"
    file.write_text(CONTEXT)
    return str(file)


def test_messages_are_lifted_by_a_mapping(mapping: str) -> None:
    messages = [message('{"id": 1, "v": "a", "t": 5}'), message("no JSON"), message('{"id": 2, "v": "b"}')]
    options = declared(mapping=mapping, time_path="$.t", time_unit="s")
    rows, reasons = read(messages, options)
    assert rows == [("<http://e/sensor/1>", '"a"', 5, None)]
    assert [reason[:7] for reason in reasons] == ["t/0@7: "] * 2
    assert any("has no time at $.t" in reason for reason in reasons)


def test_lifted_messages_may_have_the_time_of_the_broker(mapping: str) -> None:
    messages = [message('{"id": 1, "v": "a"}', time=SECOND), message('{"id": 2, "v": "b"}', time=2 * SECOND)]
    rows, _ = read(messages, declared(mapping=mapping, time="broker"))
    assert [(s, when) for s, _, when, _ in rows] == [("<http://e/sensor/1>", 1), ("<http://e/sensor/2>", 2)]
    rows, _ = read(messages, declared(mapping=mapping, time="arrival"))
    assert [when for _, _, when, _ in rows] == [77, 77]


def test_events_and_lines_are_lifted(mapping: str) -> None:
    event = message(json.dumps(EVENT | {"data": {"id": 3, "v": "c"}}))
    rows, reasons = read([event], declared(mapping=mapping, format="cloudevents"))
    assert (rows, reasons) == ([("<http://e/sensor/3>", '"c"', 5, None)], [])
    lines = message('{"id": 1, "v": "a"}\n{"id": 2, "v": "b"}\n')
    rows, _ = read([lines], declared(mapping=mapping, format="ndjson", time="arrival"))
    assert len(rows) == 2


def test_a_mapping_is_checked_when_it_is_declared(tmp_path: Any, mapping: str) -> None:
    with pytest.raises(OptionError, match="where is the time of a message"):
        declared(mapping=mapping)
    with pytest.raises(LoadError, match="No such file"):
        declared(mapping=tmp_path / "none.ttl")
    (tmp_path / "bad.jsonld").write_text('{"@context": {')
    with pytest.raises(MappingError, match=r"bad\.jsonld"):
        declared(mapping=tmp_path / "bad.jsonld", time="arrival")


@pytest.mark.parametrize("address", ["kafka://127.0.0.1:9092/readings", "mqtt://127.0.0.1/house/#"])
def test_a_typo_in_the_mapping_of_a_brokers_stream_is_one_sentence(tmp_path: Any, address: str) -> None:
    file = tmp_path / "rooms.jsonld"
    file.write_text('{"@context": {"v": "http://e/v"},\n "@id": "http://e/{@topik}"}')
    with pytest.raises(MappingError) as caught:
        declare(address, None, None, False, None, mapping=file, time="arrival")
    assert str(caught.value) == (
        f"{file}, line 2, column 9: the template 'http://e/{{@topik}}': a message has no @topik; "
        "there are @topic, @topic.N, @key and @header.NAME; did you mean @topic?\n"
        '   "@id": "http://e/{@topik}"}\n'
        "          ^^^^^^^^^^^^^^^^^^^"
    )


def test_a_mapping_is_remembered_with_its_text(tmp_path: Any, mapping: str) -> None:
    options = declared(mapping=mapping, time="arrival")
    kept = json.loads(json.dumps(options.remembered()))
    (tmp_path / "sensors.jsonld").unlink()
    assert Declared.from_json(kept) == options
    assert read([message('{"id": 1, "v": "a"}')], Declared.from_json(kept))[0] != []


def test_partitions_are_read_by_themselves() -> None:
    options = Declared(format="turtle", time="broker", origin="fake:t")
    some = [Message(b"<x:a> <x:p> <x:b> .", partition=name, time=n) for n, name in enumerate("abab")]
    items = list(of_blocks(STREAM, [Block(STREAM, stamp=NOW, messages=some)], "push-0", options))
    assert [(item.partition, item.elements.num_rows) for item in items if isinstance(item, Reading)] == [
        ("a", 2), ("b", 2),
    ]  # fmt: skip
