"""The state machine of a build: state, events, commands, the pure function between them."""
