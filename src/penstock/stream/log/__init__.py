"""The stream log: partitions, segments, manifests, retention, compaction."""
