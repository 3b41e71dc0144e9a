"""python3 where.py: keeps a stream busy, with more to come, until it is killed; the main thread waits for it."""

import mlx.core as mx

mx.set_default_device(mx.cpu)
values = mx.random.normal((1500, 1500))
mx.eval(values)
for turn in range(10**6):
    sums = values
    for step in range(300):
        sums = mx.sin(mx.cumsum(sums, axis=0))
    mx.eval(sums)
