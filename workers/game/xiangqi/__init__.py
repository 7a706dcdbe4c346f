"""The rules of Chinese chess."""
