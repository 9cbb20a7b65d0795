"""Sinks of brokers: each answer, or each batch of a query, is a message."""
