"""Relation-to-stream: RSTREAM, ISTREAM, DSTREAM and validity intervals."""
