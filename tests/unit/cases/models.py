"""What models are made of, computed in float64."""

import numpy as np

from .elementwise import erf, shape_name
from .reductions import EPSILON, moderate
from .reference import (DTYPES, FLOATS, HALVES, REAL, Tensor, cast, kind, precise, promote,
                        random_values, specials, Weak)


def normal(rng, dtype, shape, scale=1.0, shift=0.0):
    return Tensor(rng.standard_normal(shape) * scale + shift, dtype)


def wide(x):
    return x.a.astype(np.float64)


def near(dtype, magnitude=1.0, factor=16):
    """One rounding to dtype, and some in the dtype that it is computed in."""
    return "ulp:%d:%g" % (1 if dtype in HALVES else 4, factor * EPSILON[dtype] * magnitude)


def norms(suite):
    rng = suite.rng
    shapes = [(8,), (1,), (3, 5), (2, 3, 64), (4, 129), (0, 4), (3, 0), (2, 1, 1000), (1, 5000),
              (2,) * 8]
    for dtype in FLOATS:
        for shape in shapes:
            for given in (0, 1, 2, 3):
                if shape not in shapes[2:5] and given in (1, 2):
                    continue
                x = normal(rng, dtype, shape, 2.0, 0.5)
                w = normal(rng, dtype, shape[-1:]) if given & 1 else None
                b = normal(rng, dtype, shape[-1:]) if given & 2 else None
                for op in ("layer_norm", "rms_norm"):
                    if op == "rms_norm" and b is not None and w is None:
                        continue
                    norm_case(suite, "%s/%s/%s/%d" % (op, dtype, shape_name(shape), given), op, x, w,
                              b, 1e-5)
        norm_case(suite, "layer_norm/%s/shifted" % dtype, "layer_norm",
                  normal(rng, dtype, (4, 300), 1.0, 100.0), None, None, 1e-6)
        x = normal(rng, dtype, (3, 6))
        x.a[0, 1], x.a[1, 2] = np.nan, np.inf
        for op in ("layer_norm", "rms_norm"):
            norm_case(suite, "%s/%s/nan-inf" % (op, dtype), op, x, None, None, 1e-5)
            norm_case(suite, "%s/%s/zeros" % (op, dtype), op, Tensor(np.zeros((2, 9)), dtype), None,
                      None, 1e-5)
    x, w = normal(rng, "float16", (3, 8)), normal(rng, "float32", (8,))
    norm_case(suite, "rms_norm/promoted", "rms_norm", x, w, None, 1e-5)
    norm_case(suite, "layer_norm/promoted", "layer_norm", x, w, normal(rng, "bfloat16", (8,)), 1e-5)


def norm_case(suite, name, op, x, w, b, eps):
    dtype = x.dtype
    for v in (w, b):
        dtype = promote(dtype, v.dtype) if v is not None else dtype
    y = wide(x)
    with np.errstate(all="ignore"):
        if op == "layer_norm":
            y = y - y.mean(-1, keepdims=True) if y.size else y
        y = y / np.sqrt((y * y).mean(-1, keepdims=True) + eps) if y.size else y
    top = float(np.max(np.abs(y), initial=1.0, where=np.isfinite(y)))
    if w is not None:
        y = y * wide(w)
        top *= float(np.max(np.abs(wide(w)), initial=1.0))
    inputs = [x, w]
    if op == "layer_norm":
        inputs.append(b)
        y = y + wide(b) if b is not None else y
    suite.case(name, op, inputs, Tensor(y, dtype), near(dtype, top + 4), eps=eps)


def rope(x, dims, traditional, base, scale, offset):
    half = dims // 2
    angle = ((np.arange(x.shape[-2]) + offset) * scale)[:, None] * base ** (-np.arange(half) / half)
    c, s = np.cos(angle), np.sin(angle)
    y = x.copy()
    if traditional:
        a, b = x[..., 0:dims:2], x[..., 1:dims:2]
        y[..., 0:dims:2], y[..., 1:dims:2] = a * c - b * s, a * s + b * c
    else:
        a, b = x[..., :half], x[..., half:dims]
        y[..., :half], y[..., half:dims] = a * c - b * s, a * s + b * c
    return y


def ropes(suite):
    rng = suite.rng
    for dtype in FLOATS:
        for shape, dims in (((3, 4), 4), ((1, 2), 2), ((2, 3, 5, 8), 8), ((2, 3, 5, 8), 6),
                            ((1, 7, 66), 64), ((2, 1, 9, 33), 32), ((0, 3, 4), 4), ((2, 0, 4), 4),
                            ((1, 1, 2, 1, 1, 2, 3, 10), 4)):
            x = normal(rng, dtype, shape)
            for traditional in (0, 1):
                for base, scale, offset in ((10000.0, 1.0, 0), (500000.0, 0.25, 1000),
                                            (100.0, 2.0, -3)):
                    suite.case("rope/%s/%s/%d,%d,%g" % (dtype, shape_name(shape), dims, traditional,
                                                        base), "rope", [x],
                               Tensor(rope(wide(x), dims, traditional, base, scale, offset), dtype),
                               near(dtype, 1100 if dtype == "float64" else 4), dims=dims, traditional=traditional, base=base,
                               scale=scale, offset=offset)


ACTIVATIONS = {
    "silu": lambda x: x / (1 + np.exp(-x)),
    "gelu": lambda x: x * (1 + erf(x / np.sqrt(2))) / 2 if x.size else x,
    "gelu_tanh": lambda x: x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x ** 3))) / 2,
}


def activations(suite):
    rng = suite.rng
    for op, f in ACTIVATIONS.items():
        for dtype in FLOATS:
            for shape in ((), (0,), (1,), (257,), (3, 0, 2), (4, 1, 33), (2000,)):
                x = normal(rng, dtype, shape, 3.0)
                suite.case("%s/%s/%s" % (op, dtype, shape_name(shape)), op, [x],
                           Tensor(f(wide(x)), dtype), near(dtype, 2))
            x = Tensor([0.0, -0.0, np.nan, np.inf, -20.0, 20.0, 1e-6], dtype)
            suite.case("%s/%s/specials" % (op, dtype), op, [x], Tensor(f(wide(x)), dtype),
                       near(dtype, 2))
        for dtype in ("bool", "uint8", "int32"):
            x = Tensor([0, 1], dtype) if dtype == "bool" else Tensor([0, 1, 2, 7], dtype)
            suite.case("%s/%s" % (op, dtype), op, [x], Tensor(f(wide(x)), "float32"),
                       near("float32", 4))


def linears(suite):
    rng = suite.rng
    for dtype in FLOATS:
        for shape, outputs in (((3,), 5), ((2, 3), 5), ((4, 2, 33), 7), ((1, 1), 1), ((0, 3), 2),
                               ((2, 0), 3), ((3, 4), 0), ((2, 1, 3, 64), 65)):
            x, w = normal(rng, dtype, shape), normal(rng, dtype, (outputs, shape[-1]))
            b = normal(rng, dtype, (outputs,))
            size = float(np.max(np.abs(wide(x)) @ np.abs(wide(w)).T, initial=0.0)) + 4
            for given in (None, b):
                y = wide(x) @ wide(w).T + (wide(b) if given else 0)
                suite.case("linear/%s/%s,%d%s" % (dtype, shape_name(shape), outputs,
                                                  "+bias" if given else ""), "linear",
                           [x, w, given], Tensor(y, dtype), near(dtype, size))
    x, w = normal(rng, "float16", (2, 3)), normal(rng, "bfloat16", (4, 3))
    suite.case("linear/promoted", "linear", [x, w, None], Tensor(wide(x) @ wide(w).T, "float32"),
               near("float32", 20))


def lookups(suite):
    rng = suite.rng
    for dtype in FLOATS + ["int8"]:
        w = Tensor(np.arange(11 * 6).reshape(11, 6), dtype)
        for index_dtype in ("int32", "uint8", "int64", "uint64"):
            for shape in ((), (5,), (2, 3), (0,), (1,) * 7):
                i = Tensor(rng.integers(0, 11, shape), index_dtype)
                suite.case("embedding/%s/%s/%s" % (dtype, index_dtype, shape_name(shape)),
                           "embedding", [w, i], w.map(lambda a: a[i.a]))
    for index_dtype in ("int8", "uint8", "int32", "uint32", "int64", "uint64"):
        for shape in ((), (4,), (2, 3), (0, 2)):
            for n in (0, 1, 5, 200):
                low = -2 if index_dtype[0] == "i" else 0
                i = Tensor(rng.integers(low, min(n, 120) + 3, shape), index_dtype)
                dtype = FLOATS[n % 4] if n else "bool"
                suite.case("one_hot/%s/%s/%d" % (index_dtype, shape_name(shape), n), "one_hot", [i],
                           Tensor(i.a.astype(np.int64)[..., None] == np.arange(n), dtype), n=n,
                           dtype=dtype)


def attend(q, k, v, scale, causal, mask):
    group = q.shape[1] // max(k.shape[1], 1)
    k, v = np.repeat(k, group, 1), np.repeat(v, group, 1)
    scores = scale * (q @ k.swapaxes(-1, -2))
    if mask is not None:
        scores = np.where(mask, scores, -np.inf) if mask.dtype == bool else scores + mask
    if causal:
        rows, columns = scores.shape[-2:]
        scores = np.where(np.tri(rows, columns, columns - rows, dtype=bool), scores, -np.inf)
    with np.errstate(all="ignore"):
        top = np.max(scores, -1, keepdims=True, initial=-np.inf)
        power = np.exp(scores - np.where(top == -np.inf, 0, top))
        total = power.sum(-1, keepdims=True)
        return np.where(total == 0, 0, power @ v / np.where(total == 0, 1, total))


ATTENTION = [  # q's shape, heads and positions of k, features of v
    ((1, 1, 1, 4), 1, 1, 4), ((2, 3, 5, 8), 3, 5, 8), ((1, 4, 7, 16), 2, 9, 16),
    ((2, 6, 3, 5), 2, 4, 7), ((1, 8, 1, 32), 2, 33, 32), ((1, 2, 5, 4), 1, 3, 4),
    ((1, 2, 70, 6), 1, 300, 5), ((1, 1, 2, 64), 1, 600, 64), ((2, 2, 65, 3), 2, 257, 3),
    ((1, 3, 1, 1), 1, 5, 1), ((0, 2, 3, 4), 2, 3, 4), ((1, 2, 0, 4), 2, 3, 4),
    ((1, 2, 3, 4), 2, 0, 4), ((1, 2, 3, 0), 2, 3, 2), ((1, 2, 3, 4), 2, 3, 0)]


def masks(rng, dtype, b, h, rows, columns):
    yield "none", None
    yield "bool", Tensor(rng.integers(0, 3, (rows, columns)) > 0, "bool")
    yield "bool-keys", Tensor(rng.integers(0, 2, (b, 1, 1, columns)), "bool")
    yield "added", normal(rng, dtype, (b, h, rows, columns), 2.0)
    m = normal(rng, "float32", (h, 1, columns), 2.0)
    m.a[rng.integers(0, 3, m.shape) == 0] = -np.inf
    yield "added-inf", m
    yield "closed", Tensor(np.zeros((1, 1)), "bool")


def attentions(suite):
    rng = suite.rng
    for dtype in FLOATS:
        for shape, heads, keys, features in ATTENTION:
            q = normal(rng, dtype, shape)
            k = normal(rng, dtype, (shape[0], heads, keys, shape[3]))
            v = normal(rng, dtype, (shape[0], heads, keys, features))
            for kind, mask in masks(rng, dtype, shape[0], shape[1], shape[2], keys):
                for causal in (0, 1):
                    if keys > 200 and kind not in ("none", "added-inf") and causal:
                        continue
                    attention_case(suite, "attention/%s/%s,%d,%d,%d/%s%s" % (
                        dtype, shape_name(shape), heads, keys, features, kind, "-causal" * causal),
                        q, k, v, 1 / np.sqrt(max(shape[3], 1)), causal, mask)
        q, k, v = (normal(rng, dtype, (1, 1, 3, 4)) for _ in range(3))
        k.a[0, 0, 1, 2] = np.nan
        attention_case(suite, "attention/%s/nan" % dtype, q, k, v, 0.5, 0, None)
        attention_case(suite, "attention/%s/nan-masked" % dtype, q, k, v, 0.5, 0,
                       Tensor([1, 0, 1], "bool"))
        x = normal(rng, dtype, (1, 1, 9, 8), 30.0)
        attention_case(suite, "attention/%s/large" % dtype, x, x, x, 1.0, 1, None)
    for dtype in HALVES: # a mask is added to the scores as it is
        x, value = Tensor(np.zeros((1, 1, 1, 4)), dtype), Tensor([[[[0, 1], [1, 0]]]], dtype)
        y = Tensor(np.zeros((1, 1, 2, 4)), dtype)
        for added in ([70000, 0], [2048, 2049], [-1e5, -1e5], [0.001, 0]):
            for to in ("float32", "float64"):
                attention_case(suite, "attention/%s/wider/%s/%g" % (dtype, to, added[0]), x, y, value, 1.0, 0,
                               Tensor(np.array([added]), to))
    attention_case(suite, "attention/promoted", normal(rng, "float16", (1, 2, 3, 4)),
                   normal(rng, "bfloat16", (1, 1, 5, 4)), normal(rng, "float16", (1, 1, 5, 4)), 0.5,
                   0, None)


def attention_case(suite, name, q, k, v, scale, causal, mask):
    dtype = promote(promote(q.dtype, k.dtype), v.dtype)
    given = mask
    if mask is not None:
        given = mask.a if mask.dtype == "bool" else wide(mask)
    y = attend(wide(q), wide(k), wide(v), scale, causal, given)
    score = scale * float(np.max(np.abs(wide(q)), initial=0)) * float(
        np.max(np.abs(wide(k)), initial=0, where=~np.isnan(k.a))) * q.shape[3]
    suite.case(name, "attention", [q, k, v, mask], Tensor(y, dtype),
               near(dtype, float(np.max(np.abs(wide(v)), initial=1.0)) * (2 + score / 4)),
               scale=scale, causal=causal)


def order_of(a, axis):
    """Stable, NaN last, -0 equal to 0, as NumPy has it."""
    return np.argsort(a, axis=axis, kind="stable")


def sorts(suite):
    rng = suite.rng
    for dtype in REAL:
        inputs = [("specials", specials(dtype), 0), ("ties", Tensor(rng.integers(0, 2, 500), dtype), 0),
                  ("long", random_values(rng, dtype, (3000,)), -1)]
        inputs += [("%s,%d" % (shape_name(shape), axis), random_values(rng, dtype, shape), axis)
                   for shape, axis in (((1,), 0), ((0,), 0), ((33,), 0), ((5, 7), 0), ((5, 7), 1),
                                       ((2, 65, 3), 1), ((2, 0, 3), 1), ((0, 4), 1),
                                       ((3, 2, 40), -1), ((2,) * 8, 4))]
        for name, x, axis in inputs:
            order = order_of(x.a, axis)
            suite.case("argsort/%s/%s" % (dtype, name), "argsort", [x], Tensor(order, "uint32"),
                       axis=axis)
            y = np.take_along_axis(x.a, order, axis)
            suite.case("sort/%s/%s" % (dtype, name), "sort", [x], x.map(lambda _: y), axis=axis)
            n = x.shape[axis]
            for k in sorted({0, 1, n // 10, n // 2, n}):
                if k > n:
                    continue
                top = np.flip(np.take(y, range(n - k, n), axis), axis)
                suite.case("topk/%s/%s/%d" % (dtype, name, k), "topk", [x],
                           x.map(lambda _: top), "value", axis=axis, k=k)


def numbers(rng, dtype, shape):
    x = normal(rng, dtype, shape)
    return x if dtype != "complex64" else Tensor(x.a + 1j * rng.standard_normal(shape), dtype)


def wider(x):
    return x.a.astype(np.complex128 if x.dtype == "complex64" else np.float64)


def by_block(mask, block, rows, columns):
    return np.repeat(np.repeat(mask, block, -2), block, -1)[..., :rows, :columns]


def blocks(suite):
    rng = np.random.default_rng(53)
    for dtype in FLOATS + ["complex64"]:
        for block, batches, (m, k, n) in ((2, ((), (), (), (), ()), (5, 7, 4)), (3, ((2, 1), (3,), (), (2, 3), (3,)), (4, 9, 7)),
                                          (64, ((), (2,), (), (), ()), (3, 5, 2)), (1, ((),) * 5, (3, 4, 5)),
                                          (32, ((),) * 5, (100, 130, 70)), (4, ((),) * 5, (3, 0, 6)), (4, ((),) * 5, (0, 3, 6))):
            a, b = (numbers(rng, dtype, batches[i] + s) for i, s in enumerate(((m, k), (k, n))))
            sizes = ((m, n), (m, k), (k, n))
            for kept in range(8):
                for kind in ("bool", "float32" if dtype == "complex64" else dtype):
                    masks = [None] * 3
                    wholes = [np.ones(s) for s in sizes]
                    for i in range(3):
                        if not kept >> i & 1:
                            continue
                        shape = batches[2 + i] + tuple(-(-s // block) for s in sizes[i])
                        masks[i] = Tensor(rng.integers(0, 3, shape) > 0 if kind == "bool" else rng.integers(-1, 2, shape) * 0.5, kind)
                        wholes[i] = by_block(masks[i].a.astype(float), block, *sizes[i])
                    y = wholes[0] * ((wholes[1] * wider(a)) @ (wholes[2] * wider(b)))
                    name = "block_masked_mm/%s/%d/%dx%dx%d/%d/%s" % (dtype, block, m, k, n, kept, kind)
                    suite.case(name, "block_masked_mm", [a, b] + masks, Tensor(y, dtype), near(dtype, 20 + k), block=block)
    # what a mask drops is not looked at
    a = Tensor([[np.nan, 1, 2], [np.inf, 3, 4]], "float32")
    mask = Tensor([[False, True, True]] * 2, "bool")
    b = Tensor([[np.nan], [1], [2]], "float32")
    suite.case("block_masked_mm/nan", "block_masked_mm", [a, b, None, mask, None], Tensor([[5], [11]], "float32"), block=1)
    # one for all rows, or columns, of blocks
    a, b = normal(rng, "float32", (3, 4)), normal(rng, "float32", (4, 4))
    masks = [Tensor([[True, False]], "bool"), Tensor([[True], [False]], "bool"), None]
    y = ((wide(a) * [[1], [1], [0]]) @ wide(b)) * [1, 1, 0, 0]
    suite.case("block_masked_mm/row", "block_masked_mm", [a, b] + masks, Tensor(y, "float32"), near("float32", 20), block=2)


def segments(suite):
    rng = np.random.default_rng(54)
    for dtype in FLOATS + ["complex64"]:
        for m, k, n in ((3, 10, 4), (1, 40, 33), (0, 6, 2), (2, 0, 3)):
            a, b = numbers(rng, dtype, (m, k)), numbers(rng, dtype, (k, n))
            for shape in ((4,), (2, 3), (), (0,)):
                ranges = rng.integers(0, k + 1, shape + (2,))
                y = np.zeros(shape + (m, n), wider(a).dtype)
                for at in np.ndindex(*shape):
                    begin, end = ranges[at]
                    if begin < end:
                        y[at] = wider(a)[:, begin:end] @ wider(b)[begin:end]
                for kind in ("int64", "uint32", "uint8"):
                    suite.case("segmented_mm/%s/%dx%dx%d/%s/%s" % (dtype, m, k, n, shape_name(shape), kind), "segmented_mm",
                               [a, b, Tensor(ranges, kind)], Tensor(y, dtype), near(dtype, 20 + k))


def searches(suite):
    rng = np.random.default_rng(31)
    for dtype in REAL:
        pool = np.concatenate([specials(dtype).a.ravel(), random_values(rng, dtype, (30,)).a])
        for n in (0, 1, 2, 17, 5000):
            line = Tensor(np.sort(rng.choice(pool, n)) if n else np.zeros(0), dtype)
            for shape in ((), (3, 4), (2, 0), (2, 1, 700)):
                values = Tensor(rng.choice(pool, shape), dtype)
                for right in (0, 1):
                    y = np.searchsorted(line.a, values.a, "right" if right else "left")
                    name = "searchsorted/%s/%d/%s/%d" % (dtype, n, shape_name(shape), right)
                    suite.case(name, "searchsorted", [line, values], Tensor(y, "uint32"), right=right)
    line, values = Tensor([1, 2, 2, 4], "int32"), Tensor([np.nan, 2.5, 2, -np.inf, np.inf], "float16")
    suite.case("searchsorted/promoted", "searchsorted", [line, values], Tensor([4, 3, 1, 0, 4], "uint32"), right=0)
    suite.case("searchsorted/weak", "searchsorted", [line, Weak(2.5)], Tensor(3, "uint32"), right=0)


# The 128 codes of e4m3 without sign, from the definition of the format: 2^(e - 7) * (1 + m / 8), of e = 0 2^-6 * m / 8.
E4M3 = np.array([2.0 ** (e - 7) * (1 + m / 8) if e else 2.0 ** -6 * m / 8 for e in range(16) for m in range(8)])
E4M3[127] = np.nan


def nearest_code(x):
    """By comparing with all of them; of two as near that with the even code."""
    if np.isnan(x):
        return 0x7F if not np.signbit(x) else 0xFF
    off = np.abs(E4M3[:127] - min(abs(x), 448.0))
    near = np.flatnonzero(off == off.min())
    return int(min(near, key=lambda code: code % 2)) | (0x80 if np.signbit(x) else 0)


def eight_bits(suite):
    codes = np.arange(256)
    signed = np.where(codes & 128, -1.0, 1.0) * E4M3[codes & 127]
    for dtype in FLOATS:
        values = Tensor(codes, "uint8")
        suite.case("from_fp8/%s" % dtype, "from_fp8", [values], Tensor(signed, dtype), dtype=dtype)
        suite.case("from_fp8/%s/shape" % dtype, "from_fp8", [values.map(lambda v: v.reshape(2, 1, 128))],
                   Tensor(signed.reshape(2, 1, 128), dtype), dtype=dtype)
        halves = (E4M3[:126] + E4M3[1:127]) / 2  # exact in all of them
        beside = np.concatenate([Tensor(np.nextafter(halves, d), dtype).a for d in (0, np.inf)])
        steps = {"float16": 2.0 ** -11, "bfloat16": 2.0 ** -8, "float32": 2.0 ** -24, "float64": 2.0 ** -53}[dtype]
        off = np.concatenate([halves * (1 + 2 * steps), halves * (1 - 2 * steps)])
        x = np.concatenate([E4M3[:127], halves, beside, off, [448, 456, 464, 465, 480, 500, 65504, np.inf, np.nan, 2.0 ** -11]])
        x = Tensor(np.concatenate([x, -x]), dtype)
        y = np.array([nearest_code(float(v)) for v in x.a])
        nan = np.isnan(x.a)
        y = np.where(nan, 0x7F, y)
        keep = ~nan | ~np.signbit(x.a)
        suite.case("to_fp8/%s" % dtype, "to_fp8", [x.map(lambda v: v[keep])], Tensor(y[keep], "uint8"))
        suite.case("to_fp8/%s/shape" % dtype, "to_fp8", [x.map(lambda v: v[:24].reshape(2, 3, 4))],
                   Tensor(y[:24].reshape(2, 3, 4), "uint8"))
        suite.case("to_fp8/%s/one" % dtype, "to_fp8", [Tensor(-3.2, dtype)], Tensor(0xC5, "uint8"))
        suite.case("to_fp8/%s/none" % dtype, "to_fp8", [Tensor(np.zeros((0, 2)), dtype)], Tensor(np.zeros((0, 2)), "uint8"))
    # as ml_dtypes' float8_e4m3fn and to_fp8() of MLX 0.32.4 have them
    x = Tensor([0.3, -1.7, 17.0, 19.0, 0.0068, 2.0 ** -10, 3 * 2.0 ** -10, 250.0, 431.9, -0.0], "float32")
    suite.case("to_fp8/known", "to_fp8", [x], Tensor([0x2A, 0xBE, 0x58, 0x5A, 3, 0, 2, 0x78, 0x7D, 0x80], "uint8"))


def cumsums(suite):
    rng = suite.rng
    for dtype in DTYPES:
        for shape, axis in (((1,), 0), ((0,), 0), ((300,), 0), ((5, 7), 0), ((5, 7), 1), ((4, 9, 70), 1),
                            ((2, 0, 3), 1), ((0, 4), 1), ((3, 2, 130), -1), ((2,) * 8, 4)):
            x = moderate(rng, dtype, shape)
            result = "int32" if dtype == "bool" else dtype
            values = x.a.astype(result) if kind(dtype) in "bui" else precise(x)
            size = float(np.max(np.cumsum(np.abs(values), axis), initial=1.0))
            tol = "exact" if kind(dtype) in "bui" else near(dtype, size, 2)
            if dtype == "complex64":
                tol = "close:1e-6:%g" % (4e-7 * size)
            for reverse in (0, 1):
                for inclusive in (0, 1):
                    a = np.flip(values, axis) if reverse else values
                    y = np.cumsum(a, axis, dtype=a.dtype)
                    y = y if inclusive else y - a
                    y = np.flip(y, axis) if reverse else y
                    suite.case("cumsum/%s/%s,%d/%d%d" % (dtype, shape_name(shape), axis, reverse,
                                                         inclusive), "cumsum", [x],
                               Tensor(y, result), tol, axis=axis, reverse=reverse,
                               inclusive=inclusive)


def philox(key, counter, domain):
    """Philox4x32-10 of each counter: four words."""
    mask = np.uint64(0xFFFFFFFF)
    k0, k1 = key & 0xFFFFFFFF, key >> 32
    counter = counter.astype(np.uint64)
    c0, c1 = counter & mask, counter >> np.uint64(32)
    c2, c3 = np.full_like(c0, domain), np.zeros_like(c0)
    for _ in range(10):
        p0, p1 = c0 * np.uint64(0xD2511F53), c2 * np.uint64(0xCD9E8D57)
        c0, c1, c2, c3 = ((p1 >> np.uint64(32)) ^ c1 ^ np.uint64(k0), p1 & mask,
                          (p0 >> np.uint64(32)) ^ c3 ^ np.uint64(k1), p0 & mask)
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return np.stack([c0, c1, c2, c3], -1)


def gumbel(key, shape):
    n = int(np.prod(shape, dtype=np.int64))
    words = philox(key, np.arange((n + 3) // 4), 2).reshape(-1)[:n]
    return -np.log(-np.log((words.astype(np.float64) + 0.5) * 2.0 ** -32)).reshape(shape)


def categoricals(suite):
    rng = suite.rng
    for dtype in FLOATS + ["int32"]:
        for shape, axis in (((1,), 0), ((7,), -1), ((50, 4), 1), ((50, 4), 0), ((2, 3, 1001), -1),
                            ((3, 0, 5), 2), ((0, 5), -1), ((2,) * 8, 3)):
            x = normal(rng, dtype, shape, 3.0)
            key = int(rng.integers(0, 2 ** 63))
            y = wide(x) + gumbel(key, shape)
            suite.case("categorical/%s/%s,%d" % (dtype, shape_name(shape), axis), "categorical", [x],
                       Tensor(np.argmax(y, axis), "uint32"), axis=axis, key=key)
    x = Tensor([[-np.inf, 0, -np.inf], [-np.inf] * 3, [0, np.nan, 1]], "float32")
    suite.case("categorical/infinite", "categorical", [x], Tensor([1, 0, 1], "uint32"), axis=1, key=5)


def convolve(x, w, stride, padding, dilation, groups):
    x = np.pad(x, [(0, 0)] + [(p, p) for p in padding] + [(0, 0)])
    taps = w.shape[1:3]
    rows, columns = ((x.shape[1 + i] - dilation[i] * (taps[i] - 1) - 1) // stride[i] + 1
                     for i in range(2))
    y = np.zeros((x.shape[0], rows, columns, w.shape[0]))
    inputs, outputs = w.shape[3], w.shape[0] // groups
    for r in range(taps[0]):
        for c in range(taps[1]):
            top, left = r * dilation[0], c * dilation[1]
            part = x[:, top:top + stride[0] * (rows - 1) + 1:stride[0],
                     left:left + stride[1] * (columns - 1) + 1:stride[1]]
            for g in range(groups):
                y[..., g * outputs:(g + 1) * outputs] += (
                    part[..., g * inputs:(g + 1) * inputs]
                    @ w[g * outputs:(g + 1) * outputs, r, c].T)
    return y


CONVOLUTIONS = [  # x, outputs, taps, stride, padding, dilation, groups
    ((1, 5, 5, 1), 1, (3, 3), (1, 1), (0, 0), (1, 1), 1),
    ((2, 6, 7, 3), 4, (3, 2), (1, 1), (1, 1), (1, 1), 1),
    ((1, 9, 8, 4), 6, (3, 3), (2, 1), (1, 2), (1, 2), 2),
    ((2, 4, 5, 8), 16, (1, 1), (1, 1), (0, 0), (1, 1), 1),
    ((1, 4, 5, 8), 3, (1, 1), (2, 2), (0, 0), (1, 1), 1),
    ((1, 7, 7, 6), 6, (3, 3), (1, 1), (1, 1), (1, 1), 6),
    ((2, 8, 3, 4), 8, (2, 3), (3, 2), (2, 1), (2, 1), 4),
    ((1, 3, 3, 2), 2, (5, 5), (1, 1), (2, 2), (1, 1), 1),
    ((1, 2, 2, 2), 3, (2, 2), (1, 1), (4, 4), (3, 3), 1),
    ((0, 4, 4, 2), 3, (2, 2), (1, 1), (0, 0), (1, 1), 1),
    ((2, 4, 4, 2), 0, (2, 2), (1, 1), (0, 0), (1, 1), 1),
    ((2, 4, 4, 0), 3, (2, 2), (1, 1), (0, 0), (1, 1), 1),
    ((1, 40, 50, 17), 33, (3, 3), (1, 1), (1, 1), (1, 1), 1)]


def convolutions(suite):
    rng = suite.rng
    for dtype in FLOATS:
        for shape, outputs, taps, stride, padding, dilation, groups in CONVOLUTIONS:
            x = normal(rng, dtype, shape)
            w = normal(rng, dtype, (outputs,) + taps + (shape[3] // groups,))
            y = convolve(wide(x), wide(w), stride, padding, dilation, groups)
            size = float(np.max(convolve(np.abs(wide(x)), np.abs(wide(w)), stride, padding, dilation,
                                         groups), initial=1.0))
            name = "%s/%s,%d,%dx%d/%d%d%d%d%d%d,%d" % ((dtype, shape_name(shape), outputs) + taps +
                                                       stride + padding + dilation + (groups,))
            suite.case("conv2d/" + name, "conv2d", [x, w], Tensor(y, dtype), near(dtype, size, 4),
                       stride=stride, padding=padding, dilation=dilation, groups=groups)
            x1, w1 = x.map(lambda a: a[:, :, 0]), w.map(lambda a: a[:, :, 0])
            y = convolve(wide(x1)[:, :, None], wide(w1)[:, :, None], stride[:1] + (1,),
                         padding[:1] + (0,), dilation[:1] + (1,), groups)[:, :, 0]
            suite.case("conv1d/" + name, "conv1d", [x1, w1], Tensor(y, dtype), near(dtype, size, 4),
                       stride=stride[:1], padding=padding[:1], dilation=dilation[:1], groups=groups)


def pads(suite):
    for dtype in DTYPES:
        for shape, low, high in (((3,), (1,), (2,)), ((2, 3), (0, 1), (2, 0)), ((2, 0), (1, 1), (0, 2)),
                                 ((), (), ()), ((2, 3, 4), (0, 0, 0), (0, 0, 0)),
                                 ((1, 2) * 4, (1, 0) * 4, (0, 1) * 4), ((40, 50), (3, 4), (5, 6))):
            x = random_values(suite.rng, dtype, shape)
            for value in (0, 1):
                y = np.pad(x.a, list(zip(low, high)), constant_values=value) if shape else x.a
                suite.case("pad/%s/%s/%d" % (dtype, "%s,%s,%s" % tuple(map(shape_name, (
                    shape, low, high))), value), "pad", [x], x.map(lambda _: y),
                    low=low or ["none"], high=high or ["none"], value=value)


EINSUMS = ["ij,jk->ik", "ij,kj->ik", "ij,jk->ki", "bij,bjk->bik", "bij,bkj->bik", "bhqd,bhkd->bhqk",
           "bhqk,bkhd->bqhd", "i,i->", "i,j->ij", "ij->ji", "ij->", "ij->j", "ii->i", "ii->", "iij->j",
           "ij,ij->ij", "ij,ij->i", "ij,j->i", "i,ij,j->", "ij,jk,kl->il", "ijk,jil->kl",
           "ab,cd->abcd", "abc,cde->abde", "ijk->kij", "ij,k->ij", "ij,jk,ik->i", "->", "i,->i",
           "aij,ajk,akl,alm->aim", "Ab,bC->AC", "iij,jkk->ik", "abcdefgh->hgfedcba"]


# Ellipses, results that are implied, axes of 1 that are broadcast.
EINSUMS_OF = [("...ij,...jk->...ik", (2, 1, 3, 4), (5, 4, 2)), ("...ij,...jk", (2, 3, 4), (4, 2)),
              ("ij,jk", (2, 3), (3, 4)), ("ba", (2, 3)), ("Ba,aC", (2, 3), (3, 4)), ("ii", (3, 3)),
              ("ij,ij", (2, 3), (2, 3)), ("i...->...", (3, 2, 4)), ("...i,...i->...", (2, 3, 4), (4,)),
              ("...ii->...i", (2, 3, 3)), ("...", (2, 3)), ("...->...", ()), ("i...j->j...i", (2, 3, 4, 5)),
              ("...,...", (2, 3), (3,)), ("...i->...i", (4,)), ("i->...i", (4,)),
              ("ij,ij->ij", (1, 3), (2, 3)), ("ij,jk->ik", (2, 1), (3, 4)), ("ij,jk->ik", (2, 3), (1, 4)),
              ("bij,bjk->bik", (1, 2, 3), (4, 3, 2)), ("bij,bjk->bik", (4, 2, 3), (1, 3, 2)),
              ("i,i->", (1,), (5,)), ("ij,j->i", (2, 1), (0,)), ("...ij,j...->i...", (2, 3, 4), (4, 1))]


def broadcast_einsums(suite):
    for i, (spec, *shapes) in enumerate(EINSUMS_OF):
        for dtype in ("float32", "int32", "float64", "uint8"):
            xs = [moderate(suite.rng, dtype, shape) for shape in shapes]
            y = np.einsum(spec, *[x.a for x in xs])
            top = float(np.max(np.einsum(spec, *[np.abs(x.a) for x in xs]), initial=1.0))
            suite.case("einsum/%s/%s/of-%d" % (dtype, spec, i), "einsum", xs, Tensor(y, dtype),
                       "exact" if kind(dtype) in "bui" else near(dtype, top), spec=spec)


def einsums(suite):
    rng = suite.rng
    for spec in EINSUMS:
        for dtype in DTYPES:
            if dtype not in ("float32", "int32", "complex64") and spec not in EINSUMS[:20:3]:
                continue
            for sizes in ([2, 3, 4, 5], [1, 7, 1, 33], [3, 0, 2, 4]):
                if len(spec) > 16 and 33 in sizes:
                    continue
                size = {c: sizes[(ord(c) * 7) % 4] for c in spec if c.isalpha()}
                names = spec.split("->")[0].split(",")
                xs = [moderate(rng, dtype, tuple(size[c] for c in name)) for name in names]
                exact = [x.a.astype("int32" if dtype == "bool" else dtype) if kind(dtype) in "bui"
                         else precise(x) for x in xs]
                y = np.einsum(spec, *exact)
                top = float(np.max(np.einsum(spec, *[np.abs(x) for x in exact]), initial=1.0))
                tol = "exact" if kind(dtype) in "bui" else near(dtype, top)
                if dtype == "complex64":
                    tol = "close:1e-6:%g" % (4e-6 * top)
                if dtype in HALVES and len(names) > 1:
                    tol = "close:%g:%g" % ((2.0 ** -7 if dtype == "bfloat16" else 2.0 ** -10,) * 2)
                suite.case("einsum/%s/%s/%s" % (dtype, spec, "%d%d%d%d" % tuple(sizes)), "einsum", xs,
                           Tensor(y != 0 if dtype == "bool" else y, dtype), tol, spec=spec)


def write(suite):
    einsums(suite)
    broadcast_einsums(suite)
    convolutions(suite)
    pads(suite)
    cumsums(suite)
    categoricals(suite)
    sorts(suite)
    blocks(suite)
    segments(suite)
    searches(suite)
    eight_bits(suite)
    attentions(suite)
    activations(suite)
    linears(suite)
    lookups(suite)
    norms(suite)
    ropes(suite)
