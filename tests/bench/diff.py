# `tensor diff` as one writes it in gdb's Python today.
import time

import gdb
import numpy as np

nbytes = 512 << 20
start = time.time()
address = int(gdb.parse_and_eval("(unsigned long)big_data"))
x = np.frombuffer(gdb.selected_inferior().read_memory(address, nbytes), dtype=np.float32)
a, b = x[:x.size // 2], x[x.size // 2:]
error = np.abs(a - b)
with np.errstate(divide="ignore"):
    relative = error / np.abs(b)
print((error != 0).sum(), error.max(), error.argmax(), np.nanmax(relative), error.mean(dtype=np.float64),
      (error >= 1e-5).sum(), np.isnan(error).sum(), np.allclose(a, b, equal_nan=True))
print("python_diff_s %g" % (time.time() - start))
