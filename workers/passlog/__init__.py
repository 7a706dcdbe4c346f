"""The pass log: what each pass of an analysis found, written, read back and replayed."""
