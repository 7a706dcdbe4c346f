"""The place of a position: squares, symmetries, king pairs, the partitions of a share."""
