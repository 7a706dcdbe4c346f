"""The data plane: rules, index, kernels, analysis, tables and probing.  It knows no cluster, no
server and no terminal.
"""
