"""Functions that are made of other operations."""

import numpy as np

from .elementwise import rounded, shape_name
from .reductions import axes_word
from .reference import (BOOL, COMPLEX, DTYPES, FLOATS, HALVES, REAL, Tensor, cast, inexact, kind, precise, promote,
                        random_values, specials)

EVERY = [BOOL, "uint8", "int16", "uint32", "int64"] + FLOATS


def near(dtype):
    return {"float64": "close:1e-13:1e-13", "float32": "close:1e-6:1e-6", "float16": "close:1e-3:1e-3",
            "bfloat16": "close:8e-3:8e-3", COMPLEX: "close:1e-5:1e-5"}.get(dtype, "exact")


def close(suite, rng):
    def isclose(a, b, rtol, atol, equal_nan):
        if a.dtype in ("int64", "uint64"):
            return np.vectorize(lambda p, q: abs(int(p) - int(q)) <= atol + rtol * abs(int(q)), otypes=[bool])(a.a, b.a)
        wide = np.complex64 if COMPLEX in (a.dtype, b.dtype) else np.float64
        x, y = a.a.astype(wide), b.a.astype(wide)
        with np.errstate(all="ignore"):
            return np.isclose(x, y, rtol, atol, equal_nan)

    for dtype in DTYPES:
        left, right = np.meshgrid(specials(dtype).a, specials(dtype).a)
        cases = [("specials", Tensor(left, dtype), Tensor(right, dtype))]
        a = random_values(rng, dtype, (3, 1, 4))
        if kind(dtype) in "fc":
            b = Tensor(np.repeat(a.a, 2, axis=1) * np.array([[[1.0], [1.003]]]), dtype)
        else:
            b = Tensor(np.repeat(a.a, 2, axis=1), dtype)
        cases.append(("near", a, b))
        cases.append(("none", random_values(rng, dtype, (0, 2)), random_values(rng, dtype, (1, 2))))
        for name, a, b in cases:
            for rtol, atol, equal_nan in ((2.0 ** -8, 2.0 ** -6, 0), (0.0, 0.0, 1)):
                y = isclose(a, b, rtol, atol, equal_nan)
                args = {"rtol": rtol, "atol": atol, "nan": equal_nan}
                label = "%s/%s/%d" % (dtype, name, equal_nan)
                suite.case("isclose/" + label, "isclose", [a, b], Tensor(y, BOOL), **args)
                suite.case("allclose/" + label, "allclose", [a, b], Tensor(y.all(), BOOL), **args)
        for equal_nan in (0, 1):
            x = specials(dtype)
            same = np.array_equal(x.a, x.a, equal_nan=bool(equal_nan))
            suite.case("array_equal/%s/%d" % (dtype, equal_nan), "array_equal", [x, x], Tensor(same, BOOL), nan=equal_nan)
        x = random_values(rng, dtype, (2, 3))
        for name, y in (("shape", Tensor(x.a[:1], dtype)), ("one", Tensor(np.where([1, 0, 0], ~(x.a != 0), x.a), dtype))):
            suite.case("array_equal/%s/%s" % (dtype, name), "array_equal", [x, y],
                       Tensor(np.array_equal(x.a, y.a), BOOL), nan=0)
    for dtype in ("int64", "uint64"):
        # which doubles cannot tell apart, and whose differences wrap
        top, least = np.iinfo(dtype).max, np.iinfo(dtype).min
        a = Tensor(np.array([2**53, 2**53 + 1, 2**62, 2**62, top, top, least, 0, 7], dtype), dtype)
        b = Tensor(np.array([2**53 + 1, 2**53 + 1, 2**62 + 1, 2**62 + 3, least, top - 1, top, 1, 7], dtype), dtype)
        for rtol, atol in ((0, 0), (0, 1), (0, 2.5), (2.0**-54, 0), (3.0, 0)):
            suite.case("isclose/%s/wide/%g,%g" % (dtype, rtol, atol), "isclose", [a, b], Tensor(isclose(a, b, rtol, atol, 0), BOOL),
                       rtol=rtol, atol=atol, nan=0)
    suite.case("array_equal/dtypes", "array_equal", [Tensor([1, 2], "int8"), Tensor([1, 2], "float16")],
               Tensor(True, BOOL), nan=0)


def statistics(suite, rng):
    for dtype in EVERY:
        for shape in ((5,), (4, 6), (2, 3, 4), (1,), (3, 1, 2)):
            values = rng.integers(0, 2 if dtype == BOOL else 50, shape) if kind(dtype) in "bui" \
                else rng.standard_normal(shape) * 3 + 300
            x = Tensor(values, dtype)
            wide = x.a.astype(np.float64)
            for axes in (None, [-1], list(range(len(shape)))[::2]):
                for keepdims in (0, 1):
                    name = "%s/%s/%s/%d" % (dtype, shape_name(shape), axes_word(axes), keepdims)
                    over = None if axes is None else tuple(axes)
                    args = {"axes": axes_word(axes), "keepdims": keepdims}
                    suite.case("std/" + name, "std", [x], Tensor(np.std(wide, over, keepdims=bool(keepdims)), inexact(dtype)),
                               near(inexact(dtype)).replace("close:1e-6:1e-6", "close:1e-5:1e-5"), ddof=0, **args)
                    suite.case("median/" + name, "median", [x],
                               Tensor(np.median(wide, over, keepdims=bool(keepdims)), inexact(dtype)), **args)
        x = Tensor(np.arange(6), dtype)
        suite.case("std/%s/ddof" % dtype, "std", [x], Tensor(np.std(x.a.astype(np.float64), ddof=1), inexact(dtype)),
                   near(inexact(dtype)), axes="all", keepdims=0, ddof=1)
        if kind(dtype) == "f":
            x = specials(dtype)
            suite.case("median/%s/nan" % dtype, "median", [x], Tensor(np.nan, dtype), axes="all", keepdims=0)
            top = Tensor([x.a[10], x.a[10]], dtype)
            suite.case("median/%s/top" % dtype, "median", [top], Tensor(top.a[0], dtype), axes="all", keepdims=0)
    x = random_values(rng, COMPLEX, (4, 6))
    for axes in ("all", "0", "1"):
        over = None if axes == "all" else int(axes)
        suite.case("std/complex64/%s" % axes, "std", [x], Tensor(np.std(x.a.astype(np.complex128), over, ddof=1), "float32"),
                   near("float32"), axes=axes, keepdims=0, ddof=1)


def differences(suite, rng):
    for dtype in REAL:
        for x, axes in ((random_values(rng, dtype, (3, 1, 4)), [0, -1]), (random_values(rng, dtype, (2, 5)), [1]),
                        (random_values(rng, dtype, ()), None), (specials(dtype), None)):
            for keepdims in (0, 1):
                over = None if axes is None else tuple(axes)
                for part, f in enumerate((np.min, np.max)):
                    suite.case("minmax/%s/%s/%d%d" % (dtype, shape_name(x.shape), keepdims, part), "minmax", [x],
                               x.map(lambda v: f(v, over, keepdims=bool(keepdims))), axes=axes_word(axes), keepdims=keepdims,
                               part=part)
    for dtype in DTYPES:
        for shape, axis, n in (((6,), 0, 1), ((6,), 0, 3), ((2, 5), -1, 2), ((4, 3), 0, 1), ((3,), 0, 0), ((3,), -1, 3),
                               ((3,), 0, 9), ((0, 2), 0, 1), ((2, 0), 0, 1), ((2, 1, 3), 1, 1)):
            x = random_values(rng, dtype, shape)
            y = x  # rounded each time
            for _ in range(n):
                a = np.moveaxis(y.a, axis, 0)
                with np.errstate(all="ignore"):
                    d = a[1:] != a[:-1] if dtype == BOOL else a[1:] - a[:-1]
                y = Tensor(np.moveaxis(d, 0, axis), dtype)
            suite.case("diff/%s/%s/%d,%d" % (dtype, shape_name(shape), axis, n), "diff", [x], y, n=n, axis=axis)


def losses(suite, rng):
    for dtype in FLOATS:
        for shape, at in (((5,), "int32"), ((3, 4), "int64"), ((2, 3, 7), "uint8"), ((0, 4), "int16"), ((2, 1), "uint32")):
            x = Tensor(rng.standard_normal(shape) * 20, dtype)
            low = 0 if kind(at) == "u" else -shape[-1]
            targets = Tensor(rng.integers(low, shape[-1], shape[:-1]), at)
            wide = x.a.astype(np.float64)
            top = wide.max(-1, keepdims=True)
            total = np.log(np.exp(wide - top).sum(-1)) + top[..., 0]
            y = total - np.take_along_axis(wide, targets.a.astype(np.int64)[..., None], -1)[..., 0]
            result = "float64" if dtype == "float64" else "float32"
            suite.case("cross_entropy/%s/%s" % (dtype, shape_name(shape)), "cross_entropy", [x, targets], Tensor(y, result),
                       "close:1e-13:1e-12" if dtype == "float64" else "close:2e-6:8e-6")


def logic(suite, rng):
    for dtype in DTYPES:
        a, b = specials(dtype), random_values(rng, dtype, (3, 1))
        suite.case("logical_xor/" + dtype, "logical_xor", [a, b],
                   Tensor(np.logical_xor(a.a.astype(bool), b.a.astype(bool)), BOOL), "exact")
        if dtype != COMPLEX:
            suite.case("trunc/" + dtype, "trunc", [a], a.map(lambda v: np.trunc(v) if kind(dtype) == "f" else v))


def creation(suite, rng):
    for dtype in REAL[1:]:
        for start, stop, n, endpoint in ((0, 1, 5, 1), (0, 10, 4, 1), (3, 3, 1, 1), (2, 9, 0, 1), (0, 10, 4, 0), (1, 100, 50, 1)):
            y = np.linspace(start, stop, n, bool(endpoint))
            suite.case("linspace/%s/%d,%d,%d,%d" % (dtype, start, stop, n, endpoint), "linspace", [],
                       Tensor(np.trunc(y) if kind(dtype) in "ui" else y, dtype), "exact", start=start, stop=stop, n=n,
                       endpoint=endpoint, dtype=dtype)
    for name in ("bartlett", "blackman", "hamming", "hanning"):
        for n in (-3, 0, 1, 2, 3, 4, 51, 1000):
            suite.case("%s/%d" % (name, n), name, [], Tensor(getattr(np, name)(n), "float32"), "close:1e-7:1e-16", n=n)
    y = np.linspace(-0.75, 0.1, 1000)
    suite.case("linspace/float64/negative", "linspace", [], Tensor(y, "float64"), "close:1e-15:1e-16", start=-0.75, stop=0.1,
               n=1000, endpoint=1, dtype="float64")
    for dtype in DTYPES:
        x = random_values(rng, dtype, (2, 0, 3) if dtype == "int8" else (2, 3))
        suite.case("zeros_like/" + dtype, "zeros_like", [x], Tensor(np.zeros_like(x.a), dtype))
        suite.case("ones_like/" + dtype, "ones_like", [x], Tensor(np.ones_like(x.a), dtype))


def diagonals(suite, rng):
    for dtype in DTYPES:
        for rows, cols in ((3, 4), (4, 3), (1, 1), (0, 3), (2, 0)):
            for k in (0, 1, -1, 2, -9, 9):
                name = "%s/%dx%d/%d" % (dtype, rows, cols, k)
                suite.case("tri/" + name, "tri", [], Tensor(np.tri(rows, cols, k), dtype), rows=rows, cols=cols, k=k, dtype=dtype)
                x = random_values(rng, dtype, (2, rows, cols) if k == 0 else (rows, cols))
                suite.case("tril/" + name, "tril", [x], x.map(lambda a: np.tril(a, k)), k=k)
                suite.case("triu/" + name, "triu", [x], x.map(lambda a: np.triu(a, k)), k=k)
                k = max(-rows, min(k, cols))  # NumPy refuses what is beyond
                suite.case("diagonal/" + name, "diagonal", [x], x.map(lambda a: np.diagonal(a, k, -2, -1)), k=k, a=-2, b=-1)
                suite.case("trace/" + name, "trace", [x], sum_of(x, np.diagonal(x.a, k, -2, -1)), near(dtype), k=k, a=-2, b=-1)
                if x.a.ndim == 2:
                    suite.case("diag/" + name, "diag", [x], x.map(lambda a: np.diag(a, k)), k=k)
        for n in (0, 1, 3):
            for k in (0, 2, -1):
                x = random_values(rng, dtype, (n,))
                suite.case("diag/%s/%d/%d" % (dtype, n, k), "diag", [x], x.map(lambda a: np.diag(a, k)), k=k)
        x = random_values(rng, dtype, (2, 3, 4))
        for a, b in ((0, 1), (2, 0), (1, -1)):
            suite.case("diagonal/%s/axes/%d,%d" % (dtype, a, b), "diagonal", [x], x.map(lambda v: np.diagonal(v, 1, a, b)), k=1,
                       a=a, b=b)


def uniques(suite, rng):
    """Of which NumPy's np.unique() has the values, equal NaNs apart."""
    for dtype in REAL:
        for shape, size in (((), 2), ((7,), 4), ((3, 5), 20), ((40,), 3), ((2, 0), 0), ((6,), 0)):
            x = random_values(rng, dtype, shape)
            if dtype in FLOATS and x.a.size:
                x = Tensor(np.round(np.clip(np.nan_to_num(x.a.astype(np.float64)), -3, 3)), dtype)
                if x.a.size > 10:
                    x = Tensor(np.where(np.arange(x.a.size).reshape(shape) % 7 == 3, np.nan, x.a.astype(np.float64)), dtype)
            flat = x.a.reshape(-1)
            order = np.argsort(x.a.astype(np.float64).reshape(-1), kind="stable") if dtype in FLOATS else np.argsort(flat, kind="stable")
            line = x.a.astype(np.float64).reshape(-1)[order] if dtype in FLOATS else flat[order]
            first = np.flatnonzero(np.concatenate([[True], line[1:] != line[:-1]])) if line.size else np.zeros(0, int)
            counts = np.diff(np.append(first, line.size))[:size]
            which = np.zeros(line.size, np.uint32)
            which[order] = np.minimum(np.searchsorted(first, np.arange(line.size), "right") - 1, max(size - 1, 0))
            at = order[first][:size]
            more = size - len(at)
            for fill in (None, Tensor(1, dtype)):
                name = "unique/%s/%s/%d/%s" % (dtype, shape_name(shape), size, "least" if fill is None else "filled")
                places = np.append(at, [order[0]] * more).astype(np.int64) if more else at
                values = x.map(lambda v: v.reshape(-1)[places])
                if more and fill is not None:
                    values = x.map(lambda v: np.append(v.reshape(-1)[at], [fill.a] * more).astype(v.dtype))
                for part, y in enumerate((values, Tensor(places, "uint32"), Tensor(which.reshape(shape), "uint32"),
                                          Tensor(np.append(counts, [0] * more), "int32"))):
                    suite.case("%s/%d" % (name, part), "unique", [x, fill], y, "value", size=size, part=part)


def sum_of(x, values):
    """As lb_sum() gives it."""
    dtype = {BOOL: "int32", "int8": "int32", "int16": "int32", "uint8": "uint32", "uint16": "uint32"}.get(x.dtype, x.dtype)
    if kind(x.dtype) in "bui":
        return Tensor(values.astype(dtype).sum(-1, dtype=dtype), dtype)
    return Tensor(values.astype(np.complex128 if dtype == COMPLEX else np.float64).sum(-1), dtype)


def moves(suite, rng):
    for dtype in DTYPES:
        x = random_values(rng, dtype, (2, 3, 4))
        for a, b in ((0, 2), (-1, 1), (1, 1), (2, 0)):
            suite.case("swapaxes/%s/%d,%d" % (dtype, a, b), "swapaxes", [x], x.map(lambda v: np.swapaxes(v, a, b)), a=a, b=b)
            suite.case("moveaxis/%s/%d,%d" % (dtype, a, b), "moveaxis", [x], x.map(lambda v: np.moveaxis(v, a, b)), a=a, b=b)
        for axis, shape in ((-1, (2, 2)), (0, (2, 1, -1)), (1, (3,)), (2, (-1, 4))):
            whole = x.a.shape[:axis % 3] + tuple(shape) + x.a.shape[axis % 3 + 1:]
            suite.case("unflatten/%s/%d" % (dtype, axis), "unflatten", [x], x.map(lambda v: v.reshape(whole)), axis=axis,
                       shape=shape)
        for by, axes in (((1,), None), ((-7, 2), None), ((1,), (0,)), ((-5,), (2,)), ((3, -1), (0, 1)), ((1,), (0, 2)),
                         ((1, 1), (1, 1)), ((0,), (1,)), ((12,), (2,))):
            y = np.roll(x.a, sum(by)) if axes is None else np.roll(x.a, by if len(by) > 1 else by[0], axes)
            suite.case("roll/%s/%s/%s" % (dtype, shape_name(by), axes_word(axes)), "roll", [x], x.map(lambda v: y), by=by,
                       axes=axes_word(axes))
        for times, axis in ((1, 0), (3, 1), (2, -1), (0, 0), (5, 0)):
            suite.case("repeat/%s/%d,%d" % (dtype, times, axis), "repeat", [x], x.map(lambda v: np.repeat(v, times, axis)),
                       times=times, axis=axis)
        for times in ((2,), (1, 1, 1), (2, 1, 3), (2, 1, 1, 2), (0, 2), (3, 2, 1)):
            suite.case("tile/%s/%s" % (dtype, shape_name(times)), "tile", [x], x.map(lambda v: np.tile(v, times)), times=times)
        lines = [random_values(rng, dtype, (n,)) for n in (3, 2, 4)]
        for n in (1, 2, 3):
            for rows in (0, 1):
                for sparse in (0, 1):
                    grids = np.meshgrid(*[v.a for v in lines[:n]], indexing="ij" if rows else "xy", sparse=bool(sparse))
                    for part in range(n):
                        suite.case("meshgrid/%s/%d/%d%d/%d" % (dtype, n, rows, sparse, part), "meshgrid", lines[:n],
                                   lines[part].map(lambda v: grids[part]), rows=rows, sparse=sparse, part=part)
        y = random_values(rng, dtype, (7, 2))
        for at in ((2, 5), (5, 2, 9), (-3,), (0,)):
            for part, v in enumerate(np.split(y.a, at)):
                suite.case("split_at/%s/%s/%d" % (dtype, "_".join(map(str, at)), part), "split_at", [y], y.map(lambda _: v), at=at,
                           axis=0, part=part)
        for low, high in (((1, 0, 2), (0, 3, 1)), ((0, 0, 0), (0, 0, 0)), ((2, 2, 2), (1, 1, 1))):
            wide = list(zip(low, high))
            suite.case("pad_edge/%s/%s" % (dtype, shape_name(low)), "pad_edge", [x],
                       x.map(lambda v: np.pad(v, wide, mode="edge")), low=low, high=high)
    for dtype in ("int32", "float16"):  # of no elements, of no axes, of all axes
        empty, one, deep = (random_values(rng, dtype, s) for s in ((2, 0), (), (1, 2, 1, 2, 1, 2, 1, 2)))
        suite.case("roll/%s/empty" % dtype, "roll", [empty], empty, by=(1,), axes="all")
        suite.case("roll/%s/nowhere" % dtype, "roll", [empty], empty, by="none", axes="none")
        suite.case("repeat/%s/empty" % dtype, "repeat", [empty], empty.map(lambda v: np.repeat(v, 3, 0)), times=3, axis=0)
        suite.case("repeat/%s/deep" % dtype, "repeat", [deep], deep.map(lambda v: np.repeat(v, 3, 3)), times=3, axis=3)
        suite.case("tile/%s/one" % dtype, "tile", [one], one.map(lambda v: np.tile(v, (2, 2))), times=(2, 2))
        suite.case("tile/%s/deep" % dtype, "tile", [deep], deep.map(lambda v: np.tile(v, (2, 3))), times=(2, 3))
        suite.case("roll/%s/deep" % dtype, "roll", [deep], deep.map(lambda v: np.roll(v, 1, 7)), by=(1,), axes="7")


def few(rng, dtype, shape):
    if kind(dtype) in "bui":
        return Tensor(rng.integers(0, 2 if dtype == BOOL else 4, shape), dtype)
    values = rng.standard_normal(shape)
    return Tensor(values + 1j * rng.standard_normal(shape) if dtype == COMPLEX else values, dtype)


def wide_of(x):
    return precise(x) if kind(x.dtype) in "fc" else x.a.astype(np.int64)


def ranks(suite, rng):
    for dtype in DTYPES:
        for shape in ((), (3,), (0,), (2, 3), (2, 1, 3), (1, 2, 0, 1)):
            x = random_values(rng, dtype, shape)
            suite.case("positive/%s/%s" % (dtype, shape_name(shape)), "positive", [x], x)
            for name in ("atleast_1d", "atleast_2d", "atleast_3d"):
                suite.case("%s/%s/%s" % (name, dtype, shape_name(shape)), name, [x], x.map(getattr(np, name)))


def products(suite, rng):
    def case(name, op, a, b, y, dtype, **args):
        suite.case(name, op, [a, b], Tensor(y, dtype), near(dtype), **args)

    for dtype in [d for d in DTYPES if d != BOOL]:
        for a, b in (((3,), (3,)), ((2, 3), (3,)), ((2, 4), (5, 4)), ((), (3,)), ((2, 0), (3, 0))):
            x, y = few(rng, dtype, a), few(rng, dtype, b)
            case("inner/%s/%s,%s" % (dtype, shape_name(a), shape_name(b)), "inner", x, y, np.inner(wide_of(x), wide_of(y)), dtype)
            case("outer/%s/%s,%s" % (dtype, shape_name(a), shape_name(b)), "outer", x, y, np.outer(wide_of(x), wide_of(y)), dtype)
        for a, b in (((2,), (3,)), ((2, 3), (3, 1)), ((2, 2), (3,)), ((), (2, 2)), ((2, 1, 2, 1), (1, 3, 1, 2)), ((2, 0), (2, 2))):
            x, y = few(rng, dtype, a), few(rng, dtype, b)
            case("kron/%s/%s,%s" % (dtype, shape_name(a), shape_name(b)), "kron", x, y, np.kron(wide_of(x), wide_of(y)), dtype)
        for a, b, of_a, of_b in (((2, 3), (3, 4), (1,), (0,)), ((2, 3, 4), (4, 3, 5), (1, 2), (1, 0)), ((2, 3), (2, 3), (0, 1), (0, 1)),
                                 ((2,), (3,), (), ()), ((2, 3, 2), (2, 5), (-1,), (0,)), ((2, 1), (3, 2), (-1,), (-2,))):
            if a[-1] == 1:
                continue
            x, y = few(rng, dtype, a), few(rng, dtype, b)
            case("tensordot/%s/%s,%s/%d" % (dtype, shape_name(a), shape_name(b), len(of_a)), "tensordot", x, y,
                 np.tensordot(wide_of(x), wide_of(y), (list(of_a), list(of_b))), dtype,
                 left=axes_word(of_a), right=axes_word(of_b))
    x, y = few(rng, "int8", (2, 3)), few(rng, "float32", (3,))
    case("inner/promoted", "inner", x, y, np.inner(wide_of(x), wide_of(y)), promote("int8", "float32"))


def scans(suite, rng):
    def logcumsumexp(a):
        return np.logaddexp.accumulate(a, 0) if a.size else a

    for dtype in REAL:
        for shape, axis in (((9,), 0), ((3, 70), 1), ((5, 2, 3), -2), ((0, 3), 0)):
            x = random_values(rng, dtype, shape)
            for op, f in (("cumprod", np.multiply), ("cummax", np.maximum), ("cummin", np.minimum)):
                if op == "cumprod" and kind(dtype) in "fb":
                    continue  # of lb_scan() the roundings are tested
                y = f.accumulate(x.a, axis) if x.a.size else x.a
                suite.case("%s/%s/%s,%d" % (op, dtype, shape_name(shape), axis), op, [x], Tensor(y, dtype), axis=axis)
            result = inexact(dtype)
            wide = cast(x, result).a.astype(np.float64)
            for reverse, inclusive in ((0, 1), (1, 1), (0, 0), (1, 0)):
                a = np.moveaxis(wide, axis, 0)
                a = a[::-1] if reverse else a
                y = logcumsumexp(a)
                if not inclusive:
                    y = np.concatenate([np.full((1,) + a.shape[1:], -np.inf), y[:-1]]) if a.shape[0] else y
                y = np.moveaxis(y[::-1] if reverse else y, 0, axis)
                tolerance = {"float16": "close:4e-2:4e-2", "bfloat16": "close:3e-1:3e-1"}.get(result, near(result))
                suite.case("logcumsumexp/%s/%s,%d/%d%d" % (dtype, shape_name(shape), axis, reverse, inclusive), "logcumsumexp",
                           [x], Tensor(y, result), tolerance, axis=axis, reverse=reverse, inclusive=inclusive)
    for reverse, inclusive in ((0, 1), (1, 1), (0, 0), (1, 0)):
        x = random_values(rng, COMPLEX, (5, 4))
        a = x.a.astype(np.complex128)[::-1 if reverse else 1]
        y = np.cumprod(a, 0) if inclusive else np.cumprod(np.concatenate([np.ones((1, 4)), a[:-1]]), 0)
        suite.case("cumprod/complex64/%d%d" % (reverse, inclusive), "cumprod", [x], Tensor(y[::-1 if reverse else 1], COMPLEX),
                   near(COMPLEX), axis=0, reverse=reverse, inclusive=inclusive)
        # what is first is as it is: 1 times it may be NaN
        for first in (complex(np.inf, 2), complex(0, np.nan)):
            x = Tensor([first], COMPLEX)
            suite.case("cumprod/complex64/%s/%d%d" % (first, reverse, inclusive), "cumprod", [x],
                       x if inclusive else Tensor([1], COMPLEX), "value", axis=0, reverse=reverse, inclusive=inclusive)
    x = Tensor([-np.inf, -np.inf, 1000.0, 1000.0, -np.inf, np.inf, 3.0], "float32")
    suite.case("logcumsumexp/far", "logcumsumexp", [x], Tensor(np.logaddexp.accumulate(x.a), "float32"), near("float32"), axis=0)


def write(suite):
    rng = np.random.default_rng(20)
    for part in (differences, losses, ranks, close, logic, statistics, creation, diagonals, moves, products, scans, uniques):
        part(suite, rng)
