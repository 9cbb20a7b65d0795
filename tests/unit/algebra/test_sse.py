"""Plans as text and back."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode

from penstock.algebra import ops
from penstock.algebra.build import translate
from penstock.algebra.expressions import Aggregate, Call, Const, Exists, Occurrence, Term, Var
from penstock.algebra.ops import Op, Physical, TriplePattern
from penstock.algebra.sse import SexprError, read, read_expression, write
from penstock.algebra.sse.query import read_query, write_query
from penstock.algebra.windows import CountWindow, SlideWindow, TimeWindow
from tests.support.event_plans import plan as event_plan
from tests.support.plans import from_tape, whole_plan
from tests.support.terms import terms

X, Y = Var("x"), Var("y")
P, Q = NamedNode("http://example.org/p"), NamedNode("http://example.org/q")
XP1 = ops.Bgp((TriplePattern(X, P, Literal(1)),))

WRITTEN: list[tuple[str, Op]] = [
    ("(bgp)", ops.Bgp(())),
    ("(bgp (?x :p 1))", XP1),
    ("(join (bgp (?x :p 1)) (table unit))", ops.Join(XP1, ops.UNIT)),
    ("(leftjoin (bgp) (bgp (?x :p 1)))", ops.LeftJoin(None, ops.Bgp(()), XP1)),
    ("(leftjoin (bgp) (bgp (?x :p 1)) (bound ?x))", ops.LeftJoin(Call("BOUND", (X,)), ops.Bgp(()), XP1)),
    ("(seq (bgp) (bgp (?x :p 1)))", ops.Seq(ops.Bgp(()), XP1)),
    ("(equals (bgp) (bgp (?x :p 1)))", ops.Equals(ops.Bgp(()), XP1)),
    ("(optionalseq (bgp) (bgp (?x :p 1)))", ops.OptionalSeq(ops.Bgp(()), XP1)),
    (
        "(optionalseq (bgp) (bgp) (< (getduration) ?x))",
        ops.OptionalSeq(ops.Bgp(()), ops.Bgp(()), Call("<", (Occurrence("duration"), X))),
    ),
    ("(equalsoptional (bgp) (bgp (?x :p 1)))", ops.EqualsOptional(ops.Bgp(()), XP1)),
    (
        "(equalsoptional (bgp) (bgp) (= (getstarttime) (getendtime)))",
        ops.EqualsOptional(ops.Bgp(()), ops.Bgp(()), Call("=", (Occurrence("start"), Occurrence("end")))),
    ),
    ("(union (bgp) (bgp))", ops.Union(ops.Bgp(()), ops.Bgp(()))),
    ("(minus (bgp) (bgp))", ops.Minus(ops.Bgp(()), ops.Bgp(()))),
    (
        "(filter (notin ?x 1 true) (bgp))",
        ops.Filter(Call("NOT IN", (X, Const(Literal(1)), Const(Literal(True)))), ops.Bgp(())),
    ),
    ("(filter (! (exists (bgp (?x :p 1)))) (bgp))", ops.Filter(Call("!", (Exists(XP1),)), ops.Bgp(()))),
    ("(extend ((?x (<http://e/f> ?y))) (bgp))", ops.Extend(X, Call("http://e/f", (Y,)), ops.Bgp(()))),
    ("(graph ?x (bgp))", ops.Graph(X, ops.Bgp(()))),
    ("(graph :p (bgp))", ops.Graph(P, ops.Bgp(()))),
    ("(inwindow ?x (bgp))", ops.InWindow(X, ops.Bgp(()))),
    ("(inwindow :p (bgp))", ops.InWindow(P, ops.Bgp(()))),
    ("(windowoverride 2 (bgp))", ops.WindowOverride(2, ops.Bgp(()))),
    ("(group (?x) ((?.a0 (count))) (bgp))", ops.Group((X,), ((Var(".a0"), Aggregate("COUNT", None)),), ops.Bgp(()))),
    (
        '(group () ((?.a0 (group_concat distinct (separator ", ") ?x))) (bgp))',
        ops.Group((), ((Var(".a0"), Aggregate("GROUP_CONCAT", X, True, ", ")),), ops.Bgp(())),
    ),
    ("(annotate (?y (count)) (?x) (bgp (?x :p 1)))", ops.Annotate(Y, Aggregate("COUNT", None), (X,), XP1)),
    ("(annotate (?y (sum distinct ?x)) () (bgp))", ops.Annotate(Y, Aggregate("SUM", X, True), (), ops.Bgp(()))),
    ("(project (?x ?y) (bgp))", ops.Project((X, Y), ops.Bgp(()))),
    ("(distinct (reduced (bgp)))", ops.Distinct(ops.Reduced(ops.Bgp(())))),
    ("(staticview (?x) (bgp))", ops.StaticView((Var("x"),), ops.Bgp(()))),
    (
        "(order (?x (desc ?y) (asc (- ?x ?y))) (bgp))",
        ops.OrderBy((ops.OrderKey(X), ops.OrderKey(Y, True), ops.OrderKey(Call("-", (X, Y)))), ops.Bgp(())),
    ),
    ("(slice 0 10 (bgp))", ops.Slice(0, 10, ops.Bgp(()))),
    ("(slice 5 _ (bgp))", ops.Slice(5, None, ops.Bgp(()))),
    ("(table (vars ?x))", ops.Table((X,), ())),
    ("(table (vars ?x ?y) (row (?y :p)))", ops.Table((X, Y), ((None, P),))),
    ("(path ?x (path* (inverse :p)) ?y)", ops.Path(X, ops.ZeroOrMore(ops.Inverse(ops.Link(P))), Y)),
    ("(path ?x (path? (seq :p :q)) ?y)", ops.Path(X, ops.ZeroOrOne(ops.Sequence(ops.Link(P), ops.Link(Q))), Y)),
    ("(path ?x (path+ (alt :p :q)) ?y)", ops.Path(X, ops.OneOrMore(ops.Alternative(ops.Link(P), ops.Link(Q))), Y)),
    ("(path ?x (notoneof (forward :p)) ?y)", ops.Path(X, ops.NegatedSet((P,), None), Y)),
    ("(path ?x (notoneof (forward) (backward :p :q)) ?y)", ops.Path(X, ops.NegatedSet((), (P, Q)), Y)),
]


@pytest.mark.parametrize(("text", "plan"), WRITTEN, ids=[text for text, _ in WRITTEN])
def test_each_operator(text: str, plan: Op) -> None:
    assert (write(plan), read(text)) == (text, plan)


def test_the_examples_have_every_operator() -> None:
    written = {type(node).__name__ for _, plan in WRITTEN for node in (plan, *plan.children)}
    assert written == {kind.__name__ for kind in Op.__subclasses__() if kind is not Physical}


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("(bgp (triple ?s :p ?o))", "(bgp (?s :p ?o))"),
        ("(extend ((?a 1) (?b ?a)) (bgp))", "(extend ((?b ?a)) (extend ((?a 1)) (bgp)))"),
        ("(filter (notexists (bgp)) (bgp))", "(filter (! (exists (bgp))) (bgp))"),
        ("(slice _ 1 (bgp)) ; with a comment", "(slice 0 1 (bgp))"),
        ("(bgp (?s a :C))", "(bgp (?s <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> :C))"),
    ],
)
def test_shorthands(text: str, same: str) -> None:
    assert read(text) == read(same)


@settings(max_examples=200, deadline=None)
@given(from_tape(whole_plan) | from_tape(event_plan))
def test_reading_inverts_writing(plan: Op) -> None:
    text = write(plan)
    assert read(text) == plan
    assert write(read(text)) == text


@settings(deadline=None)
@given(terms, st.text())
def test_any_term_and_separator(term: Term, separator: str) -> None:
    expression = Call("=", (Const(term), Aggregate("GROUP_CONCAT", X, False, separator)))
    assert read_expression(write(expression)) == expression


def test_long_plans_have_an_operand_a_line() -> None:
    triples = " ".join(f"(?x :predicate{i} ?y{i})" for i in range(5))
    plan = f"(project (?x) (filter (> ?y1 5) (join (bgp {triples}) (bgp (?x :p 1)))))"
    assert write(read(plan)).splitlines() == [
        "(project (?x)",
        "  (filter (> ?y1 5)",
        "    (join",
        "      (bgp",
        *(f"        (?x :predicate{i} ?y{i})" for i in range(4)),
        "        (?x :predicate4 ?y4))",
        "      (bgp (?x :p 1)))))",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(bgp", "closing parenthesis"),
        ("", "missing"),
        ("(bgp) (bgp)", "follow"),
        ("(jion (bgp) (bgp))", "unknown operator 'jion'"),
        ("(join (bgp))", "parts of 'join'"),
        ("(bgp (?s :p))", "three parts"),
        ("(bgp (?s :p huh))", "'huh' is neither"),
        ("(filter ?x", "closing parenthesis"),
        ("(project (:p) (bgp))", "should be a Var"),
        ("(path ?x (path! :p) ?y)", "unknown path"),
        ('(bgp (?s :p "open))', "cannot read"),
    ],
)
def test_syntax_errors_have_a_reason(text: str, message: str) -> None:
    with pytest.raises(SexprError, match=message):
        read(text)


QUERIES: list[tuple[ops.Query, str]] = [
    (ops.Query(ops.Select(), XP1, (X, Y)), "(select (?x ?y) (bgp (?x :p 1)))"),
    (ops.Query(ops.Ask(), XP1, (), ops.Dataset((P,), ())), "(ask (from :p) (named) (bgp (?x :p 1)))"),
    (ops.Query(ops.Construct((TriplePattern(X, P, Y),)), XP1), "(construct ((?x :p ?y)) (bgp (?x :p 1)))"),
    (ops.Query(ops.Describe((X, P)), XP1), "(describe (?x :p) (bgp (?x :p 1)))"),
    (ops.Query(ops.Ask(), XP1, base="http://e/"), '(ask (base "http://e/") (bgp (?x :p 1)))'),
    (
        ops.Query(ops.Ask(), XP1, (), ops.Dataset((), (Q,)), streams=(ops.StreamWindow(P, CountWindow(9, 3), True),)),
        "(ask (stream named :p (triples 9 step 3)) (from) (named :q) (bgp (?x :p 1)))",
    ),
    (
        ops.Query(ops.Construct(()), XP1, registration=ops.Registration(None, None, ops.RULES), emit="events"),
        "(construct () (register _ (output <urn:penstock:rules>)) (emit events) (bgp (?x :p 1)))",
    ),
    (
        ops.Query(
            ops.Describe((X,)),
            XP1,
            streams=(
                ops.StreamWindow(P, TimeWindow(90_000_000, 1_500_000)),
                ops.StreamWindow(Q, TimeWindow(172_800_000_000, 1)),
            ),
            registration=ops.Registration("out", 60_000_000, Q),
        ),
        """(describe (?x)
  (register "out" (every 1m) (output :q))
  (stream :p (range 90s step 1500ms))
  (stream :q (range 2d step 1us))
  (bgp (?x :p 1)))""",
    ),
    (
        ops.Query(
            ops.Ask(),
            XP1,
            streams=(
                ops.StreamWindow(P, SlideWindow(60_000_000, 1_000_000)),
                ops.StreamWindow(P, CountWindow(5), named=True, tag=1),
                ops.StreamWindow(P, SlideWindow(None), name=Q, merge=True),
                ops.StreamWindow(P, TimeWindow(3_000_000, 1_000_000, 2_000_000), name=P),
            ),
            emit="istream",
        ),
        """(ask
  (stream :p (range 1m slide 1s))
  (stream named :p (triples 5 step 1) (tag 1))
  (stream :p (range _ slide 1us) (as :q) merge)
  (stream :p (range 3s step 1s delay 2s) (as :p))
  (emit istream)
  (bgp (?x :p 1)))""",
    ),
]


@pytest.mark.parametrize(("query", "text"), QUERIES, ids=[text for _, text in QUERIES])
def test_whole_queries(query: ops.Query, text: str) -> None:
    assert (write_query(query), read_query(text)) == (text, query)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(insert () (bgp))", "unknown form insert"),
        ("(ask (window 3) (bgp))", "no part of a query is called window"),
        ("(ask (stream :p (range 3x step 1s)) (bgp))", "3x is no duration"),
        ("(ask (stream :p (range 3s)) (bgp))", "is no window"),
    ],
)
def test_query_syntax_errors_have_a_reason(text: str, message: str) -> None:
    with pytest.raises(SexprError, match=message):
        read_query(text)


def test_from_named_of_cqels_is_written_and_read() -> None:
    query = translate("ASK FROM NAMED <http://e/g> { STREAM <http://e/s> [NOW] { ?x ?p ?y } }")
    assert query.dataset == ops.Dataset((), (NamedNode("http://e/g"),), adds=True)
    assert read_query(write_query(query)) == query
