"""python3 task.py: computes one array after the other, until it is killed; the main thread waits for each."""

import mlx.core as mx

mx.set_default_device(mx.cpu)
values, square = mx.random.normal((1500, 1500)), mx.random.normal((600, 600))
mx.eval(values, square)
while True:
    product = square @ square
    mx.eval(product)
    del product
    sine = mx.sin(values)
    mx.eval(sine)
    del sine
