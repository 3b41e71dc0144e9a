"""python3 large.py: lazy arrays of 2.6 GiB and what is made of them, of which nothing is ever computed. It says `resting`, and waits until its
input ends. `loaded` is of a file that has gone since."""

import os
import sys
import tempfile

import mlx.core as mx

mx.set_default_device(mx.cpu)
few = mx.arange(21.0).reshape(3, 7)
mx.eval(few)
big = mx.arange(700000000).reshape(100000000, 7) * 3 + 7
rows = mx.softmax(mx.broadcast_to(mx.ones(7), (100000000, 7)) * 2, axis=-1)
joined = mx.concatenate([mx.zeros((100000000, 7)), few + 1], axis=0)
even = mx.full((100000000, 7), 3.0)
taken = mx.full((100000000, 7), 2.0)[mx.array([5, 99999999])]
with tempfile.TemporaryDirectory() as folder:
    mx.save(os.path.join(folder, "few.npy"), few)
    loaded = mx.load(os.path.join(folder, "few.npy"))
print("resting", flush=True)
sys.stdin.read()
