"""What: positions, their index, the kernels that un-move them, and the tables they end in.

The data plane. Geometry, index, kernels, solver, table and probe live here and need neither a
cluster nor a server: a partition's bitmaps are computed by their owner alone, so the bytes of a
table depend on no order, no machine and no count of workers.
"""
