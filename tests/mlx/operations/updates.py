"""Updates."""

import math

import mlx.core as mx
import numpy as np

from draw import COMPLEX, FLOATS, HALVES, INTEGERS, REAL, UNSIGNED, mlx_dtype, words
from lazybones import DTYPES
from operations.case import Case, op, index_of, largest, sum_floor


def updated(d, x, shape):
    """What is put in: of x's dtype or another, of that shape or one that broadcasts to it."""
    some = [1 if d.chance(0.2) else s for s in shape]
    if d.chance(0.15):
        some = some[d.int(0, len(some)):]
    return d.tensor(tuple(some), x.dtype if d.chance(0.8) or x.dtype in UNSIGNED else d.of(REAL if x.dtype != "complex64" else DTYPES), "small")


@op("slice_update", "slice_add")
def slice_update(d, name):
    dtype = d.of(DTYPES)
    x = d.tensor(d.shape(1, 4), dtype, "small")
    index = index_of(d, x.shape)
    python, ours, n = words(index)
    update = updated(d, x, x.a[python].shape)
    d.say(index=python)

    def mlx(m, u):
        if name == "slice_add":
            return m.at[python].add(u)
        y = mx.array(m)
        y[python] = u
        return y
    return Case([x, update], mlx, lambda l, u: getattr(d.lb, name + "_n")(l, u, n, ours), ulp=1)


@op("scatter_add")
def scatter_add(d, name):
    dtype = d.of(INTEGERS + FLOATS)
    x = d.tensor(d.shape(1, 3), dtype, "small")
    shape = d.shape(0, 2)
    if 0 in x.shape + shape:
        return None  # MLX divides by it
    at = d.tensor(shape, "int32", a=d.rng.integers(-x.shape[0], x.shape[0], shape).astype("int32"))
    update = d.tensor(shape + x.shape[1:], dtype, "small")
    stage = "float32" if dtype in HALVES else dtype  # MLX rounds halves at each step, ours at the end

    def mlx(m, i, u):
        y = m.astype(mlx_dtype(stage)).at[i].add(u.astype(mlx_dtype(stage)))
        return y.astype(m.at[i].add(u).dtype)
    n = math.prod(shape)
    return Case([x, at, update], mlx, lambda l, i, u: d.lb.scatter_add(l, i, u, 0), ulp=1,
                floor=sum_floor(largest(x.a) + n * largest(update.a), n + 1, stage) if dtype in FLOATS + COMPLEX else 0)


@op("put_along_axis")
def put_along_axis(d, name):
    x = d.tensor(d.shape(1, 3), d.of(DTYPES), "small")
    rank = len(x.shape)
    axis = d.axis(rank)
    if not -rank <= axis < rank or not x.shape[axis]:
        return None
    shape = list(x.shape)
    n = d.int(1, x.shape[axis])
    at = np.argsort(d.rng.random(x.shape), axis=axis).take(range(n), axis=axis).astype("int32")
    shape[axis] = n
    i = d.tensor(tuple(shape), "int32", a=at)
    values = d.tensor(tuple(shape) if d.chance(0.8) else (), x.dtype, "small")
    d.say(axis=axis)
    return Case([x, i, values], lambda m, i, v: mx.put_along_axis(m, i, v, axis),
                lambda l, i, v: d.lb.put_along_axis(l, i, v, axis, 0))
