"""The HTTP service, for browsers, scripts and clients of Lichess's interface.

Only these modules import FastAPI.  They are thin: the modules of `kingpair.api.answers` compute the
answers (`lichess`, `fifty`, `positions`, `catalogue`).
"""
