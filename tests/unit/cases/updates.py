"""Tensors with some of their elements replaced or added to."""

import numpy as np

from .elementwise import shape_name
from .reductions import moderate
from .reference import DTYPES, FLOATS, HALVES, Tensor, cast, kind, precise

def accumulated(x, add):
    """x after add(wide copy of it): what all dtypes do, rounded once."""
    if kind(x.dtype) in "ui":
        y = x.a.copy()
    elif x.dtype == "bool":
        y = x.a.astype(np.int64)
    else:
        y = precise(x)
    add(y)
    return Tensor(y != 0 if x.dtype == "bool" else y, x.dtype)


def combined(x, ufunc, where, values):
    """x after ufunc with each value in its turn, rounded each time."""
    y = precise(x) if x.dtype in HALVES else x.a.copy()
    ufunc.at(y, where, values if x.dtype in HALVES else values.astype(y.dtype))
    return Tensor(y, x.dtype)


def values_of(x):
    return x.a if kind(x.dtype) in "ui" else precise(x) if kind(x.dtype) in "fc" else x.a.astype(np.int64)


def near(dtype):
    if kind(dtype) in "bui":
        return "exact"
    if dtype == "complex64":
        return "close:1e-6:1e-5"
    return "ulp:1:%g" % (1e-4 if dtype in HALVES else 1e-12)


# x's shape, the index, the update's shape
SLICES = [
    ((7,), (slice(2, 5),), (3,)), ((7,), (slice(None, None, -2),), (4,)), ((7,), (3,), ()),
    ((7,), (slice(5, 2),), (0,)), ((4, 6), (slice(1, 3),), (2, 6)), ((4, 6), (slice(None), 2), (4,)),
    ((4, 6), (slice(1, 4, 2), slice(4, 0, -3)), (2, 2)), ((4, 6), (1, slice(None)), (1,)),
    ((4, 6), (Ellipsis, -1), ()), ((4, 6), (None, slice(0, 2), None, 3), (1, 2, 1)),
    ((3, 4, 5), (Ellipsis, slice(1, 3)), (4, 1)), ((3, 4, 5), (2, 1, slice(None, None, -1)), (5,)),
    ((2, 0, 3), (1,), (0, 3)), ((0, 4), (slice(None), 1), (0,)), ((1, 1), (0, 0), ()), ((), (), ()),
    ((2,) * 8, (1, Ellipsis, slice(None, None, -1), 0), (2, 2)),
    ((3, 50, 40), (slice(None), slice(10, 13), slice(1, None, 3)), (3, 3, 13)),
    ((1, 300, 700), (0, slice(100, 250)), (150, 700)),
]


def word(i):
    if i is None:
        return "n"
    if i is Ellipsis:
        return "r"
    if isinstance(i, int):
        return "@%d" % i
    step = i.step or 1
    first = "e" if i.start is None and step < 0 else 0 if i.start is None else i.start
    return "%s:%s:%d" % (first, "e" if i.stop is None else i.stop, step)


def slices(suite):
    rng = suite.rng
    for dtype in DTYPES:
        for n, (shape, index, update) in enumerate(SLICES):
            if n > 16 and dtype not in FLOATS + ["int32"]:
                continue
            x, u = moderate(rng, dtype, shape), moderate(rng, dtype, update)
            y = x.a.copy()
            y[index] = u.a
            words = [word(i) for i in index] or ["r"]
            name = "%s/%d,%s" % (dtype, n, shape_name(shape))
            suite.case("slice_update/" + name, "slice_update", [x, u], x.map(lambda _: y), "value",
                       index=words)

            def add(to):
                to[index] += values_of(u)
            suite.case("slice_add/" + name, "slice_add", [x, u], accumulated(x, add), near(dtype),
                       index=words)
    x, u = moderate(rng, "float16", (3, 4)), moderate(rng, "float32", (4,))
    y = x.a.copy()
    y[1:] = cast(u, "float16").a
    suite.case("slice_update/cast", "slice_update", [x, u], x.map(lambda _: y), index=["1:e:1"])


STRIDED = [  # x's shape, shape, strides, offset
    ((10,), (4, 3), (2, 1), 0), ((10,), (8, 3), (1, 1), 0), ((10,), (5,), (-2,), 9), ((6,), (4, 5), (0, 1), 1),
    ((6,), (7,), (0,), 3), ((3, 20), (3, 16, 5), (20, 1, 1), 0), ((4, 5), (), (), 7), ((4, 5), (2, 0), (1, 1), 3),
    ((2, 6, 7), (2, 4, 5, 3, 3), (42, 7, 1, 7, 1), 0), ((5, 5), (5,), (6,), 0), ((3, 3), (3, 3), (1, 3), 0),
    ((1000,), (300, 700), (1, 1), 0), ((0,), (0, 3), (1, 1), 0), ((8,), (3, 3, 2), (2, 1, -1), 1)]


def strided(suite):
    rng = suite.rng
    for dtype in DTYPES:
        for shape, to, strides, offset in STRIDED:
            x, u = moderate(rng, dtype, shape), moderate(rng, dtype, to)
            where = np.full(to, offset)
            for axis, stride in enumerate(strides):
                steps = np.arange(to[axis]) * stride
                where += steps.reshape((-1,) + (1,) * (len(to) - axis - 1))

            def add(y):
                np.add.at(y.reshape(-1), where, values_of(u))
            tol = near(dtype)
            if dtype == "float64" and len(where.reshape(-1)) > 100000:
                tol = "close:1e-12:1e-9"
            suite.case("strided_add/%s/%s,%s,%s" % (dtype, shape_name(shape), shape_name(to), offset),
                       "strided_add", [x, u], accumulated(x, add), tol, strides=strides or ["none"],
                       offset=offset)


SCATTERS = [  # x's shape, axis, indices' shape
    ((5,), 0, (9,)), ((5,), 0, ()), ((5,), 0, (0,)), ((4, 6), 0, (7,)), ((4, 6), 1, (7,)), ((4, 6), 0, (2, 3)),
    ((4, 6), 1, (2, 3)), ((2, 3, 4), 1, (5,)), ((2, 3, 4), 2, (2, 2)), ((2, 3, 0), 1, (5,)), ((0, 3), 1, (2,)),
    ((3, 1), 0, (4,)), ((2, 1, 2, 1, 2, 1, 3), 2, (2, 2)), ((40, 700), 0, (300,)), ((3000, 3), 0, (5000,)),
    ((3, 2000), 1, (4000,)), ((5000, 2), 0, (3,))]


def scatters(suite):
    rng = suite.rng
    for dtype in DTYPES:
        for n, (shape, axis, index_shape) in enumerate(SCATTERS):
            if n > 12 and dtype not in FLOATS + ["int16", "complex64"]:
                continue
            x = moderate(rng, dtype, shape)
            index_dtype = ("int64", "int32", "uint32", "int16", "uint64")[n % 5]
            low = -shape[axis] if index_dtype[0] == "i" else 0
            index = Tensor(rng.integers(low, shape[axis], index_shape), index_dtype)
            u = moderate(rng, dtype, shape[:axis] + index_shape + shape[axis + 1:])

            def add(y):
                np.add.at(y, (slice(None),) * axis + (index.a.astype(np.int64),), values_of(u))
            tol = near(dtype)
            if kind(dtype) == "c" or dtype == "float64":
                tol = "close:1e-5:1e-4" if kind(dtype) == "c" else "close:1e-12:1e-9"
            suite.case("scatter_add/%s/%d,%s" % (dtype, n, shape_name(shape)), "scatter_add", [x, index, u],
                       accumulated(x, add), tol, axis=axis)
    x, u = moderate(rng, "float32", (4, 3)), moderate(rng, "int32", (3,))
    index = Tensor([1, 1, 3], "uint8")

    def broadcast(y):
        np.add.at(y, index.a, values_of(u))
    suite.case("scatter_add/broadcast", "scatter_add", [x, index, u], accumulated(x, broadcast), near("float32"),
               axis=0)


PUTS = [  # x's shape, axis, indices' shape, values' shape
    ((5,), 0, (3,), (3,)), ((5,), 0, (9,), (1,)), ((4, 6), 0, (3, 6), (3, 6)), ((4, 6), 1, (4, 9), (4, 9)),
    ((4, 6), 1, (1, 2), (4, 1)), ((4, 6), 1, (4, 0), (4, 0)), ((2, 3, 4), 1, (2, 5, 1), ()),
    ((2, 3, 4), 1, (1, 1, 4), (2, 1, 4)), ((0, 3), 1, (0, 2), (0, 2)), ((2,) * 8, 4, (2,) * 4 + (3,) + (2,) * 3, ()),
    ((6, 900), 1, (6, 1500), (6, 1500)), ((300, 70), 0, (500, 70), (500, 70))]


def puts(suite):
    rng = suite.rng
    for dtype in DTYPES:
        for n, (shape, axis, index_shape, value_shape) in enumerate(PUTS):
            x, v = moderate(rng, dtype, shape), moderate(rng, dtype, value_shape)
            index = Tensor(rng.integers(-shape[axis], shape[axis], index_shape), "int64")
            name = "%s/%d,%s" % (dtype, n, shape_name(shape))
            y = x.a.copy()
            np.put_along_axis(y, index.a, v.a, axis)
            suite.case("put_along_axis/" + name, "put_along_axis", [x, index, v], x.map(lambda _: y), "value",
                       axis=axis)
            full = tuple(index_shape[i] if i == axis else size for i, size in enumerate(shape))
            where = list(np.indices(full, sparse=True))
            where[axis] = np.broadcast_to(index.a, full)

            def add(y):
                np.add.at(y, tuple(where), np.broadcast_to(values_of(v), full))
            tol = near(dtype)
            if kind(dtype) == "c" or dtype == "float64":
                tol = "close:1e-5:1e-4" if kind(dtype) == "c" else "close:1e-12:1e-9"
            suite.case("put_along_axis/add/" + name, "put_along_axis", [x, index, v], accumulated(x, add), tol,
                       axis=axis, how=1)
            if kind(dtype) in "cb":
                continue
            for how, ufunc in [(2, np.multiply), (3, np.maximum), (4, np.minimum)]:
                if how == 2 and dtype in HALVES:
                    continue  # NumPy has no step that rounds to them
                suite.case("put_along_axis/%s/%s" % (ufunc.__name__, name), "put_along_axis", [x, index, v],
                           combined(x, ufunc, tuple(where), np.broadcast_to(values_of(v), full)), "value", axis=axis,
                           how=how)


def write(suite):
    slices(suite)
    strided(suite)
    scatters(suite)
    puts(suite)
