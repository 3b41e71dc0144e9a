"""Tensors for the reference: NumPy arrays with a dtype of ours, the promotion table, and rounding.

bfloat16 is unknown to NumPy: its values are kept as float32 that bfloat16 can hold, computed in
float32 and rounded to nearest even after each operation. float16 is computed the same way.
"""

import numpy as np

BOOL = "bool"
UNSIGNED = ["uint8", "uint16", "uint32", "uint64"]
SIGNED = ["int8", "int16", "int32", "int64"]
INTEGERS = UNSIGNED + SIGNED
HALVES = ["float16", "bfloat16"]
FLOATS = HALVES + ["float32", "float64"]
COMPLEX = "complex64"
REAL = [BOOL] + INTEGERS + FLOATS
DTYPES = REAL + [COMPLEX]
MANTISSA = {"float16": 10, "bfloat16": 7, "float32": 23, "float64": 52, "complex64": 23}


def numpy_dtype(dtype):
    return np.dtype(np.float32 if dtype == "bfloat16" else dtype)


def round_bf16(values):
    """To nearest even, in float32 that bfloat16 holds."""
    values = np.asarray(values).astype(np.float32)
    bits = np.atleast_1d(values).view(np.uint32).astype(np.uint64)
    rounded = (bits + 0x7FFF + ((bits >> np.uint64(16)) & np.uint64(1))) & np.uint64(0xFFFF0000)
    result = rounded.astype(np.uint32).view(np.float32).reshape(values.shape)
    return np.where(np.isnan(values), np.float32(np.nan), result).astype(np.float32)


def bits_bf16(values):
    bits = np.ascontiguousarray(np.atleast_1d(values)).view(np.uint32) >> np.uint32(16)
    return bits.astype(np.uint16).reshape(values.shape)


class Tensor:
    def __init__(self, values, dtype):
        self.dtype = dtype
        with np.errstate(all="ignore"):
            if dtype == "bfloat16":
                self.a = round_bf16(values)
            else:
                self.a = np.asarray(values).astype(numpy_dtype(dtype))

    @property
    def shape(self):
        return self.a.shape

    def stored(self):
        """What goes into the file."""
        array = np.array(self.a, order="C", copy=True)
        return bits_bf16(array) if self.dtype == "bfloat16" else array

    def map(self, f):
        """The tensor after a movement of elements."""
        result = Tensor.__new__(Tensor)
        result.dtype, result.a = self.dtype, f(self.a)
        return result


class Weak:
    """A scalar that takes the other operand's dtype."""

    def __init__(self, value):
        self.value = value


def kind(dtype):
    if dtype == BOOL:
        return "b"
    if dtype in UNSIGNED:
        return "u"
    if dtype in SIGNED:
        return "i"
    return "c" if dtype == COMPLEX else "f"


def bits_of(dtype):
    return int("".join(c for c in dtype if c.isdigit()))


def promote(a, b):
    """MLX's table."""
    if a == b:
        return a
    if BOOL in (a, b):
        return b if a == BOOL else a
    if COMPLEX in (a, b):
        return COMPLEX
    kinds = kind(a) + kind(b)
    if kinds == "ff":
        if "float64" in (a, b):
            return "float64"
        return "float32"
    if "f" in kinds:
        return a if kinds[0] == "f" else b
    if kinds[0] == kinds[1]:
        return a if bits_of(a) > bits_of(b) else b
    unsigned, signed = (a, b) if kinds[0] == "u" else (b, a)
    if unsigned == "uint64":
        return "float32"
    bits = max(bits_of(unsigned) * 2, bits_of(signed))
    return "int%d" % bits


def weak_promote(dtype, value):
    """The dtype of an operation of dtype with a weak scalar."""
    if isinstance(value, float):
        return dtype if kind(dtype) in "fc" else "float32"
    return "int32" if dtype == BOOL else dtype


def inexact(dtype):
    return dtype if kind(dtype) in "fc" else "float32"


def cast(tensor, dtype):
    a = tensor.a
    if dtype == tensor.dtype:
        return tensor
    if tensor.dtype == COMPLEX and dtype != BOOL:
        a = a.real
    with np.errstate(all="ignore"):
        if dtype == BOOL:
            return Tensor(a != 0, BOOL)
        return Tensor(a, dtype)


def working(tensor):
    """The values in the type that its dtype is computed in."""
    return tensor.a.astype(np.float32) if tensor.dtype == "float16" else tensor.a


def precise(tensor):
    """The values in the type that the exact answer is computed in."""
    if tensor.dtype == COMPLEX:
        return tensor.a.astype(np.complex128)
    return tensor.a.astype(np.float64) if kind(tensor.dtype) == "f" else tensor.a


def random_values(rng, dtype, shape):
    """Ordinary values: integers over most of the range, floats of several magnitudes."""
    if dtype == BOOL:
        return Tensor(rng.integers(0, 2, shape), BOOL)
    if kind(dtype) in "ui":
        info = np.iinfo(dtype)
        if rng.integers(0, 2):
            return Tensor(rng.integers(max(info.min, -9), 10, shape), dtype)
        return Tensor(rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True), dtype)
    scale = 10.0 ** rng.integers(-1, 2, shape)
    values = rng.standard_normal(shape) * scale
    if dtype == COMPLEX:
        return Tensor(values + 1j * rng.standard_normal(shape) * scale, COMPLEX)
    return Tensor(values, dtype)


def specials(dtype):
    """NaN, infinities, zeros of both signs, denormals, limits."""
    if dtype == BOOL:
        return Tensor([0, 1], BOOL)
    if kind(dtype) in "ui":
        info = np.iinfo(dtype)
        return Tensor(np.array([0, 1, 2, 3, info.max, info.max - 1, info.min, info.min + 1],
                               dtype), dtype)
    if dtype == COMPLEX:
        return Tensor([0, 1, -1, 1j, -1j, 3 + 4j, -2.5 + 0.5j], COMPLEX)
    tiny, small, big = {
        "float16": (2.0 ** -24, 2.0 ** -14, 65504.0),
        "bfloat16": (2.0 ** -133, 2.0 ** -126, 3.3895313892515355e38),
        "float32": (2.0 ** -149, 2.0 ** -126, 3.4028234663852886e38),
        "float64": (5e-324, 2.2250738585072014e-308, 1.7976931348623157e308),
    }[dtype]
    positive = [0.0, tiny, tiny * 3, small, 1.0, 1.5, 2.5, 0.5, 3.0, 100.0, big, np.inf]
    return Tensor(np.array(positive + [-x for x in positive] + [np.nan]), dtype)
