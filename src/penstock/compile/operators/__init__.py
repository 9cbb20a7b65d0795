"""Relation-to-relation: the operators of the algebra as SQL relations."""
