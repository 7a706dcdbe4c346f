"""The doctor: whether this machine, or a cluster, is fit to build."""
