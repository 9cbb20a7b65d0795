"""Pages that MkDocs makes at build time: the CLI and API references, and the documents of the project's root."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[2]
ROOT_DOCUMENTS = {name: f"project/{name.lower()}" for name in ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")}
API = """# Python API

Every name on this page is exported by `penstock` itself. All other names may change without notice.
"""

DECISIONS = """# Decisions

Half a page for each decision that someone will question later: what was seen, what was done, what it costs.
"""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages to those of the folder `docs`."""
    pages = {
        "reference/cli.md": cli_reference(),
        "reference/api.md": api_reference(),
        "decisions/index.md": decisions(),
    }
    pages |= {page: root_document(name) for name, page in ROOT_DOCUMENTS.items()}
    for page, text in pages.items():
        files.append(File.generated(config, page, content=text))
    return files


def cli_reference() -> str:
    """The help texts of all commands as Markdown, by typer's own writer; examples become blocks of code."""
    command = [sys.executable, "-m", "typer", "penstock.cli", "utils", "docs", "--name", "penstock"]
    text = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout
    return re.sub(
        r"((?:^  \S.*\n)+)", r"\n```sh\n\1```\n", text.replace("# `penstock`", "# Command line", 1), flags=re.M
    )


def api_reference() -> str:
    """A section for each name in `penstock.__all__`, which mkdocstrings fills without importing Penstock."""
    return "\n".join([API, *(f"::: penstock.{name}\n" for name in public_names())])


def public_names() -> list[str]:
    tree = ast.parse((ROOT / "src/penstock/__init__.py").read_text("utf-8"))
    (names,) = (
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    )
    return sorted(names, key=lambda name: (name != "Engine", name.endswith(("Error", "Warning")), name))


def decisions() -> str:
    """All decisions by their titles."""
    found = sorted((ROOT / "docs/decisions").glob("0*.md"))
    titles = [(page.name, page.read_text("utf-8").partition("\n")[0].removeprefix("# ")) for page in found]
    rows = [f"| {number} | [{title}]({name}) |" for name, line in titles for number, title in [line.split(". ", 1)]]
    return "\n".join([DECISIONS, "| # | decision |", "| ---: | --- |", *rows, ""])


def root_document(name: str) -> str:
    """A document of the project's root, its links as they are from the folder `project` of the site."""
    text = (ROOT / name).read_text("utf-8")
    for document, page in ROOT_DOCUMENTS.items():
        text = text.replace(f"]({document}", f"]({Path(page).name}")
    return text.replace("](docs/project/", "](").replace("](docs/", "](../")
