"""A Rete-like network: nodes take the rows that end now, and remember the earlier rows that may still join with them.

Triple patterns are the alpha nodes (`nodes.Leaf`), operators the beta nodes, and `memory` holds their rows. Where Rete
deletes facts, rows here are pruned by age: no event takes an answer back.
"""
