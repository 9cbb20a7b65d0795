"""Execution on Spark: session, views, store, continuous queries."""
