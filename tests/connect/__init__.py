"""Connectors with real brokers, each started once on loopback: `make brokers` installs them."""
