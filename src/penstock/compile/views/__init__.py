"""Materialised views of the background: requests for them, their rows in the driver, look-ups by term."""
