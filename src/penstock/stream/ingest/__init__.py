"""Ingest: from sources to the stream log."""
