"""Who asks: the command line, and later the server and its page.

The edge of the system. What comes in as text is parsed here, once, into the types of the layers
below; what goes out is shown here; errors become exit codes and statuses here and nowhere else.
It decides nothing about chess and nothing about order: it asks `coordinator` for builds and
`workers` for answers.
"""
