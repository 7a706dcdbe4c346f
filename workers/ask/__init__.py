"""Answers from finished tables: for one position, for all its moves, and the best line."""
