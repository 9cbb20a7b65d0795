"""The Spark session: settings, Java, memory, jobs, cancellation."""
