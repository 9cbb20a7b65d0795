"""What the pages show besides Python: queries that parse, windows, commands with their output, and links."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import pytest
from typer.testing import CliRunner

from penstock import cli
from penstock.algebra.build import translate
from tests.support.documents import DOCS, ROOT, blocks, name_of, pages_with

REFERENCE = sorted((DOCS / "reference").glob("*.md"))
LANGUAGES = "\n".join(page.read_text("utf-8") for page in REFERENCE)
EMITS = {  # what each query of the reference reports
    "streaming-sparql": ["intervals"],
    "cqels": ["istream"],
    "rsp-ql": ["istream"],
    "ep-sparql": [None, "intervals"],
}


@pytest.mark.parametrize("page", pages_with("sparql", DOCS / "reference"), ids=name_of)
def test_queries(page: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = [translate(f"PREFIX : <http://example.org/> {text}").emit for text in blocks(page, "sparql")]
    assert found == EMITS[page.stem]


@pytest.mark.parametrize("page", pages_with("sparql"), ids=name_of)
def test_queries_of_all_pages_parse(page: Path) -> None:
    assert all(translate(f"PREFIX : <http://example.org/> {text}") for text in blocks(page, "sparql"))


def test_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (console,) = blocks(DOCS / "how-to" / "translate.md", "console")
    shown, *commands = [text.partition("\n") for text in console.split("$ ")[1:]]
    Path(shown[0].removeprefix("cat ")).write_text(shown[2])
    for command, _, expected in commands:
        result = CliRunner().invoke(cli.app, command.split()[1:])
        assert result.stdout + result.stderr == expected
    assert len(commands) == 2


@pytest.mark.parametrize("window", sorted(set(re.findall(r"`(WINDOW (?:RANGE|ELEMS)[^`{]*)`", LANGUAGES))))
def test_windows_of_streaming_sparql(window: str) -> None:
    assert translate(f"ASK FROM STREAM <urn:s> {window} {{ ?x ?y ?z }}").emit == "intervals"


@pytest.mark.parametrize("window", sorted(set(re.findall(r"`(\[[A-Z][^\]`]*\])`", LANGUAGES))))
def test_windows_in_brackets(window: str) -> None:
    assert translate(f"ASK {{ STREAM <urn:s> {window} {{ ?x ?y ?z }} }}").streams
    assert translate(f"ASK FROM NAMED WINDOW <urn:w> ON <urn:s> {window} {{ WINDOW <urn:w> {{ ?x ?y ?z }} }}").streams


@pytest.mark.parametrize("document", sorted(ROOT.glob("*.md")), ids=name_of)
def test_links_of_the_root_lead_to_files(document: Path) -> None:
    """`make docs` checks the links between pages, and of these documents only those that are in the site."""
    links = re.findall(r"\]\((?!https?:)([^)#]+)", document.read_text("utf-8"))
    assert [link for link in links if not (ROOT / link).exists()] == []
