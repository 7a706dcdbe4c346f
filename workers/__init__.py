"""What: the data plane. Geometry, index, kernels, analysis, tables and probing; no cluster, no
server, no terminal.
"""
