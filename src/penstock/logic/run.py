"""Runs a logic test on an engine and returns the mismatches."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.algebra import ops
from penstock.algebra.build import translate
from penstock.answer import Answer
from penstock.errors import PenstockError, QueryError
from penstock.logic import compare
from penstock.logic.model import Expectation, Kind, LogicTest, QueryBlock, When
from penstock.logic.times import when_of, write_when
from penstock.stream.ingest.elements import lines

if TYPE_CHECKING:
    from penstock.engine import Engine
    from penstock.query import Query

__all__ = ["Mismatch", "run"]

_OF_QUERIES = {"duplicates", "emit"}  # options of engine.register; the others are those of engine.stream
_OF_STREAMS = {"lateness"}


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One difference from the expectation, with the line of the file and a text for people."""

    line: int
    message: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.message}"


@dataclass(slots=True)
class _Outcome:
    """The outcome of a query: its answers, or its error."""

    block: QueryBlock
    query: Query | None = None
    error: PenstockError | None = None
    warnings: list[str] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)
    ordered: bool = False


def run(test: LogicTest, engine: Engine) -> list[Mismatch]:
    """Feed a fresh engine with the test's streams and background, and compare. No mismatch: the test holds."""
    _check_options(test)
    for block in test.background:
        engine.load(block.turtle.encode(), graph=block.graph, format="ttl")
    with tempfile.TemporaryDirectory(prefix="penstock-logic-") as folder:
        _open_streams(test, engine, Path(folder))
        options = {name: value for name, value in test.options.items() if name in _OF_QUERIES}
        outcomes = [_register(engine, block, options) for block in test.queries]
        _replay(engine, outcomes)
    return [mismatch for place, outcome in enumerate(outcomes) for mismatch in _judge(test, place, outcome)]


def _check_options(test: LogicTest) -> None:
    known = _OF_QUERIES | _OF_STREAMS
    if unknown := sorted(test.options.keys() - known):
        raise PenstockError(f"{test.name}: no such option: {', '.join(unknown)}; there are {', '.join(sorted(known))}")


def _open_streams(test: LogicTest, engine: Engine, folder: Path) -> None:
    """Declare the streams as files, since that is how users replay a stream, parser included."""
    options: dict[str, Any] = {name: value for name, value in test.options.items() if name in _OF_STREAMS}
    for place, stream in enumerate(test.streams):
        file = folder / f"{place}.nq"
        elements: list[Any] = [(element, *times) for times, element in stream.elements]
        file.write_bytes(lines(elements, None, 0))
        engine.stream(stream.iri, str(file), **options)


def _register(engine: Engine, block: QueryBlock, options: Mapping[str, Any]) -> _Outcome:
    outcome = _Outcome(block)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            outcome.query = engine.register(block.text, name=block.name, **options)
        except PenstockError as error:
            outcome.error = error
    outcome.warnings = [str(warning.message) for warning in caught]
    if outcome.query is not None:
        outcome.ordered = _is_ordered(block.text, options.get("emit"))
    return outcome


def _replay(engine: Engine, outcomes: Sequence[_Outcome]) -> None:
    """Run the registered queries. A failure counts for each query without answers."""
    failure: PenstockError | None = None
    try:
        engine.run()
    except PenstockError as error:
        failure = error
    for outcome in outcomes:
        if outcome.query is not None:
            outcome.answers = [] if failure else list(outcome.query.answers())
            outcome.error = failure


def _is_ordered(text: str, emit: str | None) -> bool:
    """Whether whole answers are reported, and the query ends with ORDER BY; the changes of ISTREAM and DSTREAM have no
    order.

    Its warnings were heard when it was registered.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        query = translate(text)
    pattern = query.pattern
    while isinstance(pattern, ops.Slice | ops.Distinct | ops.Reduced | ops.Project):
        pattern = pattern.pattern
    return isinstance(pattern, ops.OrderBy) and (emit or query.emit or "rstream") == "rstream"


def _judge(test: LogicTest, place: int, outcome: _Outcome) -> Iterator[Mismatch]:
    expected = test.expected_of(place)
    if outcome.error and not any(expectation.kind is Kind.error for expectation in expected):
        yield _failure(outcome.block, outcome.error)
        return
    answers = {when_of(answer): answer for answer in outcome.answers}
    for expectation in expected:
        message = _JUDGES[expectation.kind](expectation, outcome, answers.get(expectation.when))
        if message:
            yield Mismatch(expectation.line, message)
    if test.final:
        yield from _unlisted(outcome, answers, {expectation.when for expectation in expected})


def _failure(block: QueryBlock, error: PenstockError) -> Mismatch:
    """The outcome of a failure; an error in a query has the line of the file."""
    if not isinstance(error, QueryError):
        return Mismatch(block.line, f"the query failed: {error}")
    return Mismatch(error.line or block.line, str(error).removeprefix(f"line {error.line}, "))


def _unlisted(outcome: _Outcome, answers: Mapping[When, Answer], listed: set[When]) -> Iterator[Mismatch]:
    for when, answer in answers.items():
        if when not in listed:
            yield Mismatch(outcome.block.line, f"{write_when(*when)}: not expected, and came:\n{answer}")


def _judge_rows(expected: Expectation, outcome: _Outcome, answer: Answer | None) -> str | None:
    when = write_when(*expected.when)
    if answer is None:
        return f"{when}: there is no answer; answers came at {_times(outcome)}"
    if answer.boolean is not None:
        return f"{when}: expected rows, and the answer is {str(answer.boolean).lower()}"
    if compare.same_rows(expected.rows, compare.cells(answer), ordered=outcome.ordered):
        return None
    order = " in this order" if outcome.ordered else ""
    return f"{when}: another answer than expected{order}\n{compare.difference(expected.rows, answer)}"


def _judge_boolean(expected: Expectation, outcome: _Outcome, answer: Answer | None) -> str | None:
    when, boolean = write_when(*expected.when), str(expected.boolean).lower()
    if answer is None:
        return f"{when}: there is no answer; answers came at {_times(outcome)}"
    return None if answer.boolean is expected.boolean else f"{when}: expected {boolean}, got\n{answer}"


def _judge_nothing(expected: Expectation, _: _Outcome, answer: Answer | None) -> str | None:
    return None if answer is None else f"{write_when(*expected.when)}: expected no answer, got\n{answer}"


def _judge_error(expected: Expectation, outcome: _Outcome, _: Answer | None) -> str | None:
    if outcome.error is None:
        return f'expected the error "{expected.text}", and the query ran'
    said = str(outcome.error)
    return None if expected.text in said else f'expected the error "{expected.text}", got\n{said}'


def _judge_warning(expected: Expectation, outcome: _Outcome, _: Answer | None) -> str | None:
    if any(expected.text in warning for warning in outcome.warnings):
        return None
    return f'expected the warning "{expected.text}", got {outcome.warnings or "none"}'


_JUDGES = {
    Kind.rows: _judge_rows,
    Kind.boolean: _judge_boolean,
    Kind.nothing: _judge_nothing,
    Kind.error: _judge_error,
    Kind.warning: _judge_warning,
}


def _times(outcome: _Outcome) -> str:
    return ", ".join(write_when(*when_of(answer)) for answer in outcome.answers) or "no instant at all"
