"""How far Penstock is from PySpark written by hand. `make bench` runs it all."""
