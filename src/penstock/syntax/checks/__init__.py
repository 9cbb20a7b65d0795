"""Checks of a parsed query that the grammar cannot express: errors, and warnings about likely mistakes."""
