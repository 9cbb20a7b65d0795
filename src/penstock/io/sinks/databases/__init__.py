"""Sinks that are tables of a database."""
