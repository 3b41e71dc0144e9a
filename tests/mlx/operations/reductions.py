"""Reductions, order, scans."""

import math

import mlx.core as mx
import numpy as np

from draw import BOOL, FLOATS, HALVES, INTEGERS, REAL
from lazybones import DTYPES, Axes, Tensor, Uniques
from operations.case import Case, op, eps, summed, sum_floor, largest


@op("sum", "mean", "max", "min", "prod", "all", "any", "logsumexp", "var", "std", "median", "minmax")
def reduction(d, name):
    dtype = d.dtype(DTYPES if name not in ("var", "std", "median", "logsumexp", "mean") else FLOATS + INTEGERS)
    kind = "any" if name in ("max", "min", "all", "any", "minmax") else "unit" if name == "prod" and dtype in FLOATS else "tame"
    x = d.tensor(d.shape(), dtype, kind)
    axes, keep, ddof = d.axes(len(x.shape)), d.chance(0.4), d.of([0, 1, 0, 1, 2, 3])
    d.say(axes=axes, keep=keep, **(dict(ddof=ddof) if name in ("var", "std") else {}))
    good = [k for k in axes or [] if -len(x.shape) <= k < len(x.shape)] if axes is not None else None
    n = math.prod(x.shape[k] for k in good) if good is not None else math.prod(x.shape)
    if n == 0 and name in ("mean", "var", "std", "median"):
        return None  # MLX may wait for ever
    floor, ulp = 0.0, 0
    if name in ("sum", "mean"):
        floor = sum_floor(np.max(summed(x.a, good and {k % len(x.shape) for k in good}), initial=0), n, dtype)
        if name == "mean":
            floor, ulp = floor / max(n, 1) + 4 * eps(dtype) * largest(x.a), 4
        if dtype in INTEGERS + BOOL and name == "sum":
            floor = 0.0
    elif name == "prod":
        ulp, floor = 4 + n, (eps(dtype) * np.float64(largest(x.a))**n * n if dtype == "complex64" else 0.0)
    elif name in ("var", "std"):
        ulp, floor = 16 + n if dtype not in HALVES else 4 * max(n, 4), eps(dtype) * 16 * max(largest(x.a), largest(x.a)**2)
        floor *= n / max(n - ddof, 1)  # by which MLX multiplies what it has divided by n
    elif name in ("logsumexp", "median"):
        ulp, floor = 4, 8 * eps(dtype) * max(1, largest(x.a))
    options = {"ddof": ddof} if name in ("var", "std") else {}
    if name == "minmax":
        return Case([x], lambda m: mx.minmax(m, axis=axes, keepdims=keep),
                    lambda l: d.lb.several("minmax", 2, l, Axes(axes), keep))
    return Case([x], lambda m: getattr(mx, name)(m, axis=axes, keepdims=keep, **options),
                lambda l: getattr(d.lb, name)(l, Axes(axes), keep, *options.values()), ulp=ulp, floor=floor,
                grads=name not in ("all", "any", "prod", "median") and kind != "any")


@op("argmax", "argmin")
def argreduce(d, name):
    x = d.tensor(d.shape(), d.of(REAL), "any")
    axis, keep = None if d.chance(0.3) else d.axis(len(x.shape)), d.chance(0.4)
    d.say(axis=axis, keep=keep)
    return Case([x], lambda m: getattr(mx, name)(m, axis=axis, keepdims=keep),
                lambda l: getattr(d.lb, name)(l, Axes(None if axis is None else [axis]), keep))


@op("softmax")
def softmax(d, name):
    dtype = d.dtype(FLOATS, DTYPES)
    x = d.tensor(d.shape(), dtype, "tame")
    axes = d.axes(len(x.shape))
    d.say(axes=axes)
    return Case([x], lambda m: mx.softmax(m, axis=axes, precise=True), lambda l: d.lb.softmax(l, Axes(axes)), ulp=8,
                floor=2 * eps(dtype), grads=True)


@op("sort", "argsort")
def sort(d, name):
    x = d.tensor(d.shape(), d.of(REAL), "any")
    axis = d.axis(len(x.shape))
    d.say(axis=axis)
    return Case([x], lambda m: getattr(mx, name)(m, axis=axis), lambda l: getattr(d.lb, name)(l, axis), grads=name == "sort")


@op("partition", "argpartition")
def partition(d, name):
    # of a broadcast view MLX partitions the same line again and again, which leaves another order
    shape, dtype = d.shape(1), d.of([t for t in REAL if t not in ("int64", "uint64")])
    x = d.pair(d.values(shape, dtype), shape, dtype)
    axis = d.axis(len(x.shape))
    size = x.shape[axis] if -len(x.shape) <= axis < len(x.shape) else 1
    k = d.int(-size, size - 1) if size else 0
    if d.chance(0.04):
        k = size
    d.say(axis=axis, k=k)
    return Case([x], lambda m: getattr(mx, name)(m, k, axis=axis), lambda l: getattr(d.lb, name)(l, k, axis))


@op("topk")
def topk(d, name):
    x = d.tensor(d.shape(1), d.of(INTEGERS + FLOATS), "tame")
    axis = d.axis(len(x.shape))
    size = x.shape[axis] if -len(x.shape) <= axis < len(x.shape) else 1
    k = d.int(0 if d.chance(0.1) else min(1, size), size)
    d.say(axis=axis, k=k)
    return Case([x], lambda m: mx.sort(mx.topk(m, k, axis=axis), axis=axis), lambda l: d.lb.sort(d.lb.topk(l, k, axis), axis))


@op("searchsorted")
def searchsorted(d, name):
    dtype, right = d.of(REAL), d.chance(0.5)
    line = d.tensor((d.int(0, 20),), dtype, "small")
    line = d.tensor(line.shape, dtype, a=np.sort(line.a)) if dtype != "bfloat16" else line
    if dtype == "bfloat16":
        return None
    values = d.tensor(d.shape(0, 3), dtype if d.chance(0.8) else d.of(REAL), "small")
    return Case([line, values], lambda a, v: mx.searchsorted(a, v, "right" if right else "left"), lambda a, v: d.lb.searchsorted(a, v, right))


@op("diff")
def diff(d, name):
    x = d.tensor(d.shape(1), d.of(DTYPES), "tame")
    n, axis = d.int(0, 4), d.axis(len(x.shape))
    d.say(n=n, axis=axis)
    return Case([x], lambda m: mx.diff(m, n, axis), lambda l: d.lb.diff(l, n, axis), ulp=1, floor=0.0)


@op("cumsum", "cumprod", "cummax", "cummin", "logcumsumexp")
def scan(d, name):
    dtype = d.of(DTYPES if name in ("cumsum", "cumprod") else REAL if name != "logcumsumexp" else FLOATS)
    kind = "any" if name in ("cummax", "cummin") else "unit" if name == "cumprod" else "tame"
    x = d.tensor(d.shape(1, 3), dtype, kind)
    axis, reverse, inclusive = d.axis(len(x.shape)), d.chance(0.5), d.chance(0.6)
    d.say(axis=axis, reverse=reverse, inclusive=inclusive)
    n = max(x.shape, default=1)
    floor = 0.0 if dtype in BOOL + INTEGERS or name in ("cummax", "cummin") else \
        eps(dtype) * n * max(1, largest(x.a)) * (n if dtype in HALVES else 4)
    return Case([x], lambda m: getattr(mx, name)(m, axis=axis, reverse=reverse, inclusive=inclusive),
                lambda l: getattr(d.lb, name)(l, axis, reverse, inclusive), ulp=4, floor=floor,
                grads=name in ("cumsum", "logcumsumexp"))


@op("unique")
def unique(d, name):
    x = d.tensor(d.shape(0, 3), d.of(REAL), "small" if d.chance(0.7) else "any")
    size = d.int(0, 12)
    fill = [d.tensor((), x.dtype, "small")] if d.chance(0.5) else []
    d.say(size=size)

    def ours(l, *fill):
        u = d.lb.call("unique", Uniques, l, size, fill[0] if fill else None)
        return [Tensor(p) for p in (u.values, u.indices, u.inverse, u.counts)][:2 if size == 0 else 4]

    def mlx(m, *fill):
        return mx.unique(m, size, True, True, True, fill_value=fill[0] if fill else None)[:2 if size == 0 else 4]
    return Case([x] + fill, mlx, ours)
