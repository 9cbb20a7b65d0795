"""Six query shapes, each in SPARQL and as somebody who knows PySpark and the data would write it by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from benchmarks.generate import NS

PREFIX = f"PREFIX : <{NS}>\n"


@dataclass(frozen=True, slots=True)
class Shape:
    """`numbers` are the variables that hold numbers: terms on one side, doubles on the other."""

    name: str
    sparql: str
    by_hand: Callable[[DataFrame], DataFrame]
    numbers: tuple[str, ...] = ()


def having(triples: DataFrame, predicate: str, subject: str, object_: str) -> DataFrame:
    """The subjects and objects of one predicate."""
    rows = triples.where(F.col("p") == f"<{NS}{predicate}>")
    return rows.select(F.col("s").alias(subject), F.col("o").alias(object_))


def as_number(column: str) -> Column:
    """The number between the quotation marks; the data's author knows that it is one."""
    return F.substring_index(F.substring(column, 2, 400), '"', 1).cast("double")


def filter_by_hand(triples: DataFrame) -> DataFrame:
    rows = having(triples, "value", "o", "v").withColumn("v", as_number("v"))
    return rows.where("v > 95")


def star_by_hand(triples: DataFrame) -> DataFrame:
    sensors, values = having(triples, "sensor", "o", "s"), having(triples, "value", "o", "v")
    times = having(triples, "time", "o", "t")
    return sensors.join(values, "o").join(times, "o")


def path_by_hand(triples: DataFrame) -> DataFrame:
    made, rooms = having(triples, "sensor", "o", "s"), having(triples, "room", "s", "r")
    return made.join(rooms, "s").join(having(triples, "floor", "r", "f"), "r").select("o", "f")


def optional_by_hand(triples: DataFrame) -> DataFrame:
    return having(triples, "name", "p", "n").join(having(triples, "mail", "p", "m"), "p", "left")


def group_by_hand(triples: DataFrame) -> DataFrame:
    values = having(triples, "value", "o", "v").withColumn("v", as_number("v"))
    return having(triples, "sensor", "o", "s").join(values, "o").groupBy("s").agg(F.avg("v").alias("mean"))


def distinct_by_hand(triples: DataFrame) -> DataFrame:
    return having(triples, "sensor", "o", "s").select("s").distinct()


SHAPES = (
    Shape("filter", "SELECT ?o ?v WHERE { ?o :value ?v FILTER(?v > 95) }", filter_by_hand, ("v",)),
    Shape("star of three", "SELECT ?o ?s ?v ?t WHERE { ?o :sensor ?s ; :value ?v ; :time ?t }", star_by_hand),
    Shape("path of three", "SELECT ?o ?f WHERE { ?o :sensor ?s . ?s :room ?r . ?r :floor ?f }", path_by_hand),
    Shape("OPTIONAL", "SELECT ?p ?n ?m WHERE { ?p :name ?n OPTIONAL { ?p :mail ?m } }", optional_by_hand),
    Shape(
        "GROUP BY, AVG",
        "SELECT ?s (AVG(?v) AS ?mean) WHERE { ?o :sensor ?s ; :value ?v } GROUP BY ?s",
        group_by_hand,
        ("mean",),
    ),
    Shape("DISTINCT", "SELECT DISTINCT ?s WHERE { ?o :sensor ?s }", distinct_by_hand),
)


def ten_patterns(number: int) -> str:
    """A query with ten triple patterns; the number keeps one run from profiting from the one before."""
    return (
        f"{PREFIX}SELECT ?person ?other ?v ?t WHERE {{\n"
        "  ?person :name ?n ; :worksIn ?r ; :knows ?other . ?other :name ?m ; :worksIn ?q .\n"
        "  ?sensor :room ?r ; :kind ?k . ?o :sensor ?sensor ; :value ?v ; :time ?t .\n"
        f"  FILTER(?v > {number} && ?n != ?m)\n}}"
    )
