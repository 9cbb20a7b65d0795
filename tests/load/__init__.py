"""Overload: ten times more than an engine can take."""
