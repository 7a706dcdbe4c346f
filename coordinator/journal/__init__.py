"""The journal of builds in SQLite: append, read, fold into what is known of each build."""
