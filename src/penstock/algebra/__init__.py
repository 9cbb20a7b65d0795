"""The algebra: what a query means, as typed frozen nodes, free of any dialect and of Spark."""
