"""Answers: rows of a result as answers at instants, and the answers of a family split by query."""
