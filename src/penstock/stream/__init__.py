"""From sources to sinks: the stream log, the clock, ingest, and the loop that evaluates due instants."""
