# `tensor stats` as one writes it in gdb's Python today.
import time

import gdb
import numpy as np

nbytes = 512 << 20
start = time.time()
address = int(gdb.parse_and_eval("(unsigned long)big_data"))
x = np.frombuffer(gdb.selected_inferior().read_memory(address, nbytes), dtype=np.float32)
finite = np.isfinite(x)
y = x if finite.all() else x[finite]
print(x.size, np.isnan(x).sum(), np.isinf(x).sum(), (x == 0).sum(),
      y.min(), y.max(), y.mean(dtype=np.float64), y.std(dtype=np.float64))
print("python_stats_s %g" % (time.time() - start))
