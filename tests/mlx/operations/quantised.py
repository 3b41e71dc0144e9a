"""Quantisation."""

import mlx.core as mx
import numpy as np

from draw import mlx_dtype
from lazybones import Quant, Quantized, Tensor
from operations.case import Case, op, eps, number, largest, sum_floor, SINGLE


MODES = {"affine": (0, [32, 64, 128], [2, 3, 4, 5, 6, 8]), "mxfp4": (1, [32], [4]), "mxfp8": (2, [32], [8]), "nvfp4": (3, [16], [4])}


def format_of(d):
    mode = d.of(["affine"] * 3 + ["mxfp4", "mxfp8", "nvfp4"])
    which, groups, bits = MODES[mode]
    group, bits = d.of(groups), d.of(bits)
    d.say(mode=mode, group=group, bits=bits)
    return dict(group_size=group, bits=bits, mode=mode), Quant(which, bits, group, 0)


def quantised(d, l, how):
    return d.lb.call("quantize", Quantized, l, how, None)


def parts(q):
    return [Tensor(p) for p in (q.w, q.scales, q.biases) if p]


@op("quantize")
def quantize(d, name):
    python, how = format_of(d)
    x = d.tensor(d.shape(0, 2) + (d.int(1, 3), python["group_size"] * d.int(1, 2)), d.of(SINGLE), "tame")
    if python["mode"] == "affine":
        return Case([x], lambda m: mx.quantize(m, **python), lambda l: parts(quantised(d, l, how)), ulp=1)

    # which of two codes that are as near, and the sign of 0, is another thing on MLX's processors: how far off they are is not
    def mlx(m):
        w, scales = mx.quantize(m, **python)
        return [scales, mx.abs(mx.dequantize(w, scales, **python, dtype=mx.float32) - m.astype(mx.float32))]

    def ours(l):
        q, f32 = quantised(d, l, how), number("float32")
        return [parts(q)[1], d.lb.abs(d.lb.subtract(d.lb.dequantize(q, how, f32), d.lb.astype(l, f32)))]
    return Case([x], mlx, ours, ulp=4, floor=1e-6 * max(1, largest(x.a)))


@op("dequantize")
def dequantize(d, name):
    python, how = format_of(d)
    dtype = d.of(SINGLE)
    w = codes(d, d.shape(0, 1) + (d.int(1, 3), python["group_size"] * d.int(1, 2)), python, dtype)
    if w is None:
        return None
    return Case(w, lambda *m: mx.dequantize(*m, **python, dtype=mlx_dtype(dtype)),
                lambda *l: d.lb.dequantize(whole(l), how, number(dtype)), ulp=1, floor=eps(dtype) * 4)


def codes(d, shape, python, dtype):
    """What MLX makes of a tensor: words, scales, and biases, if there are any; None where it refuses."""
    x = d.tensor(shape, dtype, "tame")
    made = []
    try:
        parts_of = mx.quantize(x.m, **python)
        mx.eval(parts_of)
    except ValueError:
        return None
    for m in parts_of:
        name = str(m.dtype).split(".")[-1]
        raw = np.ascontiguousarray(np.array(m.view(mx.uint16) if name == "bfloat16" else m)).tobytes()
        made.append(d.pair(raw, tuple(m.shape), name))
    return made


def whole(tensors):
    return Quantized(*(x.pointer for x in tensors), *[None] * (4 - len(tensors)))


def sizes(w, python):
    """How large the weights are, or, of codes with biases, the terms that they are summed of."""
    words, *scales = [mx.array(np.ascontiguousarray(a)) for a in w]
    if python["mode"] == "affine":
        scales = [mx.abs(a.astype(mx.float32)) for a in scales]
    return np.abs(np.array(mx.dequantize(words, *scales, **python, dtype=mx.float32)), dtype=np.float64)


def sums_floor(x, w):
    """What sums of the products x w (…, k, n) may be apart: both have k products and sums, and two roundings of each weight, in
    float; ours may have taken x to 22 bits beside the largest of a row, too."""
    x = np.abs(x.astype(np.float64))
    cut = 2.0**-22 * x.max(axis=-1, keepdims=True, initial=0) * w.sum(axis=-2, keepdims=w.ndim > 2)
    return sum_floor(1, w.shape[-2] + 3, "float32") * (x @ w) + cut


def in_floats(multiply, python):
    """MLX's sums are as precise as x, which in halves is another thing than here, where they are floats."""
    def mlx(x, *w, **more):
        wide = [a.astype(mx.float32) for a in w[1:]] if python["mode"] == "affine" else w[1:]
        y = multiply(x.astype(mx.float32), w[0], *wide, **more, **python)
        return y.astype(multiply(x, *w, **more, **python).dtype)
    return mlx


@op("quantized_matmul")
def quantized_matmul(d, name):
    python, how = format_of(d)
    dtype, transpose = d.of(SINGLE), d.chance(0.6)
    n, k = python["group_size"] * d.int(1, 2), python["group_size"] * d.int(1, 2)
    w = codes(d, (n, k), python, dtype)
    if w is None:
        return None
    x = d.tensor(d.shape(0, 1) + (d.int(1, 4), k if transpose else n), dtype, "tame")
    d.say(transpose=transpose)
    multiply = in_floats(mx.quantized_matmul, python)
    return Case([x] + w, lambda x, *w: multiply(x, *w, transpose=transpose),
                lambda x, *w: d.lb.quantized_matmul(x, whole(w), how, transpose), ulp=1,
                floor=lambda x, *w: sums_floor(x, sizes(w, python).T if transpose else sizes(w, python)))


@op("gather_qmm")
def gather_qmm(d, name):
    python, how = format_of(d)
    dtype = d.of(SINGLE)
    n, k, e = d.int(1, 4), python["group_size"], d.int(1, 3)
    w = codes(d, (e, n, k), python, dtype)
    if w is None:
        return None
    b = d.int(1, 3)
    x = d.tensor((b, d.int(1, 3), k), dtype, "tame")
    shape = (d.int(1, 4),)
    i = d.tensor(shape, "uint32", a=d.rng.integers(0, b, shape).astype("uint32"))
    j = d.tensor(shape, "uint32", a=d.rng.integers(0, e, shape).astype("uint32"))
    multiply = in_floats(mx.gather_qmm, python)
    return Case([x, i, j] + w, lambda x, i, j, *w: multiply(x, *w, lhs_indices=i, rhs_indices=j),
                lambda x, i, j, *w: d.lb.gather_qmm(x, whole(w), i, j, how, True), ulp=1,
                floor=lambda x, i, j, *w: sums_floor(x[i], np.swapaxes(sizes(w, python)[j], -1, -2)))
