"""Packed tables, which store one column of two, and the derivation of the other one."""
