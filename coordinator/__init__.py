"""The order of builds: which material, which pass and whose turn, up to the last table.

The control plane. A pure function takes a build and an event and gives the next build and the
commands that follow; a journal keeps the events, and everything known about a build is a fold over
them. Partitions are numbers with sizes and neighbours here: how men move is known only in
`workers`.
"""
