"""The bench: figures beside their targets, and the signature."""
