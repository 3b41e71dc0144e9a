"""What an operation of mlx.core is beside Lazybones': a case draws its operands and says how it is called in both."""

import numpy as np

from draw import COMPLEX, EPSILON, FLOATS
from lazybones import DTYPES

OPERATIONS = {}
SINGLE = ["float16", "bfloat16", "float32"]
DIFFERENTIABLE = FLOATS + COMPLEX


class Case:
    """mlx and ours take the operands and give one result, or a list. Results differ by at most `ulp` units in the last place, or
    by floor: a number, or a function of the operands in NumPy that gives one for each element of the result."""

    def __init__(self, inputs, mlx, ours, ulp=0, floor=0.0, grads=False):
        self.inputs, self.mlx, self.ours = inputs, mlx, ours
        self.ulp, self.floor, self.grads = ulp, floor, grads

    def floor_at(self, operands):
        return self.floor(*operands) if callable(self.floor) else self.floor


def op(*names):
    def add(function):
        for name in names:
            OPERATIONS[name] = lambda d, name=name: function(d, name)
        return function
    return add


def eps(dtype):
    return EPSILON.get(dtype, EPSILON["float32"])


def number(dtype):
    """Of the runtime's enum."""
    return DTYPES.index(dtype)


def magnitudes(a):
    """In doubles, which hold that of the least integer, too."""
    a = np.asarray(a)
    return np.abs(a if a.dtype.kind == "c" else a.astype(np.float64)).astype(np.float64)


def summed(a, axes=None, keepdims=False):
    """How large the sums of |a| are."""
    with np.errstate(all="ignore"):
        a = magnitudes(np.where(np.isfinite(a), a, 0))
        return a.sum(axis=None if axes is None else tuple(axes), keepdims=keepdims)


def largest(a):
    a = magnitudes(a)
    a = a[np.isfinite(a)]
    return float(a.max()) if a.size else 0.0


def any_of(d, least=0, most=5, kind="any"):
    dtype = d.of(DTYPES)
    return d.tensor(d.shape(least, most), dtype, kind)


def compatible(shapes):
    try:
        np.broadcast_shapes(*shapes)
        return True
    except ValueError:
        return False


def sum_floor(size, n, dtype):
    """What two sums of n numbers may be apart, whose magnitudes sum up to `size`: whatever its order, a sum has n - 1 roundings
    of at most half an epsilon of that."""
    return float(size) * max(n - 1, 0) * eps(dtype)


def product_floor(a, b, dtype, n):
    """The same of n products, each of which is rounded, too; those of complex numbers are sums themselves."""
    return sum_floor(largest(a.a) * largest(b.a) * n, n + (4 if dtype in COMPLEX else 2), dtype)


def coarser(a, b):
    return max(a, b, key=eps)


def index_of(d, shape, steps=True):
    index = []
    for size in shape:
        kind = d.int(0, 9)
        if kind == 0:
            index.append(None)
        if kind <= 2 and size:
            index.append(d.int(-size, size - 1))
        elif kind <= 5:
            index.append(slice(None))
        else:
            bound = lambda: d.of([None, d.int(-size - 2, size + 2), d.int(-size, size)])
            step = d.of([None, 1, 2, 3, -1, -2]) if steps else None
            index.append(slice(bound(), bound(), step))
    if index and d.chance(0.3):
        index = index[:d.int(0, len(index))] + [Ellipsis]
    return index
