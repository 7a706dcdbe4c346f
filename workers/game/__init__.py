"""The rules of a game as values, the results of positions, and the metrics of distances."""
