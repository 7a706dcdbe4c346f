"""Chess: material, positions, moves, notation, FEN."""
