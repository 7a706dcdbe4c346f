"""Studies of whole tables: reports, longest wins, zugzwangs, samples, exports."""
