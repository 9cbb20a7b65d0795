"""A building full of sensors and the people in it, as triples in Parquet, written by Spark itself.

Columns `s`, `p`, `o` hold terms as N-Triples. The same number of triples is the same data on every machine: all that
looks random is a hash of a number.
"""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

NS = "http://example.org/building#"
XSD = "http://www.w3.org/2001/XMLSchema#"
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
SEED = 2026
DAYS = 90


def generate(spark: SparkSession, triples: int, folder: Path) -> Path:
    """The file with that many triples, written unless it is there already."""
    path = folder / f"building-{triples}-{SEED}.parquet"
    if not (path / "_SUCCESS").exists():
        frame = building(spark, triples)
        frame.repartition(8).write.mode("overwrite").option("compression", "snappy").parquet(str(path))
    return path


def building(spark: SparkSession, triples: int) -> DataFrame:
    """About four triples in five are about observations; the remainder is filled with labels, to be exact."""
    rooms, sensors, people = max(1, triples // 2500), max(1, triples // 250), triples // 20
    static = rooms + 2 * sensors + 3 * people + (people + 1) // 2
    observations = max(0, triples - static) // 4
    rest = triples - static - 4 * observations
    parts = [
        _rooms(spark, rooms),
        _sensors(spark, sensors, rooms),
        _people(spark, people, rooms),
        _observations(spark, observations, sensors),
        _labels(spark, rest),
    ]
    frame = parts[0]
    for part in parts[1:]:
        frame = frame.unionAll(part)
    return frame


def iri(local: str) -> str:
    return f"<{NS}{local}>"


def item(kind: str, number: Column) -> Column:
    return F.concat(F.lit(f"<{NS}{kind}/"), number.cast("string"), F.lit(">"))


def literal(lexical: Column, datatype: str | None = None) -> Column:
    end = F.lit(f'"^^<{XSD}{datatype}>' if datatype else '"')
    return F.concat(F.lit('"'), lexical.cast("string"), end)


def chosen(purpose: str, below: int) -> Column:
    """A number that looks random but depends on the row's id alone."""
    return F.pmod(F.xxhash64(F.col("id"), F.lit(purpose), F.lit(SEED)), F.lit(below))


def _triples(ids: DataFrame, subject: Column, pairs: dict[str, Column]) -> DataFrame:
    cells = [F.struct(subject.alias("s"), F.lit(p).alias("p"), o.alias("o")) for p, o in pairs.items()]
    return ids.select(F.explode(F.array(*cells)).alias("triple")).select("triple.*")


def _rooms(spark: SparkSession, rooms: int) -> DataFrame:
    ids = spark.range(rooms)
    return _triples(ids, item("room", F.col("id")), {iri("floor"): item("floor", chosen("floor", 40))})


def _sensors(spark: SparkSession, sensors: int, rooms: int) -> DataFrame:
    pairs = {iri("room"): item("room", chosen("room", rooms)), iri("kind"): item("kind", chosen("kind", 12))}
    return _triples(spark.range(sensors), item("sensor", F.col("id")), pairs)


def _people(spark: SparkSession, people: int, rooms: int) -> DataFrame:
    ids, subject = spark.range(people), item("person", F.col("id"))
    pairs = {
        iri("name"): literal(F.concat(F.lit("Person "), F.col("id"))),
        iri("worksIn"): item("room", chosen("works", rooms)),
        iri("knows"): item("person", chosen("knows", max(1, people))),
    }
    mail = {iri("mail"): literal(F.concat(F.lit("p"), F.col("id"), F.lit("@example.org")))}
    return _triples(ids, subject, pairs).unionAll(_triples(ids.where("id % 2 = 0"), subject, mail))


def _observations(spark: SparkSession, observations: int, sensors: int) -> DataFrame:
    moment = F.timestamp_seconds(F.lit(1_700_000_000) + chosen("time", DAYS * 86_400))
    value = (chosen("value", 10_000) / F.lit(100.0)).cast("double")
    pairs = {
        TYPE: F.lit(iri("Observation")),
        iri("sensor"): item("sensor", chosen("sensor", sensors)),
        iri("value"): literal(value, "double"),
        iri("time"): literal(F.date_format(moment, "yyyy-MM-dd'T'HH:mm:ss'Z'"), "dateTime"),
    }
    return _triples(spark.range(observations), item("observation", F.col("id")), pairs)


def _labels(spark: SparkSession, rest: int) -> DataFrame:
    return _triples(spark.range(rest), item("floor", F.col("id")), {iri("label"): literal(F.lit("a floor"))})
