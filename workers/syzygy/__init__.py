"""Syzygy files: the format, which reader and writer share, and the rules of probing."""
