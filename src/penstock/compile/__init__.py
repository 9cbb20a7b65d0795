"""The compiler: algebra to SQL, in pure Python.

Its sub-packages follow the data: windows (stream-to-relation), operators (relation-to-relation), reports
(relation-to-stream). Expressions and functions are in `sql` and `functions`.
"""
