"""quantize, dequantize and quantized_matmul, written from the formats' definitions.

Codes are values looked up in the list of a format's values (the nearest, the even code of two
that are as near), not bits computed as the kernels do. Affine follows MLX's affine_quantize in
float32, operation by operation, since its codes depend on each rounding.
"""

import numpy as np

from .reductions import EPSILON
from .reference import Tensor

FLOATS = ["float16", "bfloat16", "float32"]
AFFINE = [("affine", bits, group) for bits in (2, 3, 4, 5, 6, 8) for group in (32, 64, 128)]
FORMATS = AFFINE + [("mxfp4", 4, 32), ("mxfp8", 8, 32), ("nvfp4", 4, 16)]
F = np.float32


def e2m1_values():
    magnitudes = [0, 0.5, 1, 1.5, 2, 3, 4, 6]
    return np.array(magnitudes + [-x for x in magnitudes])


def e4m3_values():
    """S EEEE MMM, bias 7; S 1111 111 is NaN."""
    values = []
    for code in range(256):
        exponent, mantissa = code >> 3 & 15, code & 7
        value = mantissa * 2.0 ** -9 if exponent == 0 else (8 + mantissa) * 2.0 ** (exponent - 10)
        values.append(np.nan if code & 127 == 127 else -value if code & 128 else value)
    return np.array(values)


def e8m0_values():
    return np.array([2.0 ** (code - 127) for code in range(255)] + [np.nan])


E2M1, E4M3, E8M0 = e2m1_values(), e4m3_values(), e8m0_values()


def nearest(x, values):
    """The code of the nearest positive value, ties to the even code, then the sign."""
    half = len(values) // 2
    positive = values[:half]
    positive = positive[np.isfinite(positive)]
    magnitude = np.minimum(np.abs(x.astype(np.float64)), positive[-1])
    upper = np.clip(np.searchsorted(positive, magnitude), 0, len(positive) - 1)
    lower = np.maximum(upper - 1, 0)
    down, up = magnitude - positive[lower], positive[upper] - magnitude
    even = np.where(lower % 2 == 0, lower, upper)
    code = np.where(down < up, lower, np.where(up < down, upper, even))
    return (code + half * np.signbit(x)).astype(np.uint64)


def grouped(a, group):
    return a.reshape(a.shape[:-1] + (a.shape[-1] // group, group))


def affine(x, bits):
    """Codes, scales, biases of (…, groups, group) in float32."""
    levels = F((1 << bits) - 1)
    low, high = x.min(-1, keepdims=True), x.max(-1, keepdims=True)
    at_low = np.abs(low) > np.abs(high)
    step = np.maximum((high - low) / levels, F(1e-7))
    scale = np.where(at_low, step, -step)
    edge = np.where(at_low, low, high)
    steps = np.rint(edge / scale)
    scale = np.where(steps != 0, edge / np.where(steps != 0, steps, F(1)), scale).astype(F)
    bias = np.where(steps != 0, edge, F(0)).astype(F)
    broken = ~np.isfinite(x).all(-1, keepdims=True)
    codes = np.clip(np.rint((x - bias) / scale), 0, levels)
    codes = np.where(broken, 0, codes).astype(np.uint64)
    return codes, np.where(broken, F(np.nan), scale), np.where(broken, F(np.nan), bias)


def floating(mode, x, global_scale):
    """Codes and the codes of scales."""
    values = E4M3 if mode == "mxfp8" else E2M1
    largest = np.abs(x).max(-1, keepdims=True) / F(448 if mode == "mxfp8" else 6)
    broken = ~np.isfinite(x).all(-1, keepdims=True)
    encode = F(1) if global_scale is None else F(448 * 6) / F(global_scale)
    if mode == "nvfp4":
        scales = nearest(np.where(broken, F(0), largest * encode), E4M3)
        scales = np.where(broken, 127, scales)
        divisor = E4M3[scales].astype(F)
        safe = np.where((divisor == 0) | broken, F(1), divisor)
        scaled = np.where(divisor == 0, F(0), (x / safe) * encode)
    else:
        mantissa, exponent = np.frexp(np.where(largest == 0, 1, largest))
        exponent = exponent - (mantissa == 0.5)
        scales = np.where(broken, 255, np.clip(np.where(broken, 0, exponent), -127, 127) + 127)
        scales = scales.astype(np.int64)
        scaled = (x / np.where(broken, F(1), E8M0[np.where(broken, 0, scales)].astype(F))).astype(F)
    codes = np.where(broken, 0, nearest(np.where(broken, F(0), scaled), values))
    return codes.astype(np.uint64), scales.astype(np.uint8)


def pack(codes, bits):
    """A stream of bits, the lowest first, in words of 32."""
    k = codes.shape[-1]
    stream = (codes[..., None] >> np.arange(bits, dtype=np.uint64)) & np.uint64(1)
    stream = stream.reshape(codes.shape[:-1] + (k * bits // 32, 32))
    return (stream << np.arange(32, dtype=np.uint64)).sum(-1).astype(np.uint32)


def unpack(words, bits):
    stream = (words[..., None].astype(np.uint64) >> np.arange(32, dtype=np.uint64)) & np.uint64(1)
    stream = stream.reshape(words.shape[:-1] + (words.shape[-1] * 32 // bits, bits))
    return (stream << np.arange(bits, dtype=np.uint64)).sum(-1)


def quantize(x, mode, bits, group, global_scale=None):
    """The tensors of x: words, scales, and for affine biases."""
    a = grouped(x.a.astype(F), group)
    if mode == "affine":
        codes, scales, biases = affine(a, bits)
        parts = [Tensor(scales[..., 0], x.dtype), Tensor(biases[..., 0], x.dtype)]
    else:
        codes, scales = floating(mode, a, global_scale)
        parts = [Tensor(scales[..., 0], "uint8")]
    return [Tensor(pack(codes.reshape(x.shape), bits), "uint32")] + parts


def dequantize(parts, mode, bits, group, global_scale=None):
    """In float64, and the largest part of each sum."""
    codes = grouped(unpack(parts[0].a, bits), group)
    scales = parts[1].a[..., None]
    if mode == "affine":
        biases = parts[2].a[..., None].astype(np.float64)
        values = codes * scales.astype(np.float64) + biases
        magnitude = np.abs(codes * scales.astype(np.float64)) + np.abs(biases)
    else:
        values = (E4M3 if mode == "mxfp8" else E2M1)[codes.astype(np.int64)]
        scale = E4M3[scales] if mode == "nvfp4" else E8M0[scales]
        if global_scale is not None:
            scale = scale * float(F(global_scale)) / (448 * 6)
        values = values * scale
        magnitude = np.abs(values)
    shape = codes.shape[:-2] + (codes.shape[-2] * group,)
    return values.reshape(shape), magnitude.reshape(shape)


def numbers(rng, dtype, shape):
    scale = 2.0 ** rng.integers(-6, 3, shape[:-1] + (1,))
    return Tensor(rng.standard_normal(shape) * scale, dtype)


def edges(rng, dtype, group):
    """Groups that are zero, constant, positive, negative, tiny, of one element, on ties."""
    rows = [np.zeros(group), np.full(group, 3.25), rng.uniform(1, 2, group),
            -rng.uniform(1, 2, group), rng.uniform(-1e-6, 1e-6, group), np.eye(1, group, 5)[0] * 7,
            np.arange(group) * 0.25, np.arange(group) * -0.125, np.where(np.arange(group) % 2, 6, -6),
            np.full(group, -0.0), np.linspace(-448, 448, group), np.geomspace(1e-5, 4e4, group),
            np.resize([0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5, 6, -0.25, -5], group)]
    return Tensor(np.stack(rows), dtype)


def broken(rng, dtype, group):
    a = rng.standard_normal((5, group * 2))
    a[0, 3], a[1, group], a[2, 0], a[3, 1], a[3, 2] = np.nan, np.inf, -np.inf, np.nan, np.inf
    return Tensor(a, dtype)


def scalar(value):
    return None if value is None else Tensor(value, "float32")


def all_parts(suite, name, x, how, global_scale=None):
    mode, bits, group = how
    parts = quantize(x, mode, bits, group, global_scale)
    for i, part in enumerate(parts):
        suite.case("%s/%s" % (name, ("words", "scales", "biases")[i]), "quantize",
                   [x] if global_scale is None else [x, scalar(global_scale)], part,
                   mode=mode, bits=bits, group=group, part=i)
    return parts


def dequantize_case(suite, name, parts, how, dtype, global_scale=None):
    mode, bits, group = how
    values, magnitude = dequantize(parts, mode, bits, group, global_scale)
    finite = np.where(np.isfinite(magnitude), magnitude, 0)
    inputs = parts + ([] if global_scale is None else [None, scalar(global_scale)])
    suite.case(name, "dequantize", inputs, Tensor(values, dtype),
               "ulp:1:%g" % (2 * EPSILON["float32"] * finite.max(initial=0)),
               mode=mode, bits=bits, group=group, dtype=dtype)


def matmul_case(suite, name, x, parts, how, transpose, global_scale=None, dtype=None):
    mode, bits, group = how
    w, _ = dequantize(parts, mode, bits, group, global_scale)
    w = np.swapaxes(w, -1, -2) if transpose else w
    a = x.a.astype(np.float64)
    magnitude = np.abs(a) @ np.abs(w)
    finite = np.where(np.isfinite(magnitude), magnitude, 0).max(initial=0)
    k = x.shape[-1]
    dtype = dtype or x.dtype
    inputs = [x] + parts + ([] if global_scale is None else [None, scalar(global_scale)])
    suite.case(name, "quantized_matmul", inputs, Tensor(a @ w, dtype),
               "ulp:1:%g" % ((4 + k / 4) * EPSILON["float32"] * finite),
               mode=mode, bits=bits, group=group, transpose=int(transpose))


# x, and w before quantisation and transposition; in numbers of groups where a group must divide
MATMULS = [((1, "k"), (5,)), (("k",), (4,)), ((2, "k"), (3,)), ((3, "k"), (7,)), ((8, "k"), (2,)),
           ((11, "k"), (6,)), ((40, "k"), (9,)), ((2, 3, "k"), (4,)), ((2, 1, 3, "k"), (5, 4)),
           ((5, 3, "k"), (5, 4)), ((2, "k"), (5, 4)), ((0, "k"), (3,)), ((2, "k"), (0,)),
           (("k",), (2, 3))]


def matmuls(suite, rng, how, dtype, shapes):
    mode, bits, group = how
    tag = "%s/%d/%d/%s" % (mode, bits, group, dtype)
    for n, (x_shape, w_shape) in enumerate(shapes):
        k = group * (1 + n % 3)
        x_shape = tuple(k if d == "k" else d for d in x_shape)
        x = numbers(rng, dtype, x_shape)
        w = numbers(rng, dtype, w_shape + (k,))
        matmul_case(suite, "quantized_matmul/%s/t%d" % (tag, n), x, quantize(w, *how), how, True)
        rows = w_shape[:-1] + (x_shape[-1], group * (1 + n % 2))
        w = numbers(rng, dtype, rows)
        matmul_case(suite, "quantized_matmul/%s/n%d" % (tag, n), x, quantize(w, *how), how, False)


def gathers(suite, rng, how, dtype):
    mode, bits, group = how
    x, w = numbers(rng, dtype, (4, 3, group)), numbers(rng, dtype, (2, 3, group, group))
    left, right = Tensor([[3], [0]], "int32"), Tensor([5, 0, 5, -1], "int64")
    for transpose in (0, 1):
        parts = quantize(w, *how)
        dense, _ = dequantize(parts, *how)
        dense = dense.reshape((6, group, group))[right.a]
        dense = np.swapaxes(dense, -1, -2) if transpose else dense
        a = x.a.astype(np.float64)[left.a]
        magnitude = np.abs(a) @ np.abs(dense)
        suite.case("gather_qmm/%s/%d/%d/%s/%d" % (mode, bits, group, dtype, transpose), "gather_qmm", [x, left, right] + parts,
                   Tensor(a @ dense, dtype), "ulp:1:%g" % ((4 + group / 4) * EPSILON["float32"] * magnitude.max(initial=0)),
                   mode=mode, bits=bits, group=group, transpose=transpose)


def write(suite):
    rng = suite.rng
    for how in FORMATS:
        mode, bits, group = how
        for dtype in FLOATS:
            tag = "%s/%d/%d/%s" % (mode, bits, group, dtype)
            for shape in ((3, 2 * group), (2, 3, group), (5, 0, group), (4 * group,)):
                name = "/".join((tag, "x".join(map(str, shape))))
                parts = all_parts(suite, "quantize/" + name, numbers(rng, dtype, shape), how)
                for to in FLOATS:
                    dequantize_case(suite, "dequantize/%s/%s" % (name, to), parts, how, to)
            for make in (edges, broken):
                x, kind = make(rng, dtype, group), make.__name__
                parts = all_parts(suite, "quantize/%s/%s" % (tag, kind), x, how)
                dequantize_case(suite, "dequantize/%s/%s" % (tag, kind), parts, how, dtype)
            few = how in AFFINE and (group != 64 or dtype == "float16")
            matmuls(suite, rng, how, dtype, MATMULS[:: 3 if few else 1])
            gathers(suite, rng, how, dtype)
    for bits in (4, 8):
        every_code(suite, bits)
    for global_scale in (0.75, 3.0, 1000.0):
        how = ("nvfp4", 4, 16)
        for dtype in FLOATS:
            tag = "nvfp4/global/%g/%s" % (global_scale, dtype)
            x = numbers(rng, dtype, (6, 64))
            parts = all_parts(suite, "quantize/" + tag, x, how, global_scale)
            dequantize_case(suite, "dequantize/" + tag, parts, how, dtype, global_scale)
            matmul_case(suite, "quantized_matmul/" + tag, numbers(rng, dtype, (3, 64)), parts, how,
                        True, global_scale)
    long_rows(suite, rng)


def every_code(suite, bits):
    """Each code and each scale of the floating formats, NaN and what overflows too."""
    for mode, group in (("mxfp4", 32), ("nvfp4", 16)) if bits == 4 else (("mxfp8", 32),):
        codes = np.resize(np.arange(1 << bits, dtype=np.uint64), (256, 256))
        words = Tensor(pack(codes, bits), "uint32")
        scales = np.repeat(np.arange(256, dtype=np.uint8)[:, None], 256 // group, 1)
        how = (mode, bits, group)
        dequantize_case(suite, "dequantize/%s/every-code" % mode,
                        [words, Tensor(scales, "uint8")], how, "float32")


def long_rows(suite, rng):
    """More groups than are converted at once, and halves under f32 scales."""
    for how in (("affine", 4, 32), ("affine", 3, 64), ("nvfp4", 4, 16), ("mxfp8", 8, 32)):
        mode, bits, group = how
        for dtype in ("bfloat16", "float32"):
            x = numbers(rng, dtype, (2, group * 300))
            parts = quantize(numbers(rng, dtype, (3, group * 300)), *how)
            name = "quantized_matmul/long/%s/%d/%s" % (mode, bits, dtype)
            matmul_case(suite, name, x, parts, how, True)
            x = numbers(rng, dtype, (50, 48))
            parts = quantize(numbers(rng, dtype, (48, 1280)), *how)
            matmul_case(suite, name + "/n", x, parts, how, False)
            matmul_case(suite, name + "/n1", Tensor(x.a[0], dtype), parts, how, False)
    how = ("affine", 4, 64)
    parts = quantize(numbers(rng, "float32", (5, 128)), *how)
    matmul_case(suite, "quantized_matmul/bfloat16,float32", numbers(rng, "bfloat16", (3, 128)), parts,
                how, True, dtype="float32")
    halves = quantize(numbers(rng, "float16", (5, 128)), *how)
    matmul_case(suite, "quantized_matmul/float32,float16", numbers(rng, "float32", (3, 128)), halves,
                how, True)
