"""Views, and what moves elements."""

import math

import mlx.core as mx
import numpy as np

from draw import BOOL, FLOATS, INTEGERS, SIGNED, UNSIGNED, words
from lazybones import DTYPES, Axes
from operations.case import Case, op, any_of, compatible, index_of


@op("reshape")
def reshape(d, name):
    x = any_of(d)
    n, shape = math.prod(x.shape), []
    while n > 1 and len(shape) < 4 and d.chance(0.7):
        factor = d.of([k for k in range(1, n + 1) if n % k == 0][:12])
        shape.append(factor)
        n //= factor
    shape.append(n)
    if d.chance(0.4):
        shape[d.int(0, len(shape) - 1)] = -1
    if d.chance(0.03):
        shape.append(2)
    if d.chance(0.02):
        shape += [-1, -1]
    d.say(to=shape)
    return Case([x], lambda m: mx.reshape(m, shape), lambda l: d.lb.reshape(l, shape), grads=True)


@op("transpose")
def transpose(d, name):
    x = any_of(d)
    rank = len(x.shape)
    axes = None if d.chance(0.3) else [int(k) - (rank if d.chance(0.3) else 0) for k in d.rng.permutation(rank)]
    if axes and d.chance(0.04):
        axes[0] = d.of([rank, axes[-1]])
    d.say(axes=axes)
    return Case([x], lambda m: mx.transpose(m, axes), lambda l: d.lb.transpose(l, Axes(axes)), grads=True)


@op("swapaxes", "moveaxis")
def swapaxes(d, name):
    x = any_of(d, 1)
    a, b = d.axis(len(x.shape)), d.axis(len(x.shape))
    d.say(a=a, b=b)
    return Case([x], lambda m: getattr(mx, name)(m, a, b), lambda l: getattr(d.lb, name)(l, a, b), grads=True)



@op("slice")
def slice_(d, name):
    x = any_of(d)
    index = index_of(d, x.shape)
    python, ours, n = words(index)
    d.say(index=python)
    return Case([x], lambda m: m[python], lambda l: d.lb.slice_n(l, n, ours), grads=True)


@op("broadcast_to")
def broadcast_to(d, name):
    shapes = d.broadcast(2, 5)
    to = list(np.broadcast_shapes(*shapes)) if d.chance(0.95) and compatible(shapes) else list(shapes[1])
    x = d.tensor(shapes[0], d.of(DTYPES))
    d.say(to=to)
    return Case([x], lambda m: mx.broadcast_to(m, to), lambda l: d.lb.broadcast_to(l, to), grads=True)



@op("expand_dims")
def expand_dims(d, name):
    x = any_of(d, 0, 3)
    n = d.int(1, 2)
    rank = len(x.shape) + n
    axes = [int(k) - (rank if d.chance(0.4) else 0) for k in d.rng.permutation(rank)[:n]]
    if d.chance(0.04):
        axes[0] = d.of([rank, axes[-1]])
    d.say(axes=axes)
    return Case([x], lambda m: mx.expand_dims(m, axes), lambda l: d.lb.expand_dims(l, axes), grads=True)


@op("squeeze")
def squeeze(d, name):
    shape = tuple(1 if d.chance(0.5) else s for s in d.shape())
    x = d.tensor(shape, d.of(DTYPES))
    ones = [k - (len(shape) if d.chance(0.4) else 0) for k, s in enumerate(shape) if s == 1 or d.chance(0.02)]
    axes = None if d.chance(0.3) else ones[:d.int(0, len(ones))]
    d.say(axes=axes)
    return Case([x], lambda m: mx.squeeze(m, axes), lambda l: d.lb.squeeze(l, Axes(axes)), grads=True)


@op("atleast_1d", "atleast_2d", "atleast_3d")
def atleast(d, name):
    return Case([any_of(d, 0, 4)], getattr(mx, name), getattr(d.lb, name))


@op("flatten")
def flatten(d, name):
    x = any_of(d)
    start, end = d.axis(len(x.shape)), d.axis(len(x.shape))
    if d.chance(0.7) and x.shape:
        rank = len(x.shape)
        start, end = sorted((start % rank, end % rank))
    d.say(start=start, end=end)
    return Case([x], lambda m: mx.flatten(m, start, end), lambda l: d.lb.flatten(l, start, end))


@op("unflatten")
def unflatten(d, name):
    x = any_of(d, 1, 4)
    axis = d.axis(len(x.shape))
    size = x.shape[axis] if -len(x.shape) <= axis < len(x.shape) else 4
    factor = d.of([k for k in range(1, size + 1) if size % k == 0] or [1])
    shape = [factor, size // factor if d.chance(0.5) else -1]
    if d.chance(0.03):
        shape[1] = size + 1
    d.say(axis=axis, to=shape)
    return Case([x], lambda m: mx.unflatten(m, axis, shape), lambda l: d.lb.unflatten(l, axis, shape))


@op("diagonal", "trace")
def diagonal(d, name):
    x = d.tensor(d.shape(2, 4), d.of(DTYPES) if name == "diagonal" else d.of(INTEGERS + FLOATS), "small")
    k, a, b = d.int(-4, 4), d.axis(len(x.shape)), d.axis(len(x.shape))
    d.say(k=k, a=a, b=b)
    rank = len(x.shape)
    if name == "trace" and -rank <= min(a, b) and max(a, b) < rank and a % rank != b % rank and not np.diagonal(x.a, k, a, b).size:
        return None  # of no elements MLX never ends
    return Case([x], lambda m: getattr(mx, name)(m, k, a, b), lambda l: getattr(d.lb, name)(l, k, a, b), ulp=1, grads=True)


@op("as_strided")
def as_strided(d, name):
    x = any_of(d, 1, 3)
    n = math.prod(x.shape)
    shape, strides, offset, reach = [], [], d.int(0, max(n // 3, 0)), 0
    for _ in range(d.int(0, 3)):
        size, stride = d.int(1, 4), d.int(0, 3)
        if offset + reach + (size - 1) * stride < n:
            shape.append(size)
            strides.append(stride)
            reach += (size - 1) * stride
    if n == 0:
        return None
    d.say(to=shape, strides=strides, offset=offset)
    return Case([x], lambda m: mx.as_strided(m, shape, strides, offset), lambda l: d.lb.as_strided(l, shape, strides, offset))


@op("contiguous", "stop_gradient")
def same(d, name):
    return Case([any_of(d)], getattr(mx, name), getattr(d.lb, name))


@op("concatenate", "stack")
def join(d, name):
    shape, dtype = list(d.shape(0 if name == "stack" else 1, 4)), d.of(DTYPES)
    rank = len(shape) + (name == "stack")
    axis = d.axis(rank)
    xs = []
    for _ in range(d.int(1, 4)):
        mine = list(shape)
        if name == "concatenate" and -rank <= axis < rank:
            mine[axis] = d.int(0, 4)
        if mine and d.chance(0.02):
            mine[0] += 1
        xs.append(d.tensor(tuple(mine), dtype if d.chance(0.8) else d.of(DTYPES)))
    d.say(axis=axis)
    return Case(xs, lambda *m: getattr(mx, name)(list(m), axis),
                lambda *l: getattr(d.lb, name)(len(l), d.lb.pointers(l), axis), grads=True)


@op("split")
def split(d, name):
    x = any_of(d, 1, 4)
    axis, n = d.axis(len(x.shape)), d.int(1, 4)
    d.say(axis=axis, n=n)
    return Case([x], lambda m: mx.split(m, n, axis), lambda l: d.lb.array("split", n, l, n, axis))


@op("split_at")
def split_at(d, name):
    x = any_of(d, 1, 4)
    axis = d.axis(len(x.shape))
    at = sorted(d.int(0, 6) for _ in range(d.int(1, 3)))
    d.say(axis=axis, at=at)
    return Case([x], lambda m: mx.split(m, at, axis), lambda l: d.lb.array("split_at", len(at) + 1, l, at, axis))


@op("roll")
def roll(d, name):
    x = any_of(d, 1, 4)
    axes = d.axes(len(x.shape))
    by = [d.int(-7, 7) for _ in axes] if axes is not None else [d.int(-9, 9)]
    d.say(axes=axes, by=by)
    return Case([x], lambda m: mx.roll(m, tuple(by) if axes is not None else by[0], None if axes is None else tuple(axes)),
                lambda l: d.lb.roll(l, by, Axes(axes)))


@op("repeat")
def repeat(d, name):
    x = any_of(d, 1, 4)
    axis, n = d.axis(len(x.shape)), d.int(0, 4)
    d.say(axis=axis, n=n)
    return Case([x], lambda m: mx.repeat(m, n, axis), lambda l: d.lb.repeat(l, n, axis), grads=True)


@op("tile")
def tile(d, name):
    x = any_of(d, 0, 3)
    times = [d.int(0 if d.chance(0.1) else 1, 3) for _ in range(d.int(0, 4))]
    d.say(times=times)
    return Case([x], lambda m: mx.tile(m, times), lambda l: d.lb.tile(l, times))


@op("meshgrid")
def meshgrid(d, name):
    xs = [d.tensor((d.int(0, 4),), d.of(DTYPES)) for _ in range(d.int(1, 3))]
    rows, sparse = d.chance(0.5), d.chance(0.4)
    d.say(rows=rows, sparse=sparse)
    return Case(xs, lambda *m: mx.meshgrid(*m, sparse=sparse, indexing="ij" if rows else "xy"),
                lambda *l: d.lb.array("meshgrid", len(l), len(l), d.lb.pointers(l), rows, sparse))


@op("tril", "triu")
def triangle(d, name):
    x, k = any_of(d, 2 if d.chance(0.95) else 0, 4), d.int(-4, 4)
    d.say(k=k)
    return Case([x], lambda m: getattr(mx, name)(m, k), lambda l: getattr(d.lb, name)(l, k))


@op("diag")
def diag(d, name):
    x, k = any_of(d, 1 if d.chance(0.95) else 0, 2 if d.chance(0.95) else 3), d.int(-4, 4)
    d.say(k=k)
    return Case([x], lambda m: mx.diag(m, k), lambda l: d.lb.diag(l, k))


@op("pad", "pad_edge")
def pad(d, name):
    x = any_of(d, 0, 4)
    if name == "pad_edge" and (0 in x.shape):
        return None
    low, high = [d.int(0, 3) for _ in x.shape], [d.int(0, 3) for _ in x.shape]
    value = d.int(0, 3) if x.dtype in BOOL + UNSIGNED else d.int(-3, 3)
    d.say(low=low, high=high)
    if name == "pad":
        return Case([x], lambda m: mx.pad(m, list(zip(low, high)), constant_values=mx.array(value).astype(m.dtype)) if low else m,
                    lambda l: d.lb.pad(l, low, high, float(value)), grads=True)
    return Case([x], lambda m: mx.pad(m, list(zip(low, high)), mode="edge") if low else m, lambda l: d.lb.pad_edge(l, low, high))


@op("take")
def take(d, name):
    x = any_of(d, 1, 4)
    axis = d.axis(len(x.shape))
    size = x.shape[axis] if -len(x.shape) <= axis < len(x.shape) else 1
    if 0 in x.shape:
        return None  # MLX divides by it
    dtype = d.of(INTEGERS)
    low = -size if dtype in SIGNED else 0
    shape = d.shape(0, 2)
    at = d.tensor(shape, dtype, a=d.rng.integers(low, size, shape).astype(dtype))
    d.say(axis=axis)
    return Case([x, at], lambda m, i: mx.take(m, i, axis), lambda l, i: d.lb.take(l, i, axis), grads=True)


@op("take_along_axis")
def take_along_axis(d, name):
    x = any_of(d, 1, 4)
    axis = d.axis(len(x.shape))
    rank = len(x.shape)
    size = x.shape[axis] if -rank <= axis < rank else 1
    if not size:
        return None
    shape = list(x.shape)
    if -rank <= axis < rank:
        shape[axis] = d.int(0, 5)
        for k in range(rank):
            if k != axis % rank and d.chance(0.2):
                shape[k] = 1
    dtype = d.of(["int32", "uint32", "int64"])
    at = d.tensor(tuple(shape), dtype, a=d.rng.integers(-size if dtype in SIGNED else 0, size, shape).astype(dtype))
    d.say(axis=axis)
    return Case([x, at], lambda m, i: mx.take_along_axis(m, i, axis), lambda l, i: d.lb.take_along_axis(l, i, axis), grads=True)
