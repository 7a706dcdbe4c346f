"""The place of a position: squares, symmetries, king pairs, the partitions of a share."""

KING_PAIRS = 462
"""The pairs of kings without pawns, symmetric ones being one; king_pairs.py finds as many.  No more
workers than these can share a material.
"""
