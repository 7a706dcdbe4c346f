"""Sets of positions in memory: bitmaps by partition, layers, and threads to work on them."""
