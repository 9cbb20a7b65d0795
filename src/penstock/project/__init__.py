"""A project file, as `penstock run city.toml` reads it: each table is one call of Python, each key one parameter.

    [engine]      Engine(…)             rounds = "auto", checkpoint = "state"
    [[load]]      engine.load(…)        source = "city.ttl"
    [[stream]]    engine.stream(…)      iri = "http://…", source = "gates.nq", lateness = "10s"
    [[register]]  engine.register(…)    file = "cars.rq", sink = "cars.ndjson"

The keys are read from the signatures (`calls.py`), so there is no second list of them.
"""

from penstock.project.open_project import load_project
from penstock.project.read_project import read_project
from penstock.project.records import Project

__all__ = ["Project", "load_project", "read_project"]
