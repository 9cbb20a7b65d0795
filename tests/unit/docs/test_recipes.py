"""The recipes of CONTRIBUTING for a package of one's own, installed and used as they stand there."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from queue import Queue
from types import SimpleNamespace

import pytest

from penstock.io.sinks import Sink, open_sink
from penstock.knowledge.oxigraph import OxigraphStore
from penstock.knowledge.store import open_store
from penstock.stream.ingest import sources
from penstock.stream.ingest.sources.source import BEGINNING
from penstock.testing import ManualClock

CONTRIBUTING = Path(__file__).parents[3] / "CONTRIBUTING.md"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", CONTRIBUTING.read_text("utf-8"), re.DOTALL | re.MULTILINE)


@pytest.fixture(autouse=True)
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The package of the recipes, as pip would leave it: modules, and the entry points that its project names."""
    modules = {re.search(r"class My(\w+)", code)[1].lower(): code for code in blocks("python")}  # type: ignore[index]
    modules["store"] = "from penstock.knowledge.oxigraph import OxigraphStore as MyStore\n"
    root = tmp_path / "site"
    for folder in ("mypackage", "mypackage-1.0.dist-info"):
        (root / folder).mkdir(parents=True)
    for name, code in modules.items():
        (root / "mypackage" / f"{name}.py").write_text(code, "utf-8")
    groups = tomllib.loads(blocks("toml")[0])["project"]["entry-points"]
    lines = [line for group, found in groups.items() for line in (f"[{group}]", *map(" = ".join, found.items()))]
    (root / "mypackage-1.0.dist-info" / "METADATA").write_text("Name: mypackage\nVersion: 1.0\n", "utf-8")
    (root / "mypackage-1.0.dist-info" / "entry_points.txt").write_text("\n".join(lines), "utf-8")
    monkeypatch.syspath_prepend(root)


def test_the_source_continues_after_the_last_durable_line(tmp_path: Path) -> None:
    file, taken, stored = tmp_path / "lines", Queue[bytes](), dict[str, sources.SourcePosition]()

    class Taker:
        is_full = False

        def __call__(self, messages: Sequence[sources.Message], position: sources.Positions = BEGINNING) -> int:
            stored.update(position)
            for message in messages:
                taken.put(message.payload)
            return len(messages)

    for line in (b"one\n", b"two\n"):
        with file.open("ab") as lines:
            lines.write(line)
        source = sources.open(f"myqueue://{file}")
        assert isinstance(source, sources.Source)
        source.start(Taker(), ManualClock(), stored)
        assert taken.get(timeout=20) == line
        source.stop()
        assert taken.empty()
        assert source.message is None


def test_the_sink_keeps_a_repeated_batch_once(tmp_path: Path) -> None:
    for _ in range(2):
        sink = open_sink(f"mytable://{tmp_path}/answers.db", "solutions")
        assert isinstance(sink, Sink)
        sink.rewind(sink.begin())
        assert sink.deliver(SimpleNamespace(number=0, size=3)) == 1
        sink.close()


def test_the_store_is_opened_by_its_name() -> None:
    store = open_store("mystore")
    assert isinstance(store, OxigraphStore)
    store.close()
