"""`penstock demo`: a small city that comes with Penstock, its map (`static_city`) and its traffic (`city`)."""

from penstock.demo.static_city import CITY, play, queries

__all__ = ["CITY", "play", "queries"]
