"""The compiler: algebra to SQL, in pure Python.

Its sub-packages follow the data: `windows` (stream-to-relation), `operators` (relation-to-relation), `reports`
(relation-to-stream). `expressions` compiles expressions, `sql` is the tree that all of them build.
"""
