"""Tsunami detection: buoys, a prediction of the tide by averages of the past three hours, and whom to warn."""
