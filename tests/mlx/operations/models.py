"""What models are made of."""

import math

import mlx.core as mx

from draw import FLOATS
from lazybones import Conv, Conv3d
from operations.case import Case, op, eps, largest, product_floor, SINGLE


@op("linear")
def linear(d, name):
    dtype = d.of(SINGLE)
    k, n = d.int(1, 9), d.int(1, 9)
    x, w, b = d.tensor(d.shape(0, 2) + (k,), dtype, "tame"), d.tensor((n, k), dtype, "tame"), d.tensor((n,), dtype, "tame")
    return Case([x, w, b], lambda x, w, b: mx.addmm(b, x, w.T), d.lb.linear, ulp=4, floor=4 * product_floor(x, w, dtype, k), grads=True)


@op("layer_norm", "rms_norm")
def norms(d, name):
    dtype = d.dtype(SINGLE, FLOATS)
    shape = d.shape(0, 3) + (d.int(1, 40),)
    x = d.pair(d.values(shape, dtype, "tame"), shape, dtype)  # rows of one number would be their rounding
    n = d.int(0, 2 if name == "layer_norm" else 1)
    more = [d.tensor(shape[-1:], dtype, "tame") for _ in range(n)]
    weights = lambda given: list(given) + [None] * ((2 if name == "layer_norm" else 1) - len(given))
    return Case([x] + more, lambda x, *w: getattr(mx.fast, name)(x, *weights(w), 1e-3),
                lambda x, *w: getattr(d.lb, name)(x, *weights(w), 1e-3), ulp=4, floor=256 * eps(dtype), grads=True)


@op("rope")
def rope(d, name):
    dtype, dims = d.of(SINGLE), 2 * d.int(1, 6)
    x = d.tensor((d.int(1, 2), d.int(1, 3), d.int(1, 6), dims + d.of([0, 0, 2])), dtype, "tame")
    traditional, base, scale, offset = d.chance(0.5), d.of([10000.0, 100.0]), d.of([1.0, 0.5]), d.int(0, 9)
    d.say(dims=dims, traditional=traditional, base=base, scale=scale, offset=offset)
    return Case([x], lambda m: mx.fast.rope(m, dims, traditional=traditional, base=base, scale=scale, offset=offset),
                lambda l: d.lb.rope(l, dims, traditional, base, scale, offset), ulp=4, floor=32 * eps(dtype) * largest(x.a), grads=True)


@op("attention")
def attention(d, name):
    dtype = d.of(SINGLE)
    batch, heads, groups, queries, keys, features = d.int(1, 2), d.int(1, 2), d.int(1, 2), d.int(1, 5), d.int(1, 9), d.int(1, 8)
    q = d.tensor((batch, heads * groups, queries, features), dtype, "tame")
    k, v = (d.tensor((batch, heads, keys, features), dtype, "tame") for _ in range(2))
    kind = d.int(0, 3)
    if kind == 1 and queries > keys:
        return None
    more = []
    if kind == 2:
        seen = d.rng.random((queries, keys)) < 0.6
        seen[:, 0] = True
        more = [d.tensor(seen.shape, "bool", a=seen)]
    elif kind == 3:
        more = [d.tensor((d.of([1, batch]), d.of([1, heads * groups]), queries, keys), dtype, "tame")]
    d.say(kind=kind)
    return Case([q, k, v] + more,
                lambda q, k, v, *m: mx.fast.scaled_dot_product_attention(q, k, v, scale=0.3, mask="causal" if kind == 1 else m[0] if m else None),
                lambda q, k, v, *m: d.lb.attention(q, k, v, 0.3, kind == 1, m[0] if m else None), ulp=4,
                floor=16 * eps(dtype) * largest(v.a), grads=kind < 2)


@op("cross_entropy")
def cross_entropy(d, name):
    dtype, shape, n = d.of(SINGLE), d.shape(0, 3), d.int(1, 9)
    x = d.tensor(shape + (n,), dtype, "tame")
    t = d.tensor(shape, "int32", a=d.rng.integers(0, n, shape).astype("int32"))
    return Case([x, t], mx.fast.cross_entropy, d.lb.cross_entropy, ulp=4, floor=4 * eps(dtype) * max(1, largest(x.a)))


@op("conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d")
def conv(d, name):
    rank, back = int(name[-2]), "transpose" in name
    dtype = d.of(SINGLE if rank < 3 else ["float32"])
    groups = d.of([1, 1, 2])
    ins, outs = groups * d.int(1, 3), groups * d.int(1, 3)
    taps = [d.int(1, 3) for _ in range(rank)]
    stride, padding = [d.int(1, 3) for _ in taps], [d.int(0, 2) for _ in taps]
    dilation = [d.int(1, 2) for _ in taps]
    sizes = [d.int(1 if back else t * g, 9 if rank < 3 else 6) if (1 if back else t * g) <= (9 if rank < 3 else 6) else t * g
             for t, g in zip(taps, dilation)]
    extra = [d.int(0, s - 1) for s in stride] if back else []
    if back and groups > 1:
        groups, ins, outs = 1, ins, outs
    x = d.tensor((d.int(1, 2), *sizes, ins), dtype, "tame")
    w = d.tensor((outs, *taps, ins // groups), dtype, "tame")
    d.say(stride=stride, padding=padding, dilation=dilation, groups=groups, extra=extra)
    options = (Conv3d if rank == 3 else Conv)()
    for k in range(rank):
        options.stride[k], options.padding[k], options.dilation[k] = stride[k], padding[k], dilation[k]
    options.groups = groups
    one = (lambda v: v[0]) if rank == 1 else tuple
    more = [one(extra)] if back else []

    def ours(x, w):
        if back:
            return getattr(d.lb, name)(x, w, options, extra[0] if rank == 1 else extra)
        return getattr(d.lb, name)(x, w, options)
    n = math.prod(taps) * ins
    return Case([x, w], lambda x, w: getattr(mx, name)(x, w, one(stride), one(padding), one(dilation), *more, groups=groups), ours,
                ulp=4, floor=product_floor(x, w, dtype, n), grads=dtype == "float32")


@op("convolve")
def convolve(d, name):
    dtype, mode = d.of(["float32", "float16"]), d.int(0, 2)
    a, b = d.tensor((d.int(1, 9),), dtype, "tame"), d.tensor((d.int(1, 9),), dtype, "tame")
    d.say(mode=mode)
    return Case([a, b], lambda a, b: mx.convolve(a, b, ["full", "same", "valid"][mode]), lambda a, b: d.lb.convolve(a, b, mode), ulp=4,
                floor=product_floor(a, b, dtype, 9))


@op("embedding")
def embedding(d, name):
    dtype, n = d.of(FLOATS), d.int(1, 9)
    w = d.tensor((n, d.int(1, 5)), dtype)
    shape = d.shape(0, 3)
    i = d.tensor(shape, "int32", a=d.rng.integers(0, n, shape).astype("int32"))
    return Case([w, i], lambda w, i: w[i], d.lb.embedding)
