"""Nothing in a query, an element, a file of data or a checkpoint runs code, reads another file or calls a host."""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock import Engine
from penstock.compile import sql
from penstock.compile.kernels import duckdb_functions
from penstock.compile.kernels.slice_kernel import Kernel, Program, Scan, Slice
from penstock.compile.sql import DUCKDB
from penstock.errors import LoadError, RefusedError, StoreError
from penstock.stream.base.checkpoint_folder import open_folder

S = "http://e/s"
TIME = '"2026-01-01T00:00:00Z"^^<http://www.w3.org/2001/XMLSchema#dateTime>'


# Queries and data call no host


@pytest.fixture
def host() -> Iterator[tuple[str, socket.socket]]:
    """The address of a server, and its socket: `accept` fails as long as nobody has called."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        yield f"http://127.0.0.1:{server.getsockname()[1]}/x", server


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * {{ SERVICE <{0}> {{ ?s ?p ?o }} }}",
        "SELECT * {{ SERVICE SILENT <{0}> {{ ?s ?p ?o }} }}",
        "SELECT * FROM <{0}> {{ ?s ?p ?o }}",
        "SELECT * FROM NAMED <{0}> {{ GRAPH ?g {{ ?s ?p ?o }} }}",
        "LOAD <{0}>",
        "LOAD SILENT <{0}> INTO GRAPH <http://e/g>",
        "SELECT * FROM <file:///etc/passwd> {{ ?s ?p ?o }}",
    ],
)
def test_a_query_calls_no_host_and_reads_no_file(host: tuple[str, socket.socket], query: str) -> None:
    url, server = host
    with Engine() as engine, pytest.raises(RefusedError):
        engine.query(query.format(url))
    with pytest.raises(BlockingIOError):
        server.accept()


@pytest.mark.parametrize("context", ['"{}"', '{{"@import": "{}", "@version": 1.1}}', '["{}"]'])
def test_a_context_of_json_ld_is_never_fetched(host: tuple[str, socket.socket], context: str) -> None:
    url, server = host
    text = f'{{"@context": {context.format(url)}, "@id": "http://e/s", "http://e/p": "o"}}'
    with Engine() as engine:
        with pytest.raises(LoadError, match="the @context is elsewhere, and Penstock does not fetch it"):
            engine.load(text.encode(), format="jsonld")
        engine.stream(S)
        engine.push(S, text, format="jsonld")
        (letter,) = engine.dead_letters(S)
        assert letter.kind == "malformed"
    with pytest.raises(BlockingIOError):
        server.accept()


def test_data_are_not_fetched(host: tuple[str, socket.socket]) -> None:
    url, server = host
    with Engine() as engine, pytest.raises(LoadError, match="Penstock does not fetch data"):
        engine.load(f"{url}.ttl")
    with pytest.raises(BlockingIOError):
        server.accept()


# XML

RDF = """<?xml version="1.0"?><!DOCTYPE r [{entities}]>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e/">
<rdf:Description rdf:about="http://e/s"><e:p>&{name};</e:p></rdf:Description></rdf:RDF>"""


def test_entities_do_not_explode() -> None:
    """Ten entities, each ten times the one before: ten gigabytes."""
    names = "abcdefghij"
    entities = '<!ENTITY a "aaaaaaaaaa">' + "".join(
        f'<!ENTITY {after} "{f"&{before};" * 10}">' for before, after in pairwise(names)
    )
    with Engine() as engine, pytest.raises(LoadError) as caught:
        engine.load(RDF.format(entities=entities, name="j").encode(), format="rdf")
    assert str(caught.value).endswith("the entity b refers to another, which can make gigabytes of it: write it out")


def test_entities_of_text_are_read() -> None:
    with Engine() as engine:
        engine.load(RDF.format(entities='<!ENTITY a "x &amp; &#121;">', name="a").encode(), format="rdf")
        assert [row["o"].value for row in engine.query("SELECT ?o { ?s ?p ?o }")] == ["x & y"]


def test_an_entity_reads_no_file(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    entity = f'<!ENTITY x SYSTEM "{(tmp_path / "secret").as_uri()}">'
    with Engine() as engine:
        with pytest.raises(LoadError):
            engine.load(RDF.format(entities=entity, name="x").encode(), format="rdf")
        assert engine.query("ASK { ?s ?p ?o }").boolean is False


# SQL


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")))
def test_any_string_stays_a_string_in_duckdb(text: str) -> None:
    with CONNECTION.cursor() as cursor:
        (row,) = cursor.execute(f"SELECT {sql.write_expression(sql.text(text), DUCKDB)}").fetchall()
    assert row == (text,)


CONNECTION = duckdb_functions.connect(256)


@pytest.mark.parametrize("name", ['a"b', '"', "a; DROP TABLE t", "--", "a'b"])
def test_any_name_stays_a_name_in_duckdb(name: str) -> None:
    column = sql.write_expression(sql.name(name), DUCKDB)
    with CONNECTION.cursor() as cursor:
        assert cursor.execute(f"SELECT {column} FROM (SELECT 1 AS {column})").fetchall() == [(1,)]


HOSTILE = [
    "SELECT 1, content FROM read_text('{secret}')",
    "SELECT 1, column0 FROM read_csv('{secret}', header = false)",
    "SELECT 1, content FROM read_blob('{secret}')",
    "SELECT 1, file FROM glob('{folder}/*')",
    "SELECT 1, s FROM read_parquet('{other}')",
    "SELECT 1, s FROM read_parquet('{folder}/log/../other.parquet')",
    "SELECT 1, s FROM '{other}'",
    "SELECT 1, s FROM read_parquet('http://127.0.0.1:9/x.parquet')",
    "SELECT 1, s FROM local_table",
    "COPY (SELECT 1) TO '{folder}/written.csv'",
    "ATTACH '{folder}/written.db' AS other",
    "INSTALL httpfs",
    "LOAD httpfs",
    "SET enable_external_access = true",
    "SET allowed_directories = ['/']",
    "EXPORT DATABASE '{folder}/written'",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_text_in_a_kernel_reads_its_own_files_alone(tmp_path: Path, text: str) -> None:
    """Were there a way to write SQL by a query, it would not lead out of the stream."""
    local_table = pa.table({"s": ["<a>"]})
    (tmp_path / "log").mkdir()
    (tmp_path / "secret").write_text("secret\n")
    elements = pa.table({"s": ["<a>"], "p": ["<p>"], "o": ["<o>"], "ts": [1]})
    for place in ("log/it's.parquet", "other.parquet"):
        pq.write_table(elements, tmp_path / place)
    scans = {"stream": Scan(None, (str(tmp_path / "log/it's.parquet"),))}
    types: dict[str, pa.DataType] = {"c0": pa.int64(), "c1": pa.string()}
    schema = pa.schema(types)
    kernel, piece = Kernel(256, 17), Slice(0, 9, scans)
    assert kernel.evaluate(Program("SELECT ts, s FROM stream", schema), {}, piece).num_rows == 1
    hostile = text.format(secret=tmp_path / "secret", other=tmp_path / "other.parquet", folder=tmp_path)
    with pytest.raises(Exception, match=r"Permission Error|Catalog Error|Invalid Input Error"):
        kernel.evaluate(Program(hostile, schema), {}, piece)
    assert local_table.num_rows == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["log", "other.parquet", "secret"]


# Checkpoints


def test_folders_of_a_checkpoint_are_for_their_owner_only(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir(0o755)
    with Engine(checkpoint=tmp_path / "state") as engine:
        engine.stream(S)
        engine.push(S, f"<a:s> <a:p> <a:o> {TIME} .\nbad\n")
        engine.register(f"SELECT * FROM STREAM <{S}> [RANGE 1m STEP 1m] {{ ?s ?p ?o }}")
    folders = [tmp_path / "state", *(path for path in (tmp_path / "state").rglob("*") if path.is_dir())]
    assert {path.name for path in folders} >= {"state", "log", "dead", "registry"}
    assert {stat.S_IMODE(path.stat().st_mode) for path in folders} == {0o700}


def test_a_checkpoint_with_a_link_in_it_is_refused(tmp_path: Path) -> None:
    with Engine(checkpoint=tmp_path / "state") as engine:
        engine.stream(S)
        engine.push(S, f"<a:s> <a:p> <a:o> {TIME} .\n")
    (journal,) = (tmp_path / "state").rglob("journal")
    journal.rename(tmp_path / "elsewhere")
    journal.symlink_to(tmp_path / "elsewhere")
    with Engine(checkpoint=tmp_path / "state") as engine, pytest.raises(StoreError) as caught:
        engine.stream(S)
    assert str(caught.value) == (
        f"The checkpoint {tmp_path}/state holds the link {journal}, which leads out of it: remove it."
    )
    assert (tmp_path / "elsewhere").stat().st_size > 0


def test_the_checkpoint_of_another_user_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    open_folder(tmp_path / "state")
    (tmp_path / "state" / "registry").mkdir()
    owner = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    with pytest.raises(StoreError) as caught:
        open_folder(tmp_path / "state")
    assert str(caught.value) == (
        f"The checkpoint {tmp_path}/state belongs to another user ({owner}), who may have written anything into it: "
        "make it yours (chown) if you trust it."
    )
