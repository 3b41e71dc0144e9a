"""matmul and addmm."""

import numpy as np

from .elementwise import shape_name
from .reductions import EPSILON
from .reference import COMPLEX, FLOATS, HALVES, Tensor, cast, promote

SHAPES = [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 4)), ((2, 3), (3, 4)), ((1, 1), (1, 1)),
          ((7, 5), (5, 9)), ((64, 33), (33, 70)), ((5, 2, 3), (3, 4)), ((5, 2, 3), (5, 3, 4)),
          ((2, 3), (5, 3, 4)), ((5, 1, 2, 3), (4, 3, 2)), ((5, 2, 3), (3,)), ((3,), (5, 3, 2)),
          ((2, 0), (0, 3)), ((0, 3), (3, 2)), ((2, 3), (3, 0)), ((0, 2, 3), (3, 4)), ((0,), (0,)),
          ((1, 1, 1, 1, 1, 2, 3, 4), (2, 1, 2, 1, 2, 1, 4, 3)), ((1, 300), (300, 1)),
          ((300, 1), (1, 300)), ((130, 257), (257, 3))]


def values(rng, dtype, shape):
    a = rng.standard_normal(shape)
    return Tensor(a + 1j * rng.standard_normal(shape) if dtype == COMPLEX else a, dtype)


def exact(x):
    return x.a.astype(np.complex128 if x.dtype == COMPLEX else np.float64)


def tolerance(dtype, magnitude, k):
    """Each of k products and sums may round."""
    floor = (4 + k / 4) * EPSILON[dtype] * float(np.max(magnitude, initial=0.0))
    if dtype == COMPLEX:
        return "close:1e-6:%g" % (2 * floor)
    return "ulp:%d:%g" % (1 if dtype in HALVES else 4, floor)


def matmul_case(suite, name, a, b):
    dtype = promote(a.dtype, b.dtype)
    left, right = exact(cast(a, dtype)), exact(cast(b, dtype))
    magnitude = np.abs(left) @ np.abs(right)
    magnitude = np.where(np.isfinite(magnitude), magnitude, 0)
    suite.case(name, "matmul", [a, b], Tensor(left @ right, dtype),
               tolerance(dtype, magnitude, a.shape[-1]))


def write(suite):
    rng = suite.rng
    for dtype in FLOATS + [COMPLEX]:
        for a, b in SHAPES:
            matmul_case(suite, "matmul/%s/%s,%s" % (dtype, shape_name(a), shape_name(b)),
                        values(rng, dtype, a), values(rng, dtype, b))
        for c, a, b in (((2, 4), (2, 3), (3, 4)), ((4,), (2, 3), (3, 4)), ((), (2, 3), (3, 4)),
                        ((2, 1), (5, 2, 3), (3, 4)), ((5, 1, 4), (2, 3), (3, 4)),
                        ((), (3,), (3,)), ((2, 4), (2, 0), (0, 4)), ((40, 50), (40, 60), (60, 50))):
            if len(c) > len(np.broadcast_shapes(c, (np.zeros(a) @ np.zeros(b)).shape)):
                continue
            if np.broadcast_shapes(c, (np.zeros(a) @ np.zeros(b)).shape) != (
                    np.zeros(a) @ np.zeros(b)).shape:
                continue
            for alpha, beta in ((1, 1), (0.5, -2), (0, 1), (2, 0)):
                addmm_case(suite, "addmm/%s/%s,%s,%s/%g,%g" % (
                    dtype, *map(shape_name, (c, a, b)), alpha, beta), values(rng, dtype, c),
                    values(rng, dtype, a), values(rng, dtype, b), alpha, beta)
    for a, b in (("float16", "float32"), ("bfloat16", "float16"), ("float64", "float32"),
                 ("float32", COMPLEX)):
        matmul_case(suite, "matmul/%s,%s" % (a, b), values(rng, a, (3, 4)), values(rng, b, (4, 2)))
    for dtype in FLOATS:
        left, right = values(rng, dtype, (4, 5)), values(rng, dtype, (5, 3))
        left.a[1, 2], left.a[2, 0], right.a[3, 1] = np.nan, np.inf, -np.inf
        matmul_case(suite, "matmul/%s/nan-inf" % dtype, left, right)


def addmm_case(suite, name, c, a, b, alpha, beta):
    dtype = c.dtype
    product = exact(a) @ exact(b)
    magnitude = abs(alpha) * np.abs(exact(a)) @ np.abs(exact(b)) + abs(beta) * np.abs(exact(c))
    suite.case(name, "addmm", [c, a, b], Tensor(alpha * product + beta * exact(c), dtype),
               tolerance(dtype, magnitude, a.shape[-1]), alpha=alpha, beta=beta)
