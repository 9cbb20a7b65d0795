"""Types that the compiler, Spark and the runtime share: spans, stream files, encoded terms, statistics of segments."""
