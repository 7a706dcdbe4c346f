"""Ray clusters: the only modules that import Ray."""
