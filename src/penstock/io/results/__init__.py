"""Answers written out: the four W3C result formats, N-Triples, text, HTML and data frames. No Spark in here."""

from penstock.io.results.csv_tsv import cell_value, to_csv, to_tsv
from penstock.io.results.frames import to_arrow, to_pandas
from penstock.io.results.html import to_html
from penstock.io.results.json import json_object, to_json
from penstock.io.results.ndjson import time_literal, time_text, to_ndjson, when_text
from penstock.io.results.rdf import to_ntriples, to_turtle
from penstock.io.results.text import summary, to_text
from penstock.io.results.timed_graph import timed_quads, to_jsonld, to_nquads, to_trig
from penstock.io.results.xml import to_xml

__all__ = [
    "cell_value",
    "json_object",
    "summary",
    "time_literal",
    "time_text",
    "timed_quads",
    "to_arrow",
    "to_csv",
    "to_html",
    "to_json",
    "to_jsonld",
    "to_ndjson",
    "to_nquads",
    "to_ntriples",
    "to_pandas",
    "to_text",
    "to_trig",
    "to_tsv",
    "to_turtle",
    "to_xml",
    "when_text",
]
