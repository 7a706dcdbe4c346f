"""The table: its format, how it is written, read in order, counted, found in a directory."""
