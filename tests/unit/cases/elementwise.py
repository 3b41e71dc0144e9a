"""Unary, binary and ternary operations, astype, promotion, weak scalars."""

import math

import numpy as np

from .reference import (BOOL, COMPLEX, DTYPES, FLOATS, HALVES, INTEGERS, REAL, Tensor, Weak, cast,
                        inexact, kind, precise, promote, random_values, specials, weak_promote,
                        working)

erf = np.vectorize(math.erf, otypes=[np.float64])


def erfinv_of(x):
    """By Newton's steps: from the complement, where erf itself is near 1."""
    size = abs(x)
    if not size < 1 or x == 0:
        return x if x == 0 else math.copysign(math.inf, x) if size == 1 else math.nan
    y = 0.0
    for _ in range(200):
        off = size - math.erf(y) if size < 0.5 else math.erfc(y) - (1 - size)
        step = off / (2 / math.sqrt(math.pi) * math.exp(-y * y))
        y += min(step, 0.5)
        if abs(step) <= 1e-17 * y:
            break
    return math.copysign(y, x)


erfinv = np.vectorize(erfinv_of, otypes=[np.float64])

FRACTIONAL = {
    "exp": np.exp,
    "log": np.log,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1.0 / np.sqrt(x),
    "sin": np.sin,
    "cos": np.cos,
    "tanh": np.tanh,
    "sigmoid": lambda x: 1.0 / (1.0 + np.exp(-x)),
    "erf": lambda x: erf(x) if x.size else x,
}
# those that came later have random numbers of their own
MORE_FRACTIONAL = {
    "erfinv": lambda x: erfinv(x) if x.size else x,
    "tan": np.tan,
    "arcsin": np.arcsin,
    "arccos": np.arccos,
    "arctan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "arcsinh": np.arcsinh,
    "arccosh": np.arccosh,
    "arctanh": np.arctanh,
    "expm1": np.expm1,
    "log1p": np.log1p,
    "log2": np.log2,
    "log10": np.log10,
}
PLAIN = {
    "negative": np.negative,
    "abs": np.abs,
    "square": np.square,
    "floor": np.floor,
    "ceil": np.ceil,
    "round": np.round,
}
MORE_PLAIN = {"sign": lambda x: np.where(np.isnan(x), 0, np.sign(x))}
# ranges over which the fractional functions are interesting, besides the specials
RANGES = {
    "exp": (-110, 92), "log": (0, 1e4), "sqrt": (0, 1e6), "rsqrt": (0, 1e6), "sin": (-1e4, 1e4),
    "cos": (-1e4, 1e4), "tanh": (-12, 12), "sigmoid": (-95, 95), "erf": (-6, 6),
    "tan": (-1e4, 1e4), "arcsin": (-1, 1), "arccos": (-1, 1), "arctan": (-1e3, 1e3), "sinh": (-92, 92),
    "cosh": (-92, 92), "arcsinh": (-1e6, 1e6), "arccosh": (1, 1e6), "arctanh": (-1, 1), "expm1": (-30, 92),
    "log1p": (-1, 1e4), "log2": (0, 1e4), "log10": (0, 1e4), "erfinv": (-1, 1),
}
SHAPES = [(), (0,), (1,), (257,), (3, 0, 2), (4, 1, 33), (2, 1, 2, 3, 1, 2, 2, 2)]
FLOOR = {"float16": 0.0, "bfloat16": 1.2e-38, "float32": 1.2e-38, "float64": 2.3e-308}


def shape_name(shape):
    return "x".join(str(n) for n in shape) if shape else "scalar"


def rounded(dtype):
    """The tolerance of a function that is not exact."""
    if dtype == COMPLEX:
        return "close:2e-6:1e-6"
    return "ulp:%d:%g" % (1 if dtype in HALVES else 4, FLOOR[dtype])


def fractional(suite, rng, functions):
    for op, f in functions.items():
        for dtype in FLOATS:
            low, high = RANGES[op]
            if dtype == "float16":
                low, high = max(low, -20), min(high, 1000)
            inputs = [("specials", specials(dtype)),
                      ("range", Tensor(rng.uniform(low, high, 1500), dtype)),
                      ("near0", Tensor(rng.standard_normal(300) * 1e-3, dtype)),
                      ("near1", Tensor(1 + rng.standard_normal(300) * 1e-2, dtype))]
            inputs += [(shape_name(s), random_values(rng, dtype, s)) for s in SHAPES]
            tol = "exact" if op == "sqrt" else rounded(dtype)
            if op == "erfinv" and dtype == "float64":  # two polynomials, each rounded
                tol = tol.replace("ulp:4", "ulp:8")
            for name, x in inputs:
                suite.case("%s/%s/%s" % (op, dtype, name), op, [x],
                           Tensor(f(precise(x)), dtype), tol)
        for dtype in [BOOL] + INTEGERS:
            x = Tensor([0, 1] if dtype == BOOL else [0, 1, 2, 3, 5, 17, 100], dtype)
            suite.case("%s/%s" % (op, dtype), op, [x],
                       Tensor(f(x.a.astype(np.float64)), "float32"),
                       "exact" if op == "sqrt" else rounded("float32"))


def plain(suite, rng, functions):
    for op, f in functions.items():
        for dtype in INTEGERS + FLOATS:
            inputs = [("specials", specials(dtype)),
                      ("halves", Tensor(np.arange(-9, 10) / 2, dtype))]
            inputs += [(shape_name(s), random_values(rng, dtype, s)) for s in SHAPES]
            if kind(dtype) in "ui":
                inputs.pop(1)
            for name, x in inputs:
                same = op in ("floor", "ceil", "round") and kind(dtype) in "ui"
                expected = x if same else Tensor(f(working(x)), dtype)
                suite.case("%s/%s/%s" % (op, dtype, name), op, [x], expected)


def unary(suite):
    for rng, functions, whole in ((suite.rng, FRACTIONAL, PLAIN),
                                  (np.random.default_rng(8), MORE_FRACTIONAL, MORE_PLAIN)):
        fractional(suite, rng, functions)
        plain(suite, rng, whole)
    for op, f in (("isnan", np.isnan), ("isinf", np.isinf), ("isfinite", np.isfinite),
                  ("isposinf", lambda x: x == np.inf), ("isneginf", lambda x: x == -np.inf)):
        for dtype in DTYPES:
            x = specials(dtype)
            suite.case("%s/%s" % (op, dtype), op, [x], Tensor(f(x.a), BOOL))
        x = Tensor([complex(np.nan, 1), complex(1, np.nan), complex(np.inf, 0), complex(1, -np.inf),
                    1 + 1j], COMPLEX)
        suite.case("%s/complex64/parts" % op, op, [x], Tensor(f(x.a), BOOL))
    for dtype in DTYPES:
        x = specials(dtype)
        suite.case("logical_not/%s" % dtype, "logical_not", [x], Tensor(x.a == 0, BOOL))
        for op, f in (("real", np.real), ("imag", np.imag), ("conjugate", np.conjugate)):
            result = "float32" if dtype == COMPLEX and op != "conjugate" else dtype
            suite.case("%s/%s" % (op, dtype), op, [x], Tensor(f(x.a), result))
        if kind(dtype) in "bui":
            suite.case("bitwise_invert/%s" % dtype, "bitwise_invert", [x], Tensor(np.invert(x.a), dtype))
    complex_unary(suite)


def complex_unary(suite):
    x = random_values(suite.rng, COMPLEX, (5, 9)).map(lambda a: (a / 8).astype(np.complex64))
    for op in ("exp", "log", "sqrt", "sin", "cos", "tanh", "square", "tan", "arcsin", "arccos", "arctan", "sinh",
               "cosh", "arcsinh", "arccosh", "arctanh", "log1p", "log2", "log10"):
        f = {**FRACTIONAL, **MORE_FRACTIONAL, **PLAIN}[op]
        suite.case("%s/complex64" % op, op, [x], Tensor(f(precise(x)), COMPLEX), rounded(COMPLEX))
    size = np.abs(precise(x))
    suite.case("sign/complex64", "sign", [x],
               Tensor(np.where(size == 0, 0, precise(x) / size), COMPLEX), rounded(COMPLEX))
    suite.case("negative/complex64", "negative", [x], Tensor(-x.a, COMPLEX))
    suite.case("abs/complex64", "abs", [x], Tensor(np.abs(precise(x)), "float32"),
               rounded("float32"))


ARITHMETIC = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply}
EXTREMES = {"maximum": np.maximum, "minimum": np.minimum}
COMPARISONS = {"equal": np.equal, "not_equal": np.not_equal, "less": np.less,
               "less_equal": np.less_equal, "greater": np.greater,
               "greater_equal": np.greater_equal}
BITS = {"bitwise_and": np.bitwise_and, "bitwise_or": np.bitwise_or,
        "bitwise_xor": np.bitwise_xor, "left_shift": np.left_shift,
        "right_shift": np.right_shift}
LOGICAL = {"logical_and": np.logical_and, "logical_or": np.logical_or}


def remainder(a, b):
    """NumPy's; also for integers by 0, which give 0."""
    if a.dtype.kind in "ui":
        zero, one = a.dtype.type(0), a.dtype.type(1)
        return np.where(b == 0, zero, np.remainder(a, np.where(b == 0, one, b)))
    return np.remainder(a, b)


def floor_divide(a, b):
    """Of the quotient as it is rounded; also for integers by 0, which give 0."""
    if a.dtype.kind in "ui":
        zero, one = a.dtype.type(0), a.dtype.type(1)
        return np.where(b == 0, zero, np.floor_divide(a, np.where(b == 0, one, b)))
    return np.floor(a / b)


def binary_reference(op, dtype, a, b):
    """Expected result and tolerance; a and b already have the promoted dtype."""
    if op in COMPARISONS:
        return Tensor(COMPARISONS[op](a.a, b.a), BOOL), "exact"
    if op in LOGICAL:
        return Tensor(LOGICAL[op](a.a != 0, b.a != 0), BOOL), "exact"
    if op == "divide":
        result = inexact(dtype)
        a, b = cast(a, result), cast(b, result)
        if result == COMPLEX:
            return Tensor(precise(a) / precise(b), result), rounded(result)
        return Tensor(working(a) / working(b), result), "exact"
    if op == "power":
        if kind(dtype) in "ui":
            return Tensor(np.power(a.a, b.a), dtype), "exact"
        return Tensor(np.power(precise(a), precise(b)), dtype), rounded(dtype)
    if op == "remainder":
        return Tensor(remainder(working(a), working(b)), dtype), "value"
    if op == "floor_divide":
        return Tensor(floor_divide(working(a), working(b)), dtype), "value"
    if op in BITS:
        y = BITS[op](a.a, b.a)
        if op in ("left_shift", "right_shift"):  # of more than its bits NumPy says nothing
            all_gone = (b.a < 0) | (b.a >= 8 * a.a.dtype.itemsize)
            gone = np.where(a.a < 0, -1, 0) if op == "right_shift" else np.zeros_like(a.a)
            y = np.where(all_gone, gone.astype(a.a.dtype), y)
        return Tensor(y, dtype), "exact"
    if op in EXTREMES:
        return Tensor(EXTREMES[op](working(a), working(b)), dtype), "value"
    if dtype == COMPLEX and op == "multiply":
        return Tensor(precise(a) * precise(b), dtype), rounded(COMPLEX)
    return Tensor(ARITHMETIC[op](working(a), working(b)), dtype), "exact"


def binary_case(suite, name, op, a, b):
    dtypes = [x.dtype for x in (a, b) if isinstance(x, Tensor)]
    weak = [x.value for x in (a, b) if isinstance(x, Weak)]
    dtype = weak_promote(dtypes[0], weak[0]) if weak else promote(*dtypes)
    operands = [Tensor(x.value, dtype) if isinstance(x, Weak) else cast(x, dtype) for x in (a, b)]
    expected, tol = binary_reference(op, dtype, *operands)
    suite.case(name, op, [a, b], expected, tol)


BROADCASTS = [((), ()), ((), (3,)), ((0,), (1,)), ((5,), (5,)), ((4, 1), (1, 7)),
              ((3, 1, 5), (4, 1)), ((2, 3, 4), (4,)), ((2, 0, 3), (1, 3)), ((1,), (2, 3)),
              ((33, 65), (33, 65)), ((2, 1, 2, 1, 2, 1, 2, 1), (1, 3, 1, 2, 1, 2, 1, 2)),
              ((2, 2, 2, 2, 2, 2, 2, 2), ())]


def small(rng, dtype, shape):
    """Values whose powers stay small."""
    if kind(dtype) in "bui":
        return Tensor(rng.integers(0, 2 if dtype == BOOL else 5, shape), dtype)
    return Tensor(rng.uniform(0.1, 3, shape), dtype)


def ordinary_cases(suite, rng, ops):
    for op in ops:
        for dtype in REAL:
            if dtype == BOOL and op not in list(COMPARISONS) + list(LOGICAL) + ["divide"]:
                continue
            values = specials(dtype).a
            left, right = np.meshgrid(values, values)
            binary_case(suite, "%s/%s/specials" % (op, dtype), op, Tensor(left, dtype),
                        Tensor(right, dtype))
            for a, b in BROADCASTS:
                if dtype not in ("float32", "bfloat16", "int32", "uint8") and len(a) > 2:
                    continue
                binary_case(suite, "%s/%s/%s,%s" % (op, dtype, shape_name(a), shape_name(b)), op,
                            random_values(rng, dtype, a), random_values(rng, dtype, b))


def binary(suite):
    rng = suite.rng
    ordinary = list(ARITHMETIC) + list(EXTREMES) + list(COMPARISONS) + list(LOGICAL)
    ordinary += ["divide", "remainder"]
    ordinary_cases(suite, rng, ordinary)
    ordinary_cases(suite, np.random.default_rng(9), ["floor_divide"])
    for op in BITS:
        for dtype in REAL:
            if kind(dtype) not in "ui" + ("b" if "shift" not in op else ""):
                continue
            left, right = np.meshgrid(specials(dtype).a, specials(dtype).a)
            binary_case(suite, "%s/%s/specials" % (op, dtype), op, Tensor(left, dtype),
                        Tensor(right, dtype))
            for a, b in BROADCASTS:
                binary_case(suite, "%s/%s/%s,%s" % (op, dtype, shape_name(a), shape_name(b)), op,
                            random_values(rng, dtype, a), small(rng, dtype, b))
    for dtype in REAL[1:]:
        for a, b in BROADCASTS:
            binary_case(suite, "power/%s/%s,%s" % (dtype, shape_name(a), shape_name(b)), "power",
                        small(rng, dtype, a), small(rng, dtype, b))
    for dtype in FLOATS:
        left, right = np.meshgrid(specials(dtype).a, [0, 1, -1, 2, 3, -3, 0.5, np.inf, -np.inf,
                                                      np.nan])
        binary_case(suite, "power/%s/specials" % dtype, "power", Tensor(left, dtype),
                    Tensor(right, dtype))
    for op in ("add", "subtract", "multiply", "divide", "equal", "not_equal"):
        for a, b in (((3, 4), (3, 4)), ((2, 1), (5,))):
            binary_case(suite, "%s/complex64/%s,%s" % (op, shape_name(a), shape_name(b)), op,
                        random_values(rng, COMPLEX, a), random_values(rng, COMPLEX, b))
    for op in ("add", "multiply"):
        left, right = np.meshgrid([0, 1], [0, 1])
        f = np.logical_or if op == "add" else np.logical_and
        suite.case(op + "/bool", op, [Tensor(left, BOOL), Tensor(right, BOOL)],
                   Tensor(f(left, right), BOOL))
    for op, f in (("maximum", np.logical_or), ("minimum", np.logical_and)):
        left, right = np.meshgrid([0, 1], [0, 1])
        suite.case(op + "/bool", op, [Tensor(left, BOOL), Tensor(right, BOOL)],
                   Tensor(f(left, right), BOOL))
    shifts_of_bool(suite)
    extremes_of_complex(suite)


def shifts_of_bool(suite):
    """As MLX has them; NumPy takes int8."""
    left, right = np.meshgrid([0, 1], [0, 1])
    for op in ("left_shift", "right_shift"):
        suite.case(op + "/bool", op, [Tensor(left, BOOL), Tensor(right, BOOL)],
                   Tensor(BITS[op](left.astype(np.uint8), right.astype(np.uint8)), "uint8"))


def extremes_of_complex(suite):
    """By their real parts, then the imaginary ones."""
    rng = np.random.default_rng(31)
    a, b = (np.round(rng.standard_normal(s) * 2) + 1j * np.round(rng.standard_normal(s) * 2)
            for s in ((40, 1), (1, 9)))
    a[3], b[0, 2] = complex(np.nan, 1), complex(1, np.nan)
    for op in EXTREMES:
        suite.case(op + "/complex64", op, [Tensor(a, COMPLEX), Tensor(b, COMPLEX)],
                   Tensor(EXTREMES[op](a, b), COMPLEX), "value")
    suite.case("round/complex64", "round", [Tensor(a * 0.5, COMPLEX)], Tensor(np.round(a * 0.5), COMPLEX), "value")
    suite.case("clip/complex64", "clip", [Tensor(a, COMPLEX), Tensor(b, COMPLEX), Tensor(1 - 1j, COMPLEX)],
               Tensor(np.minimum(np.maximum(a, b), 1 - 1j), COMPLEX), "value")


def arctan2(suite):
    rng = np.random.default_rng(6)
    for dtype in REAL:
        result = inexact(dtype)
        left, right = np.meshgrid(specials(dtype).a, specials(dtype).a)
        cases = [("specials", Tensor(left, dtype), Tensor(right, dtype))]
        cases += [("%s,%s" % (shape_name(a), shape_name(b)), random_values(rng, dtype, a),
                   random_values(rng, dtype, b)) for a, b in BROADCASTS]
        for name, a, b in cases:
            wanted = np.arctan2(precise(cast(a, result)), precise(cast(b, result)))
            suite.case("arctan2/%s/%s" % (dtype, name), "arctan2", [a, b], Tensor(wanted, result), rounded(result))


def round_to(x, decimals):
    if kind(x.dtype) in "bui" and decimals >= 0:
        return x
    y = working(x) if kind(x.dtype) == "f" else x.a.astype(np.float64)
    scale = y.dtype.type(10.0 ** abs(decimals))
    y = np.rint(y * scale) / scale if decimals > 0 else np.rint(y / scale) * scale
    return Tensor(np.rint(working(x)) if decimals == 0 else y, x.dtype)


def composed(suite):
    """What is made of other operations."""
    rng = np.random.default_rng(7)
    for dtype in REAL:
        result = inexact(dtype)
        for name, x in (("specials", specials(dtype)), ("random", random_values(rng, dtype, (5, 7))),
                        ("empty", random_values(rng, dtype, (0, 2)))):
            wide = cast(x, result)
            suite.case("reciprocal/%s/%s" % (dtype, name), "reciprocal", [x],
                       Tensor(1 / working(wide), result))
            for op, f in (("degrees", np.degrees), ("radians", np.radians)):
                suite.case("%s/%s/%s" % (op, dtype, name), op, [x], Tensor(f(precise(wide)), result),
                           rounded(result))
            for decimals in (-2, 0, 1, 3):
                few = Tensor([0, 1, 49, 50, 51, 120], dtype) if kind(dtype) in "ui" else x
                suite.case("round_to/%s/%s/%d" % (dtype, name, decimals), "round_to", [few], round_to(few, decimals),
                           decimals=decimals)
            if dtype == "float32" and name == "random":
                both = Tensor(x.a + 1j * x.a[::-1], COMPLEX)
                for decimals in (-2, 1):
                    parts = [round_to(Tensor(part, dtype), decimals).a for part in (both.a.real, both.a.imag)]
                    suite.case("round_to/complex64/%d" % decimals, "round_to", [both], Tensor(parts[0] + 1j * parts[1], COMPLEX),
                               "close:1e-6:0", decimals=decimals)
            if kind(dtype) == "f":
                for nan, high, low in ((0.0, np.nan, np.nan), (2.5, 3.0, -4.0)):
                    top = specials(dtype).a[10]
                    y = np.where(np.isnan(x.a), nan, x.a.astype(np.float64))
                    y = np.where(y == np.inf, top if np.isnan(high) else high, y)
                    y = np.where(y == -np.inf, -top if np.isnan(low) else low, y)
                    suite.case("nan_to_num/%s/%s/%g" % (dtype, name, nan), "nan_to_num", [x], Tensor(y, dtype), "exact",
                               nan=nan, high=high, low=low)
            elif dtype != BOOL:
                suite.case("nan_to_num/%s/%s" % (dtype, name), "nan_to_num", [x], x, "exact", nan=0)
    x = Tensor([complex(np.nan, 1), complex(1, np.nan), complex(np.inf, 0), complex(-np.inf, -0.0), complex(np.inf, 1), complex(0, np.inf), 3 - 4j],
               COMPLEX)
    for nan, high, low in ((0.0, np.nan, np.nan), (2.5, 3.0, -4.0)):
        top = float(np.finfo(np.float32).max)
        y = np.concatenate([[nan, nan, top if np.isnan(high) else high, -top if np.isnan(low) else low], x.a[4:]])
        suite.case("nan_to_num/complex64/%g" % nan, "nan_to_num", [x], Tensor(y, COMPLEX), "value", nan=nan, high=high, low=low)
    for dtype in ("int8", "uint32", "float16", "float32", "float64"):
        a, b = random_values(rng, dtype, (4, 1)), small(rng, dtype, (1, 5))
        for part, f in enumerate((floor_divide, remainder)):
            suite.case("divmod/%s/%d" % (dtype, part), "divmod", [a, b], Tensor(f(working(a), working(b)), dtype), "value",
                       part=part)


def logaddexp(suite):
    """Next to 0 it is a difference, of numbers with an error of their own."""
    rng = np.random.default_rng(5)
    close = {"float32": "close:1e-6:1e-6", "float64": "close:1e-14:1e-14"}
    for dtype in REAL:
        result = inexact(dtype)
        left, right = np.meshgrid(specials(dtype).a, specials(dtype).a)
        cases = [("specials", Tensor(left, dtype), Tensor(right, dtype))]
        cases += [("%s,%s" % (shape_name(a), shape_name(b)), random_values(rng, dtype, a),
                   random_values(rng, dtype, b)) for a, b in BROADCASTS]
        for name, a, b in cases:
            wanted = np.logaddexp(precise(cast(a, result)), precise(cast(b, result)))
            suite.case("logaddexp/%s/%s" % (dtype, name), "logaddexp", [a, b], Tensor(wanted, result),
                       close.get(result) or rounded(result))


def promotion(suite):
    for op in ("add", "multiply", "less", "divide"):
        for a in DTYPES:
            for b in DTYPES:
                if op == "less" and COMPLEX in (a, b):
                    continue
                if op in ("add", "multiply") and a == b == BOOL:
                    continue
                binary_case(suite, "%s/%s+%s" % (op, a, b), op,
                            small(suite.rng, a, (3, 1)), small(suite.rng, b, (4,)))
    for op in ("add", "multiply", "subtract", "divide", "less", "maximum"):
        for dtype in DTYPES:
            for value in (2.5, 2):
                if op in ("less", "maximum") and dtype == COMPLEX:
                    continue
                x = small(suite.rng, dtype, (2, 3))
                for name, a, b in (("right", x, Weak(value)), ("left", Weak(value), x)):
                    binary_case(suite, "%s/%s/weak-%s-%s" % (op, dtype, value, name), op, a, b)


def astype(suite):
    for source in DTYPES:
        for target in DTYPES:
            whole = kind(source) in "bui" or kind(target) in "ui"
            values = {"b": [0, 1], "u": [0, 1, 2, 100, 127]}.get(
                kind(target), [-100, -7, -1, 0, 1, 2, 100, 127])
            if kind(source) == "u":
                values = [abs(v) for v in values]
            if not whole:
                values = [0, -0.0, 0.5, -1.5, 3.25, 1e-3, np.inf, -np.inf, np.nan, 1e5, 3e38]
            elif kind(source) in "fc" and target != BOOL:
                values = [v + 0.75 if v > 0 else v for v in values]
            x = Tensor(np.array(values, np.float64), source)
            suite.case("astype/%s/%s" % (source, target), "astype", [x], cast(x, target),
                       dtype=target)
            if kind(source) in "ui" and kind(target) in "ui":
                x = specials(source)
                suite.case("astype/%s/%s/wraps" % (source, target), "astype", [x],
                           cast(x, target), dtype=target)
            if kind(source) in "ui" and kind(target) == "f":
                x = random_values(suite.rng, source, (70,))
                suite.case("astype/%s/%s/wide" % (source, target), "astype", [x],
                           cast(cast(x, "float32") if target == "bfloat16" else x, target),
                           "ulp:1:0" if target in HALVES else "exact", dtype=target)
    # small integers have the low bits of the i32, 0 where there is none (NumPy on x86-64)
    for source in ("float16", "bfloat16", "float32", "float64"):
        for target in ("int8", "int16", "uint8", "uint16"):
            values = [300.7, -300.7, 40000.5, -40000.5, 70000.5, -70000.5, 2147483000.0,
                      2.0**31, -2.0**31, 3e9, -3e9, 5e9, 1e19, -1e19, np.nan, np.inf, -np.inf]
            with np.errstate(over="ignore"):
                x = Tensor(np.array(values, np.float64), source)
            whole = np.trunc(cast(x, "float64").a)
            low = np.where(np.abs(whole) < 2.0**31, whole, 0).astype(np.int64)
            suite.case("astype/%s/%s/low-bits" % (source, target), "astype", [x],
                       Tensor(low.astype(target), target), dtype=target)
    for source in ("float32", "float64"):
        for target in HALVES:
            steps = np.float32(2.0) ** np.arange(-30, 17).reshape(-1, 1)
            ties = steps * (1 + np.arange(0, 16) / 4096.0 + np.array([[0]]))
            x = Tensor(np.concatenate([ties.ravel(), -ties.ravel()]), "float32")
            x = cast(x, source)
            suite.case("astype/%s/%s/ties" % (source, target), "astype", [x], cast(x, target),
                       dtype=target)
    every = Tensor(np.arange(65536, dtype=np.uint16).view(np.float16), "float16")
    suite.case("astype/float16/float32/every", "astype", [every], cast(every, "float32"),
               dtype="float32")
    every = Tensor((np.arange(65536, dtype=np.uint32) << 16).view(np.float32), "bfloat16")
    suite.case("astype/bfloat16/float32/every", "astype", [every], cast(every, "float32"),
               dtype="float32")


def ternary(suite):
    rng = suite.rng
    shapes = [((), (), ()), ((3,), (3,), (3,)), ((4, 1), (1, 5), ()), ((2, 3, 4), (4,), (3, 1)),
              ((0,), (1,), (1,)), ((1,), (6, 7), (7,)), ((2, 1, 2, 1, 2, 1, 2, 1), (2,), (2, 1))]
    for a_dtype, b_dtype in [(d, d) for d in DTYPES] + [
            ("float16", "float32"), ("int32", "float16"), ("uint8", "int8"), (BOOL, "int64"),
            ("bfloat16", "float16"), ("uint64", "int64"), ("float64", COMPLEX)]:
        dtype = promote(a_dtype, b_dtype)
        for c, a, b in shapes:
            condition = random_values(rng, BOOL, c)
            left, right = random_values(rng, a_dtype, a), random_values(rng, b_dtype, b)
            expected = Tensor(np.where(condition.a, cast(left, dtype).a, cast(right, dtype).a),
                              dtype)
            suite.case("where/%s,%s/%s,%s,%s" % (a_dtype, b_dtype, *map(shape_name, (c, a, b))),
                       "where", [condition, left, right], expected)
    x = specials("float32")
    suite.case("where/float32/specials", "where", [Tensor(x.a > 0, BOOL), x, Weak(2.0)],
               Tensor(np.where(x.a > 0, x.a, 2), "float32"))
    condition = Tensor([0, 1, 2, -3], "int32")
    suite.case("where/int32-condition", "where", [condition, Weak(1.0), Tensor([5, 6, 7, 8],
               "float16")], Tensor([5, 1, 1, 1], "float16"))
    for dtype in INTEGERS + FLOATS:
        x = specials(dtype)
        low, high = Tensor(1, dtype), Tensor([100], dtype)
        bounds = {"both": (low, high), "low": (low, None), "high": (None, high)}
        for name, (a, b) in bounds.items():
            values = working(x)
            if a is not None:
                values = np.maximum(values, working(a))
            if b is not None:
                values = np.minimum(values, working(b))
            suite.case("clip/%s/%s" % (dtype, name), "clip", [x, a, b], Tensor(values, dtype),
                       "value")
    for dtype in FLOATS:
        x = random_values(rng, dtype, (5, 4))
        a, b = random_values(rng, dtype, (4,)), random_values(rng, dtype, (5, 1))
        values = np.minimum(np.maximum(working(x), working(a)), working(b))
        suite.case("clip/%s/broadcast" % dtype, "clip", [x, a, b], Tensor(values, dtype), "value")
        suite.case("clip/%s/weak" % dtype, "clip", [x, Weak(-1.0), Weak(1.0)],
                   Tensor(np.clip(working(x), -1, 1), dtype), "value")


def write(suite):
    unary(suite)
    binary(suite)
    logaddexp(suite)
    arctan2(suite)
    composed(suite)
    promotion(suite)
    astype(suite)
    ternary(suite)
