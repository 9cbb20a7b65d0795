"""`penstock lift`: triples to standard output, failures to standard error, exit codes as elsewhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from penstock import cli

DATE_TIME = "http://www.w3.org/2001/XMLSchema#dateTime"
RML = """@prefix rml: <http://w3id.org/rml/> .
@prefix : <http://e/> .
:M rml:logicalSource [ rml:referenceFormulation rml:{} ];
  rml:subjectMap [ rml:template "http://e/{{id}}" ];
  rml:predicateObjectMap [ rml:predicate :p; rml:objectMap [ rml:reference "{}" ] ].
"""


def run(*arguments: str | Path, stdin: bytes | None = None) -> Result:
    return CliRunner().invoke(cli.app, ["lift", *map(str, arguments)], input=stdin)


@pytest.fixture
def mapping(tmp_path: Path) -> Path:
    path = tmp_path / "m.ttl"
    path.write_text(RML.format("JSONPath", "$.v"), "utf-8")
    return path


@pytest.fixture
def readings(tmp_path: Path) -> Path:
    path = tmp_path / "readings.ndjson"
    lines = [{"id": 1, "v": "a", "t": 10}, {"id": 2, "v": "b\n", "t": 11}]
    path.write_text("\n".join(map(json.dumps, lines)) + "\n\n", "utf-8")
    return path


def test_triples_as_n_quads(mapping: Path, readings: Path) -> None:
    result = run(readings, "--mapping", mapping)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == '<http://e/1> <http://e/p> "a" .\n<http://e/2> <http://e/p> "b\\n" .\n'


def test_times_make_timestamped_n_quads(mapping: Path, readings: Path) -> None:
    result = run(readings, "-m", mapping, "--time", "$.t", "--time-unit", "s", "--limit", "1")
    assert result.stdout == f'<http://e/1> <http://e/p> "a" "1970-01-01T00:00:10Z"^^<{DATE_TIME}> .\n'


def test_turtle_has_the_prefixes_of_the_mapping(tmp_path: Path, mapping: Path, readings: Path) -> None:
    result = run(readings, "-m", mapping, "--output", "turtle")
    assert "@prefix rml: <http://w3id.org/rml/> ." in result.stdout
    assert '<http://e/1> <http://e/p> "a" .' in result.stdout


def test_topic_key_and_headers_are_given(tmp_path: Path, readings: Path) -> None:
    mapping = tmp_path / "m.ttl"
    for reference, value in (("@topic", "a/b"), ("@topic.2", "b"), ("@key", "k"), ("@header.Unit", "km/h=1")):
        mapping.write_text(RML.format("JSONPath", reference), "utf-8")
        said = ["--topic", "a/b", "--key", "k", "--message-header", "unit=km/h=1", "--limit", "1"]
        assert run(readings, "-m", mapping, *said).stdout == f'<http://e/1> <http://e/p> "{value}" .\n'
    result = run(readings, "-m", mapping, "--message-header", "unit")
    assert result.exit_code == 2
    assert "--message-header unit: write NAME=VALUE, as in --message-header unit=km/h" in result.stderr


def test_failures_are_told_with_their_number(mapping: Path, tmp_path: Path) -> None:
    file = tmp_path / "bad.ndjson"
    file.write_text('{"id": 1, "v": 2}\nnonsense\n', "utf-8")
    result = run(file, "-m", mapping)
    assert result.exit_code == 1
    assert result.stdout.startswith("<http://e/1>")
    assert result.stderr == f"{file}, message 2: not JSON: Expecting value at column 1 of 'nonsense'\n"


def test_field_that_does_not_occur_is_told(mapping: Path, tmp_path: Path) -> None:
    file = tmp_path / "one.json"
    file.write_text('{"id": 1, "vv": 2}', "utf-8")
    result = run(file, "-m", mapping)
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == f"{file}: $.v occurs in no message; did you mean $.vv?\n"


def test_csv_and_xml(tmp_path: Path) -> None:
    for name, kind, reference, text in (
        ("x.csv", "CSV", "v", "id,v\n1,a\n"),
        ("x.xml", "XPath", "v", "<r><id>1</id><v>a</v></r>"),
    ):
        (tmp_path / name).write_text(text, "utf-8")
        (tmp_path / "m.ttl").write_text(RML.format(kind, reference), "utf-8")
        result = run(tmp_path / name, "-m", tmp_path / "m.ttl")
        assert (result.stdout, result.exit_code) == ('<http://e/1> <http://e/p> "a" .\n', 0)


def test_standard_input_and_context(tmp_path: Path) -> None:
    context = tmp_path / "c.jsonld"
    context.write_text(json.dumps({"@context": {"v": "http://e/v"}, "@id": "http://e/{id}"}), "utf-8")
    result = run("-", "-m", context, "--format", "json", stdin=b'{"id": "x y", "v": true}')
    assert result.stdout == '<http://e/x%20y> <http://e/v> "true"^^<http://www.w3.org/2001/XMLSchema#boolean> .\n'


def test_wrong_mapping_and_options(tmp_path: Path, mapping: Path, readings: Path) -> None:
    wrong = tmp_path / "wrong.ttl"
    wrong.write_text(mapping.read_text("utf-8").replace("rml:template", "rml:templte"), "utf-8")
    result = run(readings, "-m", wrong)
    assert result.exit_code == 2
    assert result.stderr == (
        f"{wrong}, line 4, column 20: rml:templte is not a word of RML\n"
        '    rml:subjectMap [ rml:templte "http://e/{id}" ];\n'
        "                     ^^^^^^^^^^^\n"
        "hint: did you mean template?\n"
    )
    assert (
        run(readings, "-m", mapping, "--format", "csv").stderr == "the mapping is for json, ndjson, and not for csv\n"
    )
    assert run(readings, "-m", mapping, "--time", "$..t").exit_code == 2
    plain = readings.rename(tmp_path / "readings")
    said = f"{plain}: the ending does not say the format: add --format json, ndjson, csv or xml\n"
    assert run(plain, "-m", mapping).stderr == said
    missing = run(tmp_path / "none.json", "-m", mapping)
    assert (missing.exit_code, missing.stderr) == (1, f"{tmp_path / 'none.json'}: No such file or directory\n")
    assert run(plain, "-m", tmp_path / "none.ttl", "-f", "json").exit_code == 1
