"""zeros, ones, full, arange and eye."""

import math

import numpy as np

from .elementwise import shape_name
from .reference import COMPLEX, DTYPES, FLOATS, REAL, SIGNED, Tensor


def write(suite):
    for dtype in DTYPES:
        for shape in ((), (0,), (5,), (3, 0), (2, 3, 4), (2,) * 8):
            words = {"shape": list(shape) or "none", "dtype": dtype}
            name = "%s/%s" % (dtype, shape_name(shape))
            suite.case("zeros/" + name, "zeros", [], Tensor(np.zeros(shape), dtype), **words)
            suite.case("ones/" + name, "ones", [], Tensor(np.ones(shape), dtype), **words)
            suite.case("full/" + name, "full", [], Tensor(np.full(shape, 3.0), dtype), value=3.0,
                       **words)
        for rows, cols, k in ((4, 4, 0), (3, 5, 1), (5, 3, -2), (3, 3, 7), (3, 3, -7), (0, 3, 0),
                              (1, 1, 0), (40, 70, 33)):
            suite.case("eye/%s/%dx%d,%d" % (dtype, rows, cols, k), "eye", [],
                       Tensor(np.eye(rows, cols, k), dtype), rows=rows, cols=cols, k=k,
                       dtype=dtype)
    for dtype in FLOATS:
        for value in (0.1, -1e-3, math.inf, -math.inf, math.nan, -0.0, 1e30):
            suite.case("full/%s/%r" % (dtype, value), "full", [],
                       Tensor(np.full((3,), value), dtype), shape=[3], value=repr(value),
                       dtype=dtype)
    for dtype in REAL[1:] + [COMPLEX]:
        spans = [(0, 5, 1), (2, 11, 3), (10, 10, 1), (7, 3, 1), (0, 100, 7), (0, 1, 5)]
        if dtype in SIGNED + FLOATS or dtype == COMPLEX:
            spans += [(5, -5, -2), (-3, 4, 1)]
        if dtype in FLOATS or dtype == COMPLEX:
            spans += [(0, 1, 0.25), (1, 2, 0.1), (0, 100, 0.5)]
        for start, stop, step in spans:
            n = max(0, math.ceil((stop - start) / step))
            values = [start + i * step for i in range(n)]
            suite.case("arange/%s/%g,%g,%g" % (dtype, start, stop, step), "arange", [],
                       Tensor(np.array(values, np.float64), dtype), start=start, stop=stop,
                       step=step, dtype=dtype)
