"""Goods delivery: couriers, roads that are blocked and freed, and ways round them found by a property path."""
