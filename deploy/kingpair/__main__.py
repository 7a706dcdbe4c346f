"""`python -m kingpair` is the command `kingpair`."""

from kingpair.api.cli.main import main

main()
