"""Before a build: materials in waves, domains as numbers, what it takes, on what machines."""
