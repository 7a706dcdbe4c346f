"""Retrograde analysis: exits, passes, open sets, and the plain reference twin."""
