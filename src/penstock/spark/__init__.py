"""From algebra to Spark: one SQL text per query, one round trip to the JVM (docs/decisions/0001)."""
