"""The service over HTTP: who asks from a browser, a script, or a client of Lichess.

The modules here are the only ones that import FastAPI, and they decide nothing: what is answered is
worked out beside the folder (`lichess`, `fifty`, `positions`, `catalogue`, `ranges`).
"""
