"""The command `kingpair`: one file for each group of commands."""

import gc
import os

# Imports make some 70,000 objects that live to the end.  With the usual threshold the collector
# looks at them again and again, for a tenth of the time that `kingpair probe` takes.
gc.set_threshold(100_000)
# numpy's linear algebra, of which nothing here makes use, starts a thread for each core.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
