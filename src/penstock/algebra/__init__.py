"""The algebra of a query: typed frozen nodes, independent of the language it was written in and of Spark."""
