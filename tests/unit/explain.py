"""Pairs of arrays and why they differ, for test_explain: explain.py DIRECTORY.

Each case is NAME.a.npy and NAME.b.npy, and a line of `cases`: NAME, the kind of the explanation that
must come first ("none": there must be none), and its text.
"""
import os
import sys

import numpy as np

directory = sys.argv[1]
os.makedirs(directory, exist_ok=True)
lines = []
random = np.random.default_rng(7)


def case(name, kind, text, a, b):
    np.save(f"{directory}/{name}.a.npy", np.ascontiguousarray(a) if a.ndim else a)
    np.save(f"{directory}/{name}.b.npy", np.ascontiguousarray(b) if b.ndim else b)
    lines.append(f"{name}\t{kind}\t{text}\n")


def normal(*shape):
    return random.standard_normal(shape).astype(np.float32)


def to_bfloat16(x):
    bits = x.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000).view(np.float32)


second = "of the second"
x = normal(2, 8, 6, 16)
case("heads", "transpose", f"equal after transpose(0, 2, 1, 3) {second}", x.transpose(0, 2, 1, 3), x)
x = normal(8, 8)
case("square", "transpose", f"equal after transpose(1, 0) {second}", x.T, x)
case("back", "transpose", f"equal after transpose(1, 0) {second}", x.T + 1e-7 * normal(8, 8), x)
x = normal(4, 5, 6)
case("cycle", "transpose", f"equal after transpose(2, 0, 1) {second}", x.transpose(2, 0, 1), x)
x = normal(1, 7, 5)
case("batch", "reshape", "equal but for axes of size 1", x[0], x)
case("batch_turned", "transpose", "equal after transpose of the second to its axes (2, 1)", x[0].T, x)
x = normal(6, 10)
case("reshaped", "reshape", f"equal after reshape(4, 15) {second}", x.reshape(4, 15), x)
case("tiled", "transpose",
     "equal to the second transposed to its axes (1, 0) and reshaped: a strided view read raw",
     x.T.reshape(6, 10), x)
x = normal(2, 3, 4, 2, 3, 2, 2)
case("seven", "transpose", f"equal after transpose(6, 5, 4, 3, 2, 1, 0) {second}", x.T, x)
x = normal(2, 2, 2, 2, 2, 2, 2, 2)
case("eight", "transpose", f"equal after transpose(0, 5, 2, 3, 4, 1, 6, 7) {second}", x.swapaxes(1, 5), x)
x = normal(3, 2, 5) + 1j * normal(3, 2, 5)
x = x.astype(np.complex64)
case("complex", "transpose", f"equal after transpose(2, 1, 0) {second}", x.T, x)
case("parts_of_complex", "flip", "equal when real and imaginary parts change places",
     (x.imag + 1j * x.real).astype(np.complex64), x)
case("complex_shift", "shift", "equal after roll by +3 in row-major order",
     np.roll(x.ravel(), 3).reshape(x.shape), x)

x = normal(5, 24)
case("scale_and_shift", "parts", "equal after a swap of the halves along axis 1 (12 and 12)",
     np.roll(x, 12, 1), x)
k, q, v = np.split(x, 3, 1)
case("key_query_value", "parts", "equal with the second's thirds along axis 1 in the order (1, 0, 2)",
     np.concatenate([q, k, v], 1), x)
i, f, g, o = np.split(x, 4, 1)
case("gates", "parts", "equal with the second's quarters along axis 1 in the order (0, 1, 3, 2)",
     np.concatenate([i, f, o, g], 1), x)
case("rotary", "regroup",
     "equal with axis 1 of the second taken as (2, 12) and transposed: halves, interleaved",
     x.reshape(5, 2, 12).transpose(0, 2, 1).reshape(5, 24), x)
case("rotary_back", "regroup",
     "equal with axis 1 of the second taken as (12, 2) and transposed: pairs, taken apart",
     x.reshape(5, 12, 2).transpose(0, 2, 1).reshape(5, 24), x)
case("head_split", "regroup", "equal with axis 1 of the second taken as (4, 6) and transposed",
     x.reshape(5, 4, 6).transpose(0, 2, 1).reshape(5, 24), x)
x = random.integers(0, 256, (12, 10, 3), dtype=np.uint8)
case("bgr", "flip", "equal after a reversal of the channels along axis 2 (RGB and BGR)", x[..., ::-1], x)
x = random.integers(0, 256, (12, 10, 4), dtype=np.uint8)
case("bgra", "flip", "equal after a reversal of the first three channels along axis 2 (RGB and BGR)",
     x[..., [2, 1, 0, 3]], x)
case("upside_down", "flip", "equal after a flip of axis 0", x[::-1], x)
case("rotated", "flip", "equal after a flip of axes 0 and 1", x[::-1, ::-1], x)

x = normal(40, 17)
case("rolled", "shift", "equal after roll by +3 along axis 0", np.roll(x, 3, 0), x)
case("rolled_back", "shift", "equal after roll by -5 along axis 1", np.roll(x, -5, 1), x)
y = x.copy()
y[1:] = x[:-1]
y[0] = normal(17)
case("row_too_far", "shift", "equal after a shift by +1 along axis 0, but for the 1 at its end", y, x)
y[:-1] = x[1:]
y[-1] = 0
case("row_too_early", "shift", "equal after a shift by -1 along axis 0, but for the 1 at its end", y, x)
y = np.concatenate([normal(2), x.ravel()[:-2]]).reshape(x.shape)
case("pointer", "shift", "equal after a shift by +2 in row-major order, but for the 2 at its end", y, x)
x = normal(300000)
case("long_roll", "shift", "equal after roll by +123456 along axis 0", np.roll(x, 123456), x)
x = normal(9, 33)
case("first_row", "repeat", "every index of axis 0 holds the second's index 0", np.repeat(x[:1], 9, 0), x)

x = normal(3, 64, 10)
case("head_dim", "factor", "the second x 0.125 = 1/sqrt(64)", x * np.float32(0.125), x)
case("eighth", "factor", "the second x 8", x * np.float32(8), x)
case("sign", "factor", "the second x -1", -x, x)
case("third", "factor", "the second x 0.3", x * np.float32(0.3), x)
case("noisy_factor", "factor", "the second x 0.5 = 1/2", x * np.float32(0.5) * (1 + 3e-6 * normal(3, 64, 10)), x)
case("half_factor", "factor", "the second x 0.125 = 1/sqrt(64)", (x * 0.125).astype(np.float16),
     x.astype(np.float16))
y = random.integers(0, 256, (20, 20), dtype=np.uint8)
case("pixels", "factor", "the second x 0.00392157 = 1/255", y.astype(np.float32) / 255, y)
case("centred", "linear", "the second x 0.00784314 = 1/127.5 - 1", y.astype(np.float32) / 127.5 - 1, y)
case("offset", "offset", "the second + 1", x + 1, x)
case("offset_down", "offset", "the second - 0.25", x - np.float32(0.25), x)
case("integers_offset", "offset", "the second + 1", y.astype(np.int32) + 1, y)
case("affine", "linear", "the second x 3 + 2", x * 3 + 2, x)
case("absolute", "absolute", "the first is the second without signs", np.abs(x), x)
case("zeros", "constant", "the first is 0 everywhere: was it ever written?", np.zeros_like(x), x)
case("nans", "constant", "the first is nan everywhere", np.full_like(x, np.nan), x)
case("unset", "constant", "the second is 0 everywhere: was it ever written?", x, np.zeros_like(x))

case("half", "rounded", "the first is the second rounded to float16",
     x.astype(np.float16).astype(np.float32), x)
case("half_typed", "rounded", "the first is the second rounded to float16", x.astype(np.float16), x)
case("brain", "rounded", "the first is the second rounded to bfloat16", to_bfloat16(x), x)
case("brain_cut", "rounded", "the first is the second cut off to bfloat16",
     (x.view(np.uint32) & 0xFFFF0000).view(np.float32), x)
case("brain_second", "rounded", "the second is the first rounded to bfloat16", x, to_bfloat16(x))
y = random.standard_normal((50, 9))
case("single", "rounded", "the first is the second rounded to float32", y.astype(np.float32), y)
case("integers", "rounded", "the first is the second cut off to integers", np.trunc(y * 50), y * 50)
case("nearest", "rounded", "the first is the second rounded to integers", np.rint(y * 50).astype(np.int32),
     y * 50)
case("errors_of_half", "precision", "errors within 2 ulp of float16",
     x * (1 + 4e-4 * random.uniform(-1, 1, x.shape).astype(np.float32)), x)
case("errors_of_brain", "precision", "errors within 2 ulp of bfloat16",
     x * (1 + 5e-3 * random.uniform(-1, 1, x.shape).astype(np.float32)), x)
case("last_bits", "precision", "errors within 2 ulp of float32", np.nextafter(x, np.float32(9)), x)
case("big_endian", "bytes", "equal after swapping the bytes of each element", x.byteswap(), x)
y = random.integers(0, 1 << 30, (12, 12), dtype=np.int32)
case("big_endian_integers", "bytes", "equal after swapping the bytes of each element", y.byteswap(), y)
h = x.astype(np.float16)
case("half_as_brain", "bytes", "the second's float16 read as bfloat16",
     (h.view(np.uint16).astype(np.uint32) << 16).view(np.float32), h)
case("floats_as_integers", "bytes", "the second's float32 read as int32", x.view(np.int32), x)

# heads split by a reshape alone, in the one and in the other
x = normal(2, 8, 4, 16)
right, wrong = x.transpose(0, 2, 1, 3), x.reshape(2, 4, 8, 16)
case("split_heads", "transpose",
     "equal to the second transposed to its axes (0, 2, 1, 3) and reshaped: heads split by a reshape alone",
     wrong, right)
case("split_heads_turned", "transpose",
     "the second is the first transposed to its axes (0, 2, 1, 3) and reshaped: the second's heads were split by",
     right, wrong)
x = normal(6, 5)
case("repeated_turned", "repeat", "every index of the second's axis 1 holds the first's index 0", x,
     np.repeat(x[:, :1], 5, 1))
x = normal(9, 31)
y = normal(9, 31)
case("difference_turned", "factor", "the second x -1: a difference whose operands change places?", x - y, y - x)
case("quotient_turned", "reciprocal", "1 / the second", x / y, y / x)

# rows that were normalised
def layer_norm(x, eps=1e-5):
    return ((x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps)).astype(np.float32)


def rms_norm(x, eps=1e-6):
    return (x / np.sqrt((x * x).mean(-1, keepdims=True) + eps)).astype(np.float32)


x = 3 * normal(4, 20, 48) + 2 + normal(4, 20, 1)
w, b = 1 + normal(48) / 4, normal(48) / 4
case("layer_norm", "norm", "the first is the second after LayerNorm: it is missing in the second", layer_norm(x), x)
case("layer_norm_turned", "norm", "the second is the first after LayerNorm: it is missing in the first", x,
     layer_norm(x))
case("layer_norm_weights", "norm", "the first is the second after LayerNorm with weights: it is missing in the second",
     layer_norm(x) * w + b, x)
case("layer_norm_weights_turned", "norm", "the second is the first after LayerNorm with weights", x,
     layer_norm(x) * w + b)
case("layer_norm_half", "norm", "the first is the second after LayerNorm", layer_norm(x).astype(np.float16), x)
case("rms_norm", "norm", "the first is the second after RMSNorm with weights", rms_norm(x) * w, x)
case("rms_norm_plain", "norm", "the first is the second after RMSNorm: it is missing", rms_norm(x), x)
case("softmax", "norm", "the second is the first after softmax: it is missing in the first", x,
     (np.exp(x - x.max(-1, keepdims=True)) / np.exp(x - x.max(-1, keepdims=True)).sum(-1, keepdims=True)))
case("l2", "norm", "the first is the second after normalisation by L2 norms",
     x / np.sqrt((x * x).sum(-1, keepdims=True)), x)

# channels
case("weights", "channels", "by each index of axis 2: weights of one alone", x * w, x)
case("bias", "channels", "the second with another offset for each index of axis 2: a bias of one alone", x + b, x)
case("weights_and_bias", "channels", "another factor and offset for each index of axis 2", x * w + b, x)
y = normal(2, 5, 8, 8)
case("weights_of_images", "channels", "by each index of axis 1: weights of one alone",
     y * np.linspace(0.5, 2, 5, dtype=np.float32)[None, :, None, None], y)
scale, shift = normal(4, 1, 48) / 4, normal(4, 1, 48) / 4
u = layer_norm(x)
case("modulation", "channels", "scale and shift of a modulation change places, by each index of axis 0 and 2",
     u * (1 + shift) + scale, u * (1 + scale) + shift)
case("modulation_alike", "channels", "scale and shift of a modulation change places, by each index of axis 2",
     u * (1 + shift[:1]) + scale[:1], u * (1 + scale[:1]) + shift[:1])
case("modulation_plain", "channels", "scale and shift of a modulation change places",
     u * (1 + shift[0]) + (2 + scale[0]), u * (2 + scale[0]) + (1 + shift[0]))
case("modulation_of_others", "channels", "weights and biases, or scale and shift, of one alone",
     u * (1 + shift) + scale, u * (1 + normal(4, 1, 48) / 4) + shift)

# rotary positions
def rope(x, base=10000.0, offset=0, interleaved=False, width=None, divide=1.0, axis=-2):
    width = width or x.shape[-1]
    half = width // 2
    at = (np.arange(x.shape[axis]) + offset) / divide
    angle = at[:, None] * base ** (-2 * np.arange(half) / width)
    if axis == -3:
        angle = angle[:, None, :]
    c, s = np.cos(angle), np.sin(angle)
    y = x.astype(np.float64).copy()
    p, q = ((slice(0, width, 2), slice(1, width, 2)) if interleaved else (slice(0, half), slice(half, width)))
    y[..., p] = x[..., p] * c - x[..., q] * s
    y[..., q] = x[..., q] * c + x[..., p] * s
    return y.astype(np.float32)


x = normal(2, 4, 40, 32)
base4 = "(base 10000, pairs of halves, positions along axis 2)"
case("rope", "rotary", f"the first is the second after RoPE: it is missing in the second {base4}", rope(x), x)
case("rope_turned", "rotary", f"the second is the first after RoPE: it is missing in the first {base4}", x, rope(x))
case("rope_pairs", "rotary", "RoPE by other pairs: of neighbours in the first, of halves in the second",
     rope(x, interleaved=True), rope(x))
case("rope_pairs_turned", "rotary", "RoPE by other pairs: of halves in the first, of neighbours in the second",
     rope(x), rope(x, interleaved=True))
case("rope_base", "rotary", "RoPE by another base: 500000 in the first, 10000 in the second", rope(x, 5e5), rope(x))
case("rope_offset", "rotary", f"RoPE by other positions: those of the first are 7 further on {base4}",
     rope(x, offset=7), rope(x))
case("rope_offset_far", "rotary", "RoPE by other positions: those of the first are 1024 behind (base 1e+06",
     rope(x, 1e6), rope(x, 1e6, offset=1024))
case("rope_offset_one", "rotary", "those of the first are 3 further on (base 10000, pairs of neighbours",
     rope(x[:, :, :1], offset=13, interleaved=True), rope(x[:, :, :1], offset=10, interleaved=True))
case("rope_half", "rotary", "those of the first are 5 further on",
     rope(x, offset=5).astype(np.float16), rope(x).astype(np.float16))
case("rope_part", "rotary", "missing in the second (base 10000, pairs of halves, of the first 16 elements, positions",
     rope(x, width=16), x)
case("rope_scaled", "rotary", "RoPE by positions that the second divides by 4", rope(x), rope(x, divide=4))
case("rope_before", "rotary", "RoPE by another base: 10000 in the first, 1e+06 in the second (base 10000, pairs of "
     "halves, positions along axis 1)", rope(x.transpose(0, 2, 1, 3), axis=-3),
     rope(x.transpose(0, 2, 1, 3), 1e6, axis=-3))

# what has no explanation
for dtype in ("float64", "float32", "float16", "int64", "int32", "uint8", "int8", "bool"):
    for shape in ((1,), (2,), (3,), (2, 2), (4, 4), (8, 8), (3, 5, 7), (12, 12, 3), (64, 64), (2, 8, 16, 8)):
        u = random.standard_normal(shape) * 50
        w = random.standard_normal(shape) * 50
        if dtype == "bool":
            u, w = u > 0, w > 0
        label = "_".join(map(str, shape))
        case(f"random_{dtype}_{label}", "none", "", u.astype(dtype), w.astype(dtype))
case("uniform", "none", "", random.uniform(1, 1.01, (30, 30)).astype(np.float32),
     random.uniform(1, 1.01, (30, 30)).astype(np.float32))
case("positive", "none", "", random.uniform(0, 1, (30, 30)).astype(np.float32),
     random.uniform(0, 1, (30, 30)).astype(np.float32))
sparse = np.zeros((40, 40), np.float32)
sparse[random.integers(0, 40, 12), random.integers(0, 40, 12)] = random.standard_normal(12)
other = np.zeros((40, 40), np.float32)
other[random.integers(0, 40, 12), random.integers(0, 40, 12)] = random.standard_normal(12)
case("sparse", "none", "", sparse, other)
y = x.copy()
y.ravel()[random.integers(0, y.size, 200)] = normal(200)
case("some_wrong", "none", "", y, x)
case("shapes", "none", "", normal(6, 4), normal(4, 6))
case("mask", "none", "", random.random((16, 16)) < 0.1, random.random((16, 16)) < 0.1)
ramp = np.arange(64, dtype=np.float32).reshape(8, 8)
case("permuted", "none", "", ramp.ravel()[random.permutation(64)].reshape(8, 8), ramp)

with open(f"{directory}/cases", "w") as to:
    to.writelines(lines)
