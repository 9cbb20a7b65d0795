"""Physical operators: static views, look-ups, semi-join reduction, joins in buckets of time."""
