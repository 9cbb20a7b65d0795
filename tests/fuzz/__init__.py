"""Fuzz tests: broken queries, inputs and checkpoints give an answer or a `PenstockError`, and nothing else."""

from tests.fuzz.checkpoints import CHECKPOINTS
from tests.fuzz.query_texts import QUERIES
from tests.fuzz.stream_inputs import INPUTS

TARGETS = {target.name: target for target in (QUERIES, INPUTS, CHECKPOINTS)}
