"""Background knowledge with what follows from it, and the engine's option."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from typer.testing import CliRunner

from penstock import Engine, SetupError, cli
from penstock.algebra.build import translate
from penstock.knowledge.entailment import EntailedStore
from penstock.knowledge.oxigraph import OxigraphStore

HEAD = """PREFIX : <http://example.org/> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
PREFIX owl: <http://www.w3.org/2002/07/owl#> """
AXIOMS = ":Wolf rdfs:subClassOf :Mammal . :Mammal rdfs:subClassOf :Animal . :hunts rdfs:domain :Mammal ."
ANIMALS = HEAD + "SELECT ?x { ?x a :Animal } ORDER BY ?x"

needs_owlrl = pytest.mark.skipif(importlib.util.find_spec("owlrl") is None, reason="the extra reasoning is not there")


def turtle(text: str) -> bytes:
    return (HEAD.replace("PREFIX", "@prefix").replace("> ", "> .\n").replace(">\n", "> .\n") + text).encode()


def names(engine: Engine, text: str = ANIMALS) -> list[str]:
    return [row["x"].value.removeprefix("http://example.org/") for row in engine.query(text).rows]


def test_entailed_triples_are_answered() -> None:
    with Engine(entailment="rdfs") as engine:
        engine.load(turtle(AXIOMS + ":w a :Wolf . :v :hunts 1 . :s a :Stone ."), format="ttl")
        assert names(engine) == ["v", "w"]
        assert names(engine, HEAD + "SELECT ?x { :Wolf rdfs:subClassOf ?x } ORDER BY ?x") == ["Animal", "Mammal"]


def test_nothing_is_entailed_without_the_option() -> None:
    with Engine() as engine:
        engine.load(turtle(AXIOMS + ":w a :Wolf ."), format="ttl")
        assert names(engine) == []
        assert isinstance(engine._store, OxigraphStore)


def test_triples_that_are_loaded_later_count() -> None:
    with Engine(entailment="rdfs") as engine:
        engine.load(turtle(":w a :Wolf ."), format="ttl")
        assert names(engine) == []
        engine.load(turtle(AXIOMS), format="ttl")
        assert names(engine) == ["w"]


def test_one_ontology_for_all_graphs() -> None:
    """That of the default graph; what follows is where it follows from, and axioms of other graphs are none."""
    with Engine(entailment="rdfs") as engine:
        engine.load(turtle(AXIOMS), format="ttl")
        engine.load(
            turtle(":w a :Wolf . :Stone rdfs:subClassOf :Animal . :s a :Stone ."),
            graph="http://example.org/g",
            format="ttl",
        )
        engine.load(b"", graph="http://example.org/empty", format="ttl")
        assert names(engine) == []
        assert names(engine, HEAD + "SELECT ?x { GRAPH :g { ?x a :Animal } }") == ["w"]
        assert names(engine, HEAD + "SELECT ?x FROM :g { ?x a :Animal }") == ["w"]
        assert engine.query(HEAD + "ASK FROM :empty {}").boolean


def test_the_copy_is_made_once() -> None:
    store = EntailedStore(OxigraphStore())
    store.load(turtle(AXIOMS), format="ttl")
    first = store.ontology
    store.answer(translate(ANIMALS), ANIMALS)
    assert store.ontology is first
    store.load(turtle(":Fox rdfs:subClassOf :Mammal ."), format="ttl")
    assert store.ontology is not first


def test_unknown_options() -> None:
    with pytest.raises(ValueError, match="entailment is rdfs or owl-rl, not 'rdf'"):
        Engine(entailment="rdf")  # type: ignore[arg-type]


def test_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "animals.rq").write_text(ANIMALS)
    (tmp_path / "wolf.ttl").write_bytes(turtle(AXIOMS + ":w a :Wolf ."))
    arguments = ["run", str(tmp_path / "animals.rq"), "-b", str(tmp_path / "wolf.ttl"), "-f", "csv"]
    assert CliRunner().invoke(cli.app, arguments).stdout.split() == ["x"]
    found = CliRunner().invoke(cli.app, [*arguments, "--set", "entailment=rdfs"])
    assert found.stdout.split() == ["x", "http://example.org/w"]
    wrong = CliRunner().invoke(cli.app, [*arguments, "--set", "entailment=owl"])
    assert (wrong.exit_code, wrong.stderr) == (2, "--set: entailment is rdfs or owl-rl, not 'owl'\n")


@needs_owlrl
def test_owl() -> None:
    """What RDFS does not know: transitive properties, chains, and classes that are the same."""
    axioms = """:partOf a owl:TransitiveProperty . :near a owl:SymmetricProperty . :Beast owl:equivalentClass :Animal .
    :reaches owl:propertyChainAxiom (:partOf :near) . :a :partOf :b . :b :partOf :c . :c :near :d .
    :w a :Beast, :Wolf ."""
    with Engine(entailment="owl-rl") as engine:
        engine.load(turtle(AXIOMS + axioms + ':w :name "Wolf"@en, "01" . _:x a :Beast .'), format="ttl")
        assert engine.query(HEAD + "ASK { :a :partOf :c . :d :near :c . :a :reaches :d }").boolean
        assert len(engine.query(ANIMALS)) == 2
        assert {row["x"].value for row in engine.query(HEAD + "SELECT ?x { :w :name ?x }").rows} == {"Wolf", "01"}


@pytest.mark.skipif(importlib.util.find_spec("owlrl") is not None, reason="it is there")
def test_owl_without_the_extra() -> None:
    with pytest.raises(SetupError, match=r"needs the extra reasoning: pip install \"penstock\[reasoning\]\""):
        Engine(entailment="owl-rl")
