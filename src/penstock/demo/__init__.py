"""`penstock demo`: a small city that comes with Penstock, its map (`still`) and its traffic (`city`)."""

from penstock.demo.still import CITY, play, queries

__all__ = ["CITY", "play", "queries"]
