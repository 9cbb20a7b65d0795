"""Static analysis of a set of rules: dependencies, evaluation layers, partitioning, entailed patterns."""
