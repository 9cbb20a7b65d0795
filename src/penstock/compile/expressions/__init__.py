"""Expressions of SPARQL as SQL: encoded terms, typed values, functions, sort keys."""
