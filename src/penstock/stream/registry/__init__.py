"""Registered queries: metadata store, evaluation groups, schedule."""
