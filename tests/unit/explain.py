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
