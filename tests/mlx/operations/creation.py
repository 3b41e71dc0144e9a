"""Creation."""

import mlx.core as mx

from draw import FLOATS, INTEGERS, mlx_dtype
from lazybones import DTYPES
from operations.case import Case, op, eps, number


@op("zeros", "ones")
def fill(d, name):
    shape, dtype = d.shape(), d.of(DTYPES)
    return Case([], lambda: getattr(mx, name)(shape, mlx_dtype(dtype)), lambda: getattr(d.lb, name)(list(shape), number(dtype)))


@op("full")
def full(d, name):
    shape, dtype, value = d.shape(), d.of(DTYPES), d.int(0, 5)
    return Case([], lambda: mx.full(shape, value, mlx_dtype(dtype)),
                lambda: d.lb.full(list(shape), float(value), number(dtype)))


@op("zeros_like", "ones_like")
def like(d, name):
    return Case([d.tensor(d.shape(), d.of(DTYPES))], getattr(mx, name), getattr(d.lb, name))


@op("arange")
def arange(d, name):
    dtype = d.dtype(INTEGERS + FLOATS)
    start, step = d.int(0, 5), d.int(1, 3)
    stop = start + d.int(-1, 30)
    if dtype in FLOATS:
        start, stop, step = start / 4, stop / 4, step / 8
    d.say(start=start, stop=stop, step=step, dtype=dtype)
    return Case([], lambda: mx.arange(start, stop, step, mlx_dtype(dtype)),
                lambda: d.lb.arange(float(start), float(stop), float(step), number(dtype)))


@op("linspace")
def linspace(d, name):
    dtype, start, stop, n, end = d.dtype(FLOATS), d.int(-5, 5), d.int(-5, 50), d.int(0, 20), d.chance(0.7)
    d.say(start=start, stop=stop, n=n, end=end, dtype=dtype)
    return Case([], lambda: mx.linspace(start, stop, n, endpoint=end, dtype=mlx_dtype(dtype)),
                lambda: d.lb.linspace(float(start), float(stop), n, end, number(dtype)), ulp=2,
                floor=2 * eps("float32") * 50)


@op("eye", "tri")
def eye(d, name):
    rows, columns, k, dtype = d.int(0, 6), d.int(0, 6), d.int(-7, 7), d.of(DTYPES)
    d.say(rows=rows, columns=columns, k=k)
    return Case([], lambda: getattr(mx, name)(rows, columns, k, mlx_dtype(dtype)),
                lambda: getattr(d.lb, name)(rows, columns, k, number(dtype)))


@op("bartlett", "blackman", "hamming", "hanning")
def window(d, name):
    n = d.int(0, 40)
    d.say(n=n)
    return Case([], lambda: getattr(mx, name)(n), lambda: getattr(d.lb, name)(n), ulp=2, floor=4e-7)
