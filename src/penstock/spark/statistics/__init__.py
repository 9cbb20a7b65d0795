"""Statistics read by Spark jobs: samples of streams, predicates of foreign Parquet files."""
