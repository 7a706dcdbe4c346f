"""The edge of the system: the command line, the HTTP service and its page.

These modules parse text once into the types of the layers below, format answers, and turn errors
into exit codes and statuses.  They decide nothing about chess or about the order of work: they ask
`coordinator` for builds and `workers` for answers.
"""
