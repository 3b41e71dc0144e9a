"""Elementwise operations."""

import math

import mlx.core as mx

from draw import BOOL, COMPLEX, FLOATS, HALVES, INTEGERS, LEAST, REAL, UNSIGNED, mlx_dtype
from lazybones import DTYPES
from operations.case import Case, op, eps, number, largest, SINGLE


PRECISE = {"negative", "abs", "sqrt", "square", "floor", "ceil", "trunc", "round", "isnan", "isinf", "isfinite", "isposinf",
           "isneginf", "logical_not", "real", "imag", "conjugate", "positive"}
UNARY = ["negative", "abs", "exp", "log", "sqrt", "rsqrt", "sin", "cos", "tanh", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh",
         "arcsinh", "arccosh", "arctanh", "log1p", "log2", "log10", "expm1", "sigmoid", "erf", "erfinv", "square", "reciprocal",
         "sign", "degrees", "radians", "real", "imag", "conjugate", "floor", "ceil", "trunc", "round", "isnan", "isinf", "isfinite",
         "isposinf", "isneginf", "logical_not", "bitwise_invert", "positive"]
STEPS = {"floor", "ceil", "trunc", "round", "sign", "isnan", "isinf", "isfinite", "isposinf", "isneginf", "logical_not",
         "bitwise_invert"}
KINDS = {"arcsin": "unit", "arccos": "unit", "arctanh": "unit", "erfinv": "unit", "log": "positive", "log2": "positive",
         "log10": "positive", "log1p": "positive", "sqrt": "positive", "rsqrt": "positive"}


@op(*UNARY)
def unary(d, name):
    integers = name == "bitwise_invert"
    dtype = d.dtype(BOOL + INTEGERS if integers else DTYPES if d.chance(0.4) else FLOATS)
    kind = KINDS.get(name, "tame") if d.chance(0.6) else "any"
    x = d.tensor(d.shape(), dtype, kind)
    function = (lambda m: +m) if name == "positive" else getattr(mx, name)
    if name == "positive":
        function = lambda m: m
    floor = 0.0
    if name in ("sin", "cos", "tan"):
        floor = 2 * eps(dtype) * max(1.0, largest(x.a) if dtype in ("complex64", "float64") else 1.0)
    elif name == "erf":
        floor = 1e-6
    elif name == "erfinv":
        floor = LEAST["float32"]
    elif name in ("exp", "sigmoid"):
        floor = LEAST["float16" if name == "sigmoid" else "float32"]
    return Case([x], function, getattr(d.lb, name), ulp=0 if name in PRECISE else 64 if dtype not in HALVES else 2, floor=floor,
                grads=name not in STEPS and name != "tan" and kind != "any")


BINARY = ["add", "subtract", "multiply", "divide", "power", "maximum", "minimum", "remainder", "floor_divide", "logaddexp", "arctan2",
          "bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift", "equal", "not_equal", "less", "less_equal", "greater",
          "greater_equal", "logical_and", "logical_or", "logical_xor"]
COMPARISONS = set(BINARY[16:])


@op(*BINARY)
def binary(d, name):
    shapes = d.broadcast(2, 4)
    usual = BOOL + INTEGERS if name.startswith("bitwise") or "shift" in name else DTYPES
    first = d.dtype(usual)
    second = first if d.chance(0.6) else d.dtype(usual)
    kind = "any" if d.chance(0.4) else "tame"
    if name in ("remainder", "floor_divide", "divide", "divmod"):
        kind2 = "positive" if d.chance(0.7) or not set([first, second]) & set(FLOATS) else kind
    elif name == "power":
        kind, kind2 = "positive", "tame" if first in FLOATS + COMPLEX else "positive"
    else:
        kind2 = kind
    a, b = d.tensor(shapes[0], first, kind), d.tensor(shapes[1], second, kind2)
    if "shift" in name:
        b = shift_by(d, shapes[1], second) if second in BOOL + INTEGERS else b
    elif d.chance(0.15):
        a, b = (a, d.weak(first)) if d.chance(0.6) or name == "power" else (d.weak(second), b)
    ulp = {"power": 16, "logaddexp": 4, "arctan2": 4, "divide": 4 if "complex64" in (first, second) else 0,
           "floor_divide": 1, "multiply": 4 if "complex64" in (first, second) else 0}.get(name, 0)
    floor = 0.0
    if name == "logaddexp":
        floor = 4 * eps("float32" if first not in HALVES + ["float64"] else first) * max(largest(a.a), largest(b.a), 1) \
            if kind == "tame" else 1e-3 * max(largest(a.a), largest(b.a), 1)
    if name == "floor_divide" and set([first, second]) & set(HALVES):
        floor = 1.0  # the quotient may be rounded to either side of a whole number
    if name == "logaddexp" and set([first, second]) & set(HALVES):
        floor = max(floor, 4 * max(eps(first), eps(second)) * max(largest(a.a), largest(b.a), 1))
    if name == "multiply" and "complex64" in (first, second):
        floor = 1e-6 * largest(a.a) * largest(b.a)
    return Case([a, b], getattr(mx, name), getattr(d.lb, name), ulp=ulp, floor=floor,
                grads=name not in COMPARISONS and "shift" not in name and name not in ("floor_divide", "remainder") and kind != "any")


def shift_by(d, shape, dtype):
    if dtype == "bool":
        return d.tensor(shape, dtype)
    return d.tensor(shape, dtype, a=d.rng.integers(0, 7, shape).astype(dtype))


@op("divmod")
def divmod_(d, name):
    shapes, dtype = d.broadcast(2, 4), d.dtype(INTEGERS + FLOATS)
    a, b = d.tensor(shapes[0], dtype, "tame"), d.tensor(shapes[1], dtype, "positive")
    return Case([a, b], mx.divmod, lambda a, b: d.lb.several("divmod", 2, a, b), ulp=1,
                floor=1 + largest(b.a) if dtype in HALVES else 2 * eps(dtype) * largest(a.a) if dtype in FLOATS else 0)



@op("where")
def where(d, name):
    shapes = d.broadcast(3, 4)
    first = d.dtype(DTYPES)
    c = d.tensor(shapes[0], d.dtype(BOOL, INTEGERS + FLOATS), "small")
    a, b = d.tensor(shapes[1], first), d.tensor(shapes[2], first if d.chance(0.6) else d.dtype(DTYPES))
    if d.chance(0.1):
        b = d.weak(first)
    return Case([c, a, b], mx.where, d.lb.where)


@op("clip")
def clip(d, name):
    shapes = d.broadcast(3, 4)
    first = d.dtype(REAL)
    x = d.tensor(shapes[0], first, "any")
    low, high = d.tensor(shapes[1], first if d.chance(0.8) else d.dtype(REAL), "small"), d.tensor(shapes[2], first, "small")
    which = d.int(0, 2)
    inputs = [x, low] if which == 0 else [x, high] if which == 1 else [x, low, high]
    d.say(bounds=which)
    return Case(inputs, lambda x, *b: mx.clip(x, b[0] if which != 1 else None, b[-1] if which else None),
                lambda x, *b: d.lb.clip(x, b[0] if which != 1 else None, b[-1] if which else None))


@op("round_to")
def round_to(d, name):
    decimals, dtype = d.int(-2, 3), d.dtype(REAL)
    x = d.tensor(d.shape(), dtype, "tame")
    d.say(decimals=decimals)
    return Case([x], lambda m: mx.round(m, decimals), lambda l: d.lb.round_to(l, decimals), ulp=1,
                floor=10.0**-decimals * 1.02 if dtype in HALVES else 0)  # which MLX rounds at each step


@op("nan_to_num")
def nan_to_num(d, name):
    x = d.tensor(d.shape(), d.dtype(FLOATS, REAL))
    nan, high, low = float(d.int(-2, 2)), d.of([None, 7.0]), d.of([None, -5.5])
    return Case([x], lambda m: mx.nan_to_num(m, nan, high, low),
                lambda l: d.lb.nan_to_num(l, nan, math.nan if high is None else high, math.nan if low is None else low))


@op("astype")
def astype(d, name):
    dtype, to = d.of(DTYPES), d.of(DTYPES)
    d.say(to=to)
    kind = "any" if dtype in BOOL + INTEGERS or to in FLOATS + COMPLEX + BOOL else "positive" if to in UNSIGNED else "small"
    x = d.tensor(d.shape(), dtype, kind)
    return Case([x], lambda m: m.astype(mlx_dtype(to)), lambda l: d.lb.astype(l, number(to)),
                ulp=1 if dtype == "float64" and to in HALVES else 0)  # which MLX rounds to floats first


@op("view")
def view(d, name):
    dtype, to = d.of(DTYPES), d.of(DTYPES)
    d.say(to=to)
    x = d.tensor(d.shape(), dtype)
    if to == "bool" and dtype != "bool":
        to = "uint8"
    return Case([x], lambda m: m.view(mlx_dtype(to)), lambda l: d.lb.bitcast(l, number(to)))


@op("to_fp8")
def to_fp8(d, name):
    x = d.tensor(d.shape(), d.dtype(SINGLE, FLOATS), "tame" if d.chance(0.5) else "small")
    return Case([x], mx.to_fp8, d.lb.to_fp8)


@op("from_fp8")
def from_fp8(d, name):
    to = d.of(SINGLE)
    x = d.tensor(d.shape(), d.dtype(["uint8"]), "small")
    return Case([x], lambda m: mx.from_fp8(m, mlx_dtype(to)), lambda l: d.lb.from_fp8(l, number(to)))


@op("isclose", "allclose")
def isclose(d, name):
    shapes = d.broadcast(2, 3)
    first = d.dtype(FLOATS + INTEGERS, DTYPES)
    kind = "any" if d.chance(0.4) else "small"
    a, b = d.tensor(shapes[0], first, kind), d.tensor(shapes[1], first if d.chance(0.8) else d.dtype(REAL, DTYPES), kind)
    if kind == "any" and a.shape == b.shape and a.dtype == b.dtype and d.chance(0.5):
        b = a  # what is wide is seldom close by chance
    rtol, atol, nan = d.of([1e-5, 0.5]), d.of([1e-8, 1.25]), d.chance(0.5)
    d.say(rtol=rtol, atol=atol, nan=nan)
    return Case([a, b], lambda a, b: getattr(mx, name)(a, b, rtol, atol, equal_nan=nan),
                lambda a, b: getattr(d.lb, name)(a, b, rtol, atol, nan))


@op("array_equal")
def array_equal(d, name):
    shape, nan = d.shape(), d.chance(0.5)
    a = d.tensor(shape, d.of(DTYPES), "small")
    b = a if d.chance(0.4) else d.tensor(shape if d.chance(0.9) else d.shape(), d.of(DTYPES), "small")
    return Case([a, b], lambda a, b: mx.array_equal(a, b, equal_nan=nan), lambda a, b: d.lb.array_equal(a, b, nan))


@op("silu", "gelu", "gelu_tanh")
def activation(d, name):
    import mlx.nn as nn
    dtype = d.of(SINGLE)
    x = d.tensor(d.shape(), dtype, "tame")
    function = {"silu": nn.silu, "gelu": nn.gelu, "gelu_tanh": nn.gelu_approx}[name]
    return Case([x], function, getattr(d.lb, name), ulp=16, floor=16 * eps(dtype), grads=True)
