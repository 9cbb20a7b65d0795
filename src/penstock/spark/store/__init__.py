"""The Spark store of background knowledge, and one-shot queries on it."""
