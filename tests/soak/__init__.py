"""A soak: a day of event time, in which queries come and go."""
