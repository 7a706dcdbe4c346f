"""Answers about positions, tables and builds, as values with one JSON. No HTTP, no terminal."""
