"""Corner cases where answers once depended on the batches of a stream, or on earlier state."""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import SparkSession

from penstock import Answer, Engine
from tests.support.feeding import BUSIEST, BUSY, OTHER, STREAM, counted, line, lines

CARS = "SELECT ?car FROM STREAM <http://e/gates> [RANGE TRIPLES {}] WHERE {{ ?gate <http://e/registers> ?car }}"
BESIDE = f"""SELECT ?car ?other FROM STREAM <{STREAM}> [RANGE 10s STEP 10s] FROM STREAM <{OTHER}> [RANGE TRIPLES 1]
WHERE {{ <http://e/gate0> <http://e/registers> ?car . <http://e/gate1> <http://e/registers> ?other }}"""


def cars(answers: Iterable[Answer]) -> list[tuple[int, list[str]]]:
    """The last letters of the IRIs of each answer, by second."""
    found = []
    for answer in answers:
        assert answer.time is not None
        rows = ("".join(str(row[name].value)[-1] for name in answer.variables) for row in answer.rows)
        found.append((round(answer.time.timestamp()), sorted(rows)))
    return found


def test_elements_of_one_time_are_counted_in_the_order_of_their_arrival(spark: SparkSession) -> None:
    """Also from the tenth batch on, whose name is before that of the second."""
    with Engine(spark=spark) as engine:
        engine.stream(STREAM)
        query = engine.register(CARS.format(3))
        for number in range(12):
            engine.push(STREAM, line(5, 0, car=number))
        engine.run()
        assert cars(query.answers()) == [(5, ["0", "1", "9"])]  # the 9th, 10th and 11th


def test_last_of_equal_simultaneous_triples_counts(spark: SparkSession) -> None:
    """[TRIPLES 2]: when the third element comes, the second is still there, though it equals the first."""
    with Engine(spark=spark) as engine:
        engine.stream(STREAM)
        query = engine.register(CARS.format(2), duplicates="merge")
        engine.push(STREAM, line(5, 0, car=1) * 2 + line(6, 0, car=2) + line(7, 0, car=3) * 9 + line(8, 0, car=4))
        engine.run()
        assert cars(query.answers()) == [(5, ["1"]), (6, ["1", "2"]), (7, ["3"]), (8, ["3", "4"])]


def test_a_window_stays_as_it_is_while_another_counts(spark: SparkSession) -> None:
    """At 13 the window on the first stream holds the same elements as at 10, though its next instant is 20."""
    with Engine(spark=spark) as engine:
        engine.stream(STREAM)
        engine.stream(OTHER)
        query = engine.register(BESIDE)
        engine.start()
        engine.push(STREAM, line(5, 0))
        engine.push(OTHER, line(11, 1, car=1))
        engine.advance(STREAM, 13_000_000)
        engine.advance(OTHER, 13_000_000)
        engine.flush()
        engine.push(OTHER, line(13, 1, car=3))
        engine.advance(STREAM, 20_000_000)
        engine.advance(OTHER, 20_000_000)
        engine.flush()
        engine.stop()
        assert cars(query.answers()) == [(10, []), (11, ["51"]), (13, ["53"])]


def test_dropped_query_leaves_no_state_to_its_successor(spark: SparkSession) -> None:
    with Engine(spark=spark) as engine:
        engine.stream(STREAM)
        engine.push(STREAM, lines(0, 300))
        found = []
        for _ in range(2):
            busy, busiest = engine.register(BUSY), engine.register(BUSIEST, name="busiest")
            engine.run()
            found.append(counted(busiest.answers(), "most"))
            busiest.drop()
            busy.drop()
        assert found[0] == found[1] != {}
