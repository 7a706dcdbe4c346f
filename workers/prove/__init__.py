"""Verification: each value follows from its successors.  Shares no code with `solve`."""
