"""Random operands, each in MLX and in Lazybones: the same elements, often as strided views."""

import mlx.core as mx
import numpy as np

from lazybones import DTYPES, END, Index

BOOL = ["bool"]
UNSIGNED = ["uint8", "uint16", "uint32", "uint64"]
SIGNED = ["int8", "int16", "int32", "int64"]
INTEGERS = UNSIGNED + SIGNED
HALVES = ["float16", "bfloat16"]
FLOATS = HALVES + ["float32", "float64"]
COMPLEX = ["complex64"]
REAL = BOOL + INTEGERS + FLOATS
# of float64, too, most functions of MLX compute in float32: what ours are worth there, test_ops says
EPSILON = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "float64": 2.0**-22, "complex64": 2.0**-23}
LEAST = {"float16": 2.0**-14, "bfloat16": 2.0**-126, "float32": 2.0**-126, "float64": 2.0**-1022, "complex64": 2.0**-126}


def mlx_dtype(name):
    return mx.bool_ if name == "bool" else getattr(mx, name)


def to_bfloat16(a):
    """Its bits, rounded to even."""
    bits = np.asarray(a, np.float32).view(np.uint32)
    rounded = ((bits + 0x7fff + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    return np.where(np.isnan(np.asarray(a, np.float32)), np.uint16(0x7fc0), rounded)


def exact(raw, dtype, shape):
    """As NumPy computes with it."""
    if dtype == "bfloat16":
        return (np.frombuffer(raw, np.uint16).astype(np.uint32) << 16).view(np.float32).reshape(shape)
    return np.frombuffer(raw, np.dtype(dtype)).reshape(shape)


class Pair:
    """One operand: in MLX, here, and in NumPy, of which a is in bfloat16 a float32."""

    def __init__(self, m, l, a, dtype):
        self.m, self.l, self.a, self.dtype, self.shape = m, l, a, dtype, a.shape


def words(index):
    """Python's index as MLX takes it, and lb_slice_n()'s."""
    ours = []
    for i in index:
        if i is Ellipsis:
            ours.append(Index(0, 0, 0, 2))
        elif i is None:
            ours.append(Index(0, 0, 0, 3))
        elif isinstance(i, slice):
            step = 1 if i.step is None else i.step
            start = (0 if step > 0 else END) if i.start is None else i.start
            ours.append(Index(start, END if i.stop is None else i.stop, step, 0))
        else:
            ours.append(Index(i, 0, 0, 1))
    return tuple(index), (Index * max(len(ours), 1))(*ours), len(ours)


class Draw:
    only = None  # the dtype of all operands for which there is a choice

    def __init__(self, lb, seed):
        self.lb = lb
        self.rng = np.random.default_rng(seed)
        self.said = []  # what was drawn, for messages

    def say(self, **what):
        self.said.append(" ".join("%s=%s" % (k, str(v).replace(" ", "")) for k, v in what.items()))

    def chance(self, p):
        return self.rng.random() < p

    def int(self, low, high):
        """low … high, both included"""
        return int(self.rng.integers(low, high + 1))

    def of(self, choices):
        chosen = choices[self.int(0, len(choices) - 1)]
        return self.only if self.only and chosen in DTYPES else chosen

    def dtype(self, usual, rare=None):
        """One of the usual, seldom any other (or of `rare`)."""
        return self.of((rare or DTYPES) if self.chance(0.06) else usual)

    def shape(self, least=0, most=5, size=5):
        rank = self.int(least, most)
        large = self.chance(0.1) and rank in (1, 2)
        return tuple(0 if self.chance(0.03) else 1 if self.chance(0.12) else self.int(1, 70 if large else size)
                     for _ in range(rank))

    def broadcast(self, n=2, most=5):
        """Shapes that broadcast to one; seldom not."""
        whole = self.shape(0, most)
        shapes = []
        for _ in range(n):
            shape = [1 if self.chance(0.2) else s for s in whole[self.int(0, len(whole)) if self.chance(0.3) else 0:]]
            if shape and self.chance(0.02):
                shape[self.int(0, len(shape) - 1)] += 1
            shapes.append(tuple(shape))
        return shapes

    def axis(self, rank):
        """Counted from either end; seldom none of x's."""
        if self.chance(0.03):
            return self.of([-rank - 1, rank, rank + 3])
        return self.int(-rank, rank - 1) if rank else 0

    def axes(self, rank, all_of=True):
        """None for all, or a list; seldom a bad one."""
        if all_of and self.chance(0.3):
            return None
        if rank and self.chance(0.02):
            return [0, 0]
        axes = self.rng.permutation(rank)[:self.int(0 if self.chance(0.2) else min(1, rank), rank)]
        axes = [int(k) - (rank if self.chance(0.4) else 0) for k in axes]
        return axes + [rank] if self.chance(0.02) else axes

    def values(self, shape, dtype, kind="any"):
        """Bytes of elements: `any` has what is special, `tame` is near 1, `positive`, `unit` in (-1, 1), `small` integers too."""
        n = int(np.prod(shape, dtype=np.int64))
        if dtype == "bool":
            a = self.rng.random(n) < 0.5
        elif dtype in INTEGERS:
            info = np.iinfo(dtype)
            low, high = (max(info.min, -9), 9) if kind != "any" or self.chance(0.5) else (info.min, info.max)
            if kind == "positive":
                low = 1
            a = self.rng.integers(low, high, n, dtype=dtype, endpoint=True)
            if kind == "any" and self.chance(0.3):
                a = np.where(self.rng.random(n) < 0.15, self.rng.choice(np.array([info.min, info.max, 0, 1], dtype), n), a)
        elif dtype == "complex64":
            a = self.floats(n, kind, "float32") + 1j * self.floats(n, kind, "float32")
        else:
            a = self.floats(n, kind, dtype)
        with np.errstate(all="ignore"):
            a = to_bfloat16(a) if dtype == "bfloat16" else a.astype(dtype)
        return np.ascontiguousarray(a).tobytes()

    def floats(self, n, kind, dtype):
        a = self.rng.standard_normal(n)
        if kind == "unit":
            return np.tanh(a)
        if kind == "positive":
            return np.abs(a) + 0.05
        if kind == "small":
            return np.round(a * 3)
        if kind == "any":
            if self.chance(0.25):
                a = np.round(a * 3)
            if self.chance(0.3):
                a = a * 10 ** self.rng.uniform(-4, 4, n)
            if self.chance(0.25):
                specials = [np.nan, np.inf, -np.inf, 0.0, -0.0, LEAST[dtype] / 4, -LEAST[dtype] / 2, 1.0, -1.0]
                a = np.where(self.rng.random(n) < 0.2, self.rng.choice(specials, n), a)
        return a

    def tensor(self, shape, dtype, kind="any", a=None):
        """Of that shape; dense, or a view of something larger. a: these elements, in NumPy, dense."""
        if a is not None:
            raw = np.ascontiguousarray(a).tobytes()
            return self.pair(raw, tuple(a.shape), dtype)
        rank = len(shape)
        if rank == 0 or self.chance(0.5):
            return self.pair(self.values(shape, dtype, kind), tuple(shape), dtype)
        base, index = [], []
        for size in shape:
            step = self.of([1, 1, 2, 3, -1, -2])
            extra = self.int(0, 2)
            base.append(size * abs(step) + extra)
            if step > 0:
                index.append(slice(extra, extra + size * step, step))
            elif size:
                last = base[-1] - 1 - extra if extra <= (size * abs(step) - 1 - (size - 1) * abs(step)) else base[-1] - 1
                stop = last - size * abs(step)
                index.append(slice(last, stop if stop >= 0 else None, step))
            else:
                index.append(slice(0, 0, 1))
        wide = [k for k in range(rank) if shape[k] > 1 and self.chance(0.15)]
        for k in wide:
            base[k], index[k] = 1, slice(None)
        order = [int(k) for k in self.rng.permutation(rank)]
        back = [order.index(k) for k in range(rank)]
        x = self.pair(self.values([base[k] for k in order], dtype, kind), tuple(base[k] for k in order), dtype)
        m, l, a = mx.transpose(x.m, back), self.lb.transpose(x.l, back), np.transpose(x.a, back)
        python, ours, n = words(index)
        m, l, a = m[python], self.lb.slice_n(l, n, ours), a[python]
        if wide:
            m, l, a = mx.broadcast_to(m, shape), self.lb.broadcast_to(l, list(shape)), np.broadcast_to(a, shape)
        assert m.shape == tuple(shape) == a.shape, (m.shape, shape, a.shape)
        return Pair(m, l, a, dtype)

    def pair(self, raw, shape, dtype):
        if dtype == "bfloat16":
            m = mx.array(np.frombuffer(raw, np.uint16).reshape(shape)).view(mx.bfloat16)
        elif dtype == "float64":
            m = mx.array(np.frombuffer(raw, np.float64).reshape(shape), dtype=mx.float64)
        else:
            m = mx.array(np.frombuffer(raw, np.dtype(dtype)).reshape(shape))
        assert m.dtype == mlx_dtype(dtype) and m.shape == shape
        return Pair(m, self.lb.tensor(raw, list(shape), dtype), exact(raw, dtype, shape), dtype)

    def weak(self, like):
        """A number of Python's, which takes the other operand's dtype."""
        if like in BOOL + INTEGERS and self.chance(0.8) or self.chance(0.3):
            value = self.int(0 if like in UNSIGNED + BOOL else -5, 5)
            return Pair(value, self.lb.scalar_int(value), np.array(value), "weak")
        value = float(np.round(self.rng.standard_normal() * 3, 3))
        return Pair(value, self.lb.scalar(value), np.array(value), "weak")
