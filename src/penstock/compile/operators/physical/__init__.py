"""Physical operators: join algorithm, semi-join reduction, static views and look-ups, joins in time buckets."""
