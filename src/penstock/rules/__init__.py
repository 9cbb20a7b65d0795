"""Rules: CONSTRUCT queries of events, whose triples go back into the stream (EP-SPARQL 4.2).

`depend` says which rules feed which, and in what order they run; `partition` by which term their elements may be split;
`machine` evaluates rules that feed themselves, element by element. Nothing in here knows Spark.
"""
