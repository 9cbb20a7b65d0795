"""Parse tree → `tree.Query`: one module of Lark callbacks per grammar file."""
