"""Tests of the applications in `examples`."""
