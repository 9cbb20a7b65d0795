"""Options that have a few values: a type of each. The values at run time are `get_args` of the type."""

from __future__ import annotations

from typing import Literal, TypeAlias

__all__ = ["Duplicates", "Emit", "Entailment", "Overload", "Rounds", "StreamFormat", "StreamTime", "WhenFull"]

Emit: TypeAlias = Literal["rstream", "istream", "dstream", "intervals"]
"""The report of a query: whole answers, insertions, deletions, or solutions with their validity intervals."""

Duplicates: TypeAlias = Literal["keep", "merge"]
"""Whether two equal triples in a window are two elements or one."""

Overload: TypeAlias = Literal["catch-up", "stretch"]
"""When evaluation falls behind: larger steps through all instants, or load shedding by evaluating fewer instants."""

WhenFull: TypeAlias = Literal["block", "refuse"]
"""Whether a push waits or is refused while too much of its stream has not been evaluated."""

Rounds: TypeAlias = Literal["spark", "auto"]
"""Whether every round is a job of Spark's, or one of a few elements is evaluated in this process."""

Entailment: TypeAlias = Literal["rdfs", "owl-rl"]
"""The entailment regime under which queries are answered."""

StreamFormat: TypeAlias = Literal[
    "nq", "nquads", "nt", "ntriples", "parquet", "ttl", "turtle", "trig", "jsonld", "json-ld", "ndjsonld", "ndjson-ld",
    "ntriples-messages", "nquads-messages", "turtle-messages", "trig-messages",
    "jelly", "cloudevents", "json", "ndjson", "csv", "xml",
]  # fmt: skip
"""The format of a stream's source, of its messages, or of pushed text; the last four are lifted by a mapping."""

StreamTime: TypeAlias = Literal["data", "broker", "arrival"]
"""Where the time of an element comes from: the message, the broker that brought it, or the clock when it came."""
