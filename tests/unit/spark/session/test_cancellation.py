"""Failures as sentences."""

from __future__ import annotations

import pytest
from py4j.protocol import Py4JNetworkError

from penstock.errors import PenstockError
from penstock.spark.session.cancellation import sentence


@pytest.mark.parametrize("error", [ConnectionRefusedError(111, "refused"), EOFError(), Py4JNetworkError("gone")])
def test_a_java_that_has_ended_may_have_had_too_little_memory(error: Exception) -> None:
    assert sentence(error).startswith("Java has ended.")
    assert "spark.driver.memory" in sentence(error)


def test_other_errors_keep_the_first_line_of_their_message() -> None:
    assert sentence(PenstockError("No such stream.\nMore.")) == "No such stream."
    assert sentence(ValueError("7")) == "ValueError: 7"
    assert sentence(KeyError()) == "KeyError: "
