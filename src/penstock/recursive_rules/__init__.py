"""EP-SPARQL rules: CONSTRUCT queries of events, whose triples go back into the stream (EP-SPARQL 4.2).

Rules that feed themselves are evaluated event by event in a network of nodes with memories, after Rete (C. L. Forgy,
"Rete: A fast algorithm for the many pattern/many object pattern match problem", Artificial Intelligence 19, 1982):

- `solutions`: rows with an interval, and the expressions on them;
- `analysis`: which rules feed which, in what order they run, and by which term their elements may be split;
- `rete`: the network: one node per operator, shared between rules, each remembering the rows it will need;
- `machine`: runs the network, one step per end of an event.

Nothing in here knows Spark.
"""
