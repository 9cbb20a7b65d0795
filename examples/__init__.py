"""Applications on Penstock, each a folder with its data, its queries and one command; see docs/tutorial/examples.md."""
