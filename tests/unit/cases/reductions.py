"""Reductions over every subset of axes, argmax and argmin, softmax."""

import itertools

import numpy as np

from .elementwise import FLOOR, shape_name
from .reference import (BOOL, COMPLEX, DTYPES, FLOATS, HALVES, INTEGERS, REAL, Tensor, inexact,
                        kind, precise, random_values, specials)

WIDER = {BOOL: "int32", "int8": "int32", "int16": "int32", "uint8": "uint32",
         "uint16": "uint32"}
EPSILON = {"float16": 2.0 ** -23, "bfloat16": 2.0 ** -23, "float32": 2.0 ** -23,
           "float64": 2.0 ** -52, COMPLEX: 2.0 ** -23}


def numpy_axes(axes, rank):
    return tuple(range(rank)) if axes is None else tuple(axes)


def axes_word(axes):
    if axes is None:
        return "all"
    return ",".join(map(str, axes)) if len(axes) else "none"


def logsumexp(x, axis, keepdims):
    with np.errstate(all="ignore"):
        if x.size == 0:
            return np.sum(x, axis=axis, keepdims=keepdims) - np.inf
        top = np.max(x, axis=axis, keepdims=True)
        top = np.where(np.isfinite(top), top, 0)
        total = np.log(np.sum(np.exp(x - top), axis=axis, keepdims=True)) + top
    return total if keepdims else np.squeeze(total, axis=axis)


def summing_tolerance(dtype, x, axes, scale=1.0):
    """Proportional to the sum of the absolute values: what rounding each addition can cost."""
    if x.size == 0:
        return "value"
    total = np.sum(np.abs(np.where(np.isfinite(x), x, 0)), axis=axes)
    floor = 8 * EPSILON[dtype] * scale * (np.max(total) if total.size else 0)
    if dtype == COMPLEX:
        return "close:2e-6:%g" % floor
    return "ulp:%d:%g" % (1 if dtype in HALVES else 4, floor + FLOOR[dtype])


def reduction(op, x, axes, keepdims, ddof=0):
    """Expected result and tolerance."""
    axis = numpy_axes(axes, x.a.ndim)
    options = {"axis": axis, "keepdims": keepdims}
    count = int(np.prod([x.shape[i] for i in axis], dtype=np.int64))
    if op in ("all", "any"):
        return Tensor(getattr(np, op)(x.a != 0, **options), BOOL), "exact"
    if op in ("max", "min"):
        return Tensor(getattr(np, op)(x.a, **options), x.dtype), "value"
    if op in ("sum", "prod") and kind(x.dtype) in "bui":
        dtype = WIDER.get(x.dtype, x.dtype)
        return Tensor(getattr(np, op)(x.a.astype(dtype), dtype=dtype, **options), dtype), "exact"
    dtype = inexact(x.dtype)
    values = Tensor(x.a, dtype) if kind(x.dtype) in "bui" else x
    values = precise(values)
    if op == "sum":
        return (Tensor(np.sum(values, **options), dtype),
                summing_tolerance(dtype, values, axis))
    if op == "mean":
        return (Tensor(np.mean(values, **options), dtype),
                summing_tolerance(dtype, values, axis, 1 / max(count, 1)))
    if op == "prod":
        tol = "close:%g:%g" % (max(count, 1) * EPSILON[dtype] + (
            {"float16": 2.0 ** -10, "bfloat16": 2.0 ** -7}.get(dtype, 0)),
            FLOOR.get(dtype, 0) + 6e-8 * (dtype == "float16"))
        return Tensor(np.prod(values, **options), dtype), tol
    if op == "var":
        expected = np.var(values, ddof=ddof, **options)
        dtype = "float32" if dtype == COMPLEX else dtype
        spread = np.max(np.abs(values), initial=0.0) ** 2
        half = {"float16": 2.0 ** -10, "bfloat16": 2.0 ** -7}.get(dtype, 0)
        return (Tensor(expected, dtype),
                "close:%g:%g" % (half + 64 * EPSILON[dtype], 16 * EPSILON[dtype] ** 2 * spread))
    expected = logsumexp(values, axis, keepdims)
    half = {"float16": 2.0 ** -10, "bfloat16": 2.0 ** -7}.get(dtype, 0)
    return (Tensor(expected, dtype),
            "close:%g:%g" % (half + 8 * EPSILON[dtype], 8 * EPSILON[dtype]))


def reduction_case(suite, name, op, x, axes, keepdims, ddof=0):
    expected, tol = reduction(op, x, axes, keepdims, ddof)
    suite.case(name, op, [x], expected, tol, axes=axes_word(axes), keepdims=int(keepdims),
               ddof=ddof)


FOLDS = ["sum", "mean", "max", "min", "prod", "var", "all", "any", "logsumexp"]


def moderate(rng, dtype, shape):
    """Values whose products and sums stay finite."""
    if kind(dtype) in "bui":
        return random_values(rng, dtype, shape)
    values = rng.uniform(0.5, 1.5, shape) * rng.choice([-1, 1], shape)
    return Tensor(values + (1j * rng.uniform(0.5, 1, shape) if dtype == COMPLEX else 0), dtype)


def folds(suite):
    rng = suite.rng
    subsets = [s for n in range(5) for s in itertools.combinations(range(4), n)]
    for op in FOLDS:
        for dtype in ("float32", "int32"):
            x = moderate(rng, dtype, (3, 4, 2, 5))
            for axes in subsets:
                for keepdims in (False, True):
                    reduction_case(suite, "%s/%s/axes-%s%s" % (
                        op, dtype, axes_word(axes), "-keep" * keepdims), op, x, axes, keepdims)
        for dtype in REAL:
            x = moderate(rng, dtype, (6, 7))
            for axes in (None, (0,), (-1,), (-1, 0)):
                reduction_case(suite, "%s/%s/6x7/axes-%s" % (op, dtype, axes_word(axes)), op, x,
                               axes, False)
            for shape, axes in (((), None), ((), ()), ((1,), (0,)), ((1, 1, 4), (0, 1)),
                                ((1000,), None), ((130, 300), (0,)), ((130, 300), (1,)),
                                ((2,) * 8, (1, 3, 5, 7)), ((2,) * 8, (0, 1, 2, 6))):
                if op == "prod" and max(shape, default=0) > 100:
                    continue
                reduction_case(suite, "%s/%s/%s/axes-%s" % (
                    op, dtype, shape_name(shape), axes_word(axes)), op,
                    moderate(rng, dtype, shape), axes, False)
            if op in ("max", "min") or (op == "var" and dtype == BOOL):
                continue
            for shape, axes in (((0,), None), ((3, 0, 2), (1,)), ((3, 0, 2), (0,)),
                                ((0, 3), (1,))):
                reduction_case(suite, "%s/%s/%s/axes-%s" % (
                    op, dtype, shape_name(shape), axes_word(axes)), op,
                    Tensor(np.zeros(shape), dtype), axes, False)
    for op in ("max", "min"):
        for shape, axes in (((0, 3), (1,)), ((3, 0, 2), (0, 2))):
            reduction_case(suite, "%s/float32/%s/axes-%s" % (op, shape_name(shape),
                           axes_word(axes)), op, Tensor(np.zeros(shape), "float32"), axes, True)
    for op in ("sum", "mean", "prod", "max", "min", "var"):
        for axes in (None, (0,), (1,)):
            for shape in ((3, 5), (70, 40)) if op in ("max", "min", "var") else ((3, 5),):
                x = moderate(rng, COMPLEX, shape)
                x.a.real[:] = np.round(x.a.real) if op in ("max", "min") else x.a.real  # the imaginary parts count among equals
                reduction_case(suite, "%s/complex64/%s/axes-%s" % (op, shape_name(shape), axes_word(axes)), op, x, axes, False)
    reduction_case(suite, "var/complex64/ddof", "var", moderate(rng, COMPLEX, (4, 5)), (1,), True, 2)
    for dtype in FLOATS:
        for op in ("sum", "max", "min", "mean", "any", "all"):
            for where in (0, 17, 63):
                values = rng.standard_normal((64,))
                values[where] = np.nan
                reduction_case(suite, "%s/%s/nan-at-%d" % (op, dtype, where), op,
                               Tensor(values, dtype), None, False)
        for op in ("sum", "max", "min", "logsumexp"):
            for name, found in (("inf", np.inf), ("minus-inf", -np.inf)):
                values = rng.standard_normal((5, 19))
                values[2, 7] = found
                for axes in (None, (0,), (1,)):
                    reduction_case(suite, "%s/%s/%s/axes-%s" % (op, dtype, name, axes_word(axes)),
                                   op, Tensor(values, dtype), axes, False)
        reduction_case(suite, "logsumexp/%s/all-minus-inf" % dtype, "logsumexp",
                       Tensor(np.full((3, 4), -np.inf), dtype), (1,), False)
        big = 1e4 if dtype == "float16" else 1e5
        reduction_case(suite, "logsumexp/%s/large" % dtype, "logsumexp",
                       Tensor(np.array([[big, big, 0], [-big, -big, -big]]), dtype), (1,), False)
        for ddof in (0, 1, 2, 5):
            x = moderate(rng, dtype, (4, 5))
            reduction_case(suite, "var/%s/ddof-%d" % (dtype, ddof), "var", x, (1,), False, ddof)
    for dtype in ("float32", "float64"):
        x = Tensor(1000 + rng.standard_normal((50, 70)), dtype)
        for axes in (None, (0,), (1,)):
            expected, _ = reduction("var", x, axes, False)
            suite.case("var/%s/offset/axes-%s" % (dtype, axes_word(axes)), "var", [x], expected,
                       "close:1e-4:0", axes=axes_word(axes), keepdims=0, ddof=0)


def arguments(suite):
    rng = suite.rng
    for op in ("argmax", "argmin"):
        f = getattr(np, op)

        def add(name, x, axis, keepdims):
            values = f(x.a, axis=axis, keepdims=keepdims)
            suite.case("%s/%s" % (op, name), op, [x], Tensor(values, "uint32"),
                       axes="all" if axis is None else str(axis), keepdims=int(keepdims))

        for dtype in REAL:
            x = Tensor(rng.integers(0, 2 if dtype == BOOL else 4, (4, 5, 6)), dtype)
            for axis in (None, 0, 1, 2, -1):
                for keepdims in (False, True):
                    add("%s/ties/axis-%s%s" % (dtype, axis, "-keep" * keepdims), x, axis, keepdims)
            add("%s/scalar" % dtype, random_values(rng, dtype, ()), None, False)
            add("%s/long" % dtype, random_values(rng, dtype, (3, 1003)), 1, False)
            add("%s/long-columns" % dtype, random_values(rng, dtype, (1003, 3)), 0, False)
            add("%s/empty-result" % dtype, random_values(rng, dtype, (0, 3)), 1, False)
        x = Tensor(rng.integers(0, 4, (4, 50)) + 1j * rng.integers(0, 4, (4, 50)), COMPLEX)
        for axis in (None, 0, 1):
            add("complex64/ties/axis-%s" % axis, x, axis, False)
        for dtype in FLOATS:
            values = rng.standard_normal((7, 40))
            values[2, 9] = values[2, 30] = values[5, 39] = values[6, 0] = np.nan
            values[3, 5], values[4, 6] = np.inf, -np.inf
            for axis in (None, 0, 1):
                add("%s/nan/axis-%s" % (dtype, axis), Tensor(values, dtype), axis, False)
            add("%s/zeros" % dtype, Tensor([0.0, -0.0, 0.0, -0.0], dtype), None, False)
            add("%s/all-nan" % dtype, Tensor(np.full((2, 3), np.nan), dtype), 1, True)
            add("%s/infinite" % dtype, Tensor([-np.inf, -np.inf, np.inf, np.inf], dtype), 0, False)


def softmax(suite):
    rng = suite.rng
    for dtype in FLOATS:
        for shape, axes in (((7,), (0,)), ((5, 9), (1,)), ((5, 9), (0,)), ((5, 9), None),
                            ((3, 4, 5), (1,)), ((3, 4, 5), (0, 2)), ((3, 4, 5), (-1,)),
                            ((2, 2000), (1,)), ((0, 4), (1,)), ((4, 0), (1,)), ((1,), (0,)),
                            ((), None), ((2,) * 8, (3, 7))):
            x = Tensor(rng.standard_normal(shape) * 5, dtype)
            softmax_case(suite, "softmax/%s/%s/axes-%s" % (dtype, shape_name(shape),
                         axes_word(axes)), x, axes)
        for name, row in (("large", [1e4, 1e4 + 8, 0, -1e4]), ("minus-inf", [-np.inf, 0, 1, 2]),
                          ("all-minus-inf", [-np.inf] * 4), ("inf", [np.inf, 0, 1, 2]),
                          ("nan", [np.nan, 0, 1, 2])):
            softmax_case(suite, "softmax/%s/%s" % (dtype, name),
                         Tensor([row, [0, 1, 2, 3]], dtype), (1,))
    for dtype in [BOOL] + INTEGERS:
        softmax_case(suite, "softmax/%s" % dtype, Tensor([[0, 1, 1], [1, 1, 0]], dtype), (1,))


def softmax_case(suite, name, x, axes):
    dtype = inexact(x.dtype)
    axis = numpy_axes(axes, x.a.ndim)
    values = x.a.astype(np.float64)
    if values.size:
        values = np.exp(values - np.max(values, axis=axis, keepdims=True))
        values = values / np.sum(values, axis=axis, keepdims=True)
    half = {"float16": 2.0 ** -10, "bfloat16": 2.0 ** -7}.get(dtype, 0)
    floor = {"float16": 6e-8, "float64": 2.3e-308}.get(dtype, 1.2e-38)
    suite.case(name, "softmax", [x], Tensor(values, dtype),
               "close:%g:%g" % (half + 32 * EPSILON[dtype], floor), axes=axes_word(axes))


def every_dtype(suite):
    for op in ("all", "any"):
        for dtype in DTYPES:
            reduction_case(suite, "%s/%s/specials" % (op, dtype), op, specials(dtype), None, False)


def write(suite):
    folds(suite)
    arguments(suite)
    softmax(suite)
    every_dtype(suite)
