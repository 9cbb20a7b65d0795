"""Continuous queries on Spark: planning, background tables, results, profiles."""
