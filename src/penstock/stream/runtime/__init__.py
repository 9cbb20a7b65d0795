"""The runtime: bounded runs, the live engine, status."""
