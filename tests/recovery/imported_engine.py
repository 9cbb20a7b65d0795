"""Imports what an engine otherwise imports when it needs it."""

import penstock.stream.runtime.runtime  # noqa: F401
