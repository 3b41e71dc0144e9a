"""Gradients of what models are made of, by the formulas in float64."""

import numpy as np

from .elementwise import shape_name
from .models import ATTENTION, CONVOLUTIONS, masks, normal, wide
from .reductions import EPSILON
from .reference import FLOATS, HALVES, Tensor, cast


def near(dtype, y, factor=64):
    """One rounding to dtype, and some of the stage's on the way, of sums as large as y."""
    top = float(np.max(np.abs(y), initial=1.0))
    return "ulp:%d:%g" % (1 if dtype in HALVES else 4,
                          factor * EPSILON["float32" if dtype in HALVES else dtype] * top)


def norms(suite):
    rng = suite.rng
    for dtype in FLOATS:
        for shape in ((8,), (1,), (3, 5), (2, 3, 64), (4, 129), (0, 4), (3, 0), (70, 1000), (3000, 3), (2,) * 8):
            for given in (0, 1):
                x, g = normal(rng, dtype, shape, 2.0, 0.5), normal(rng, dtype, shape)
                w = normal(rng, dtype, shape[-1:]) if given else None
                for op in ("layer_norm", "rms_norm"):
                    norm_case(suite, "%s_grad/%s/%s/%d" % (op, dtype, shape_name(shape), given), op, x, w, g, 1e-5)


def norm_case(suite, name, op, x, w, g, eps):
    a, dy, n = wide(x), wide(g), x.shape[-1]
    lead = tuple(range(len(x.shape) - 1))
    with np.errstate(all="ignore"):
        h = a - a.mean(-1, keepdims=True) if op == "layer_norm" and a.size else a
        scale = 1 / np.sqrt((h * h).mean(-1, keepdims=True) + eps) if n else 1
        h = h * scale
        t = dy * wide(w) if w else dy
        dx = t - h * (t * h).mean(-1, keepdims=True) if a.size else t
        dx = (dx - t.mean(-1, keepdims=True) if op == "layer_norm" and a.size else dx) * scale
    results = [dx, (dy * h).sum(lead), dy.sum(lead)]
    for part, y in enumerate(results):
        if (part == 1 and not w) or (part == 2 and op == "rms_norm"):
            continue
        suite.case("%s/%d" % (name, part), op + "_grad", [x, w, g], Tensor(y, x.dtype), near(x.dtype, y), eps=eps,
                   part=part)


def attend_grad(q, k, v, scale, causal, mask, g):
    group, heads = q.shape[1] // max(k.shape[1], 1), k.shape[1]
    wide_k, wide_v = np.repeat(k, group, 1), np.repeat(v, group, 1)
    scores = scale * (q @ wide_k.swapaxes(-1, -2))
    if mask is not None:
        scores = np.where(mask, scores, -np.inf) if mask.dtype == bool else scores + mask
    if causal:
        rows, columns = scores.shape[-2:]
        scores = np.where(np.tri(rows, columns, columns - rows, dtype=bool), scores, -np.inf)
    with np.errstate(all="ignore"):
        top = np.max(scores, -1, keepdims=True, initial=-np.inf)
        p = np.exp(scores - np.where(top == -np.inf, 0, top))
        total = p.sum(-1, keepdims=True)
        p = p / np.where(total == 0, 1, total)
    dp = g @ wide_v.swapaxes(-1, -2)
    ds = p * (dp - (p * dp).sum(-1, keepdims=True))

    def gathered(y):
        return y.reshape((y.shape[0], heads, group) + y.shape[2:]).sum(2)
    return (scale * ds @ wide_k, gathered(scale * ds.swapaxes(-1, -2) @ q), gathered(p.swapaxes(-1, -2) @ g))


def attentions(suite):
    rng = suite.rng
    for dtype in FLOATS:
        for shape, heads, keys, features in ATTENTION:
            q = normal(rng, dtype, shape)
            k = normal(rng, dtype, (shape[0], heads, keys, shape[3]))
            v = normal(rng, dtype, (shape[0], heads, keys, features))
            g = normal(rng, dtype, shape[:3] + (features,))
            for mask_kind, mask in masks(rng, dtype, shape[0], shape[1], shape[2], keys):
                for causal in (0, 1):
                    if keys > 200 and mask_kind not in ("none", "added-inf") and causal:
                        continue
                    given = mask
                    if mask is not None:
                        given = mask.a if mask.dtype == "bool" else wide(mask)
                    scale = 1 / np.sqrt(max(shape[3], 1))
                    ys = attend_grad(wide(q), wide(k), wide(v), scale, causal, given, wide(g))
                    for part, y in enumerate(ys):
                        suite.case("attention_grad/%s/%s,%d,%d,%d/%s%s/%s" % (
                            dtype, shape_name(shape), heads, keys, features, mask_kind, "-causal" * causal,
                            "qkv"[part]), "attention_grad", [q, k, v, mask, g], Tensor(y, dtype),
                            near(dtype, y), scale=scale, causal=causal, part=part)


def convolve_grad(x, w, g, stride, padding, dilation, groups):
    """By x and by w."""
    padded = np.pad(x, [(0, 0)] + [(p, p) for p in padding] + [(0, 0)])
    dx, dw = np.zeros(padded.shape), np.zeros(w.shape)
    rows, columns = g.shape[1:3]
    inputs, outputs = w.shape[3], w.shape[0] // groups
    for r in range(w.shape[1]):
        for c in range(w.shape[2]):
            top, left = r * dilation[0], c * dilation[1]
            where = (slice(None), slice(top, top + stride[0] * (rows - 1) + 1, stride[0]),
                     slice(left, left + stride[1] * (columns - 1) + 1, stride[1]))
            for i in range(groups):
                own, out = slice(i * inputs, (i + 1) * inputs), slice(i * outputs, (i + 1) * outputs)
                dx[where + (own,)] += g[..., out] @ w[out, r, c]
                dw[out, r, c] += np.tensordot(g[..., out], padded[where + (own,)], ([0, 1, 2],) * 2)
    return dx[:, padding[0]:padding[0] + x.shape[1], padding[1]:padding[1] + x.shape[2]], dw


LARGE = [((2, 60, 50, 40), 48, (3, 3), (1, 1), (1, 1), (1, 1), 1), ((3, 30, 40, 64), 64, (3, 3), (2, 1), (1, 1), (1, 1), 64)]


def convolutions(suite):
    rng = suite.rng
    for dtype in FLOATS:
        for shape, outputs, taps, stride, padding, dilation, groups in CONVOLUTIONS + LARGE:
            x, w = normal(rng, dtype, shape), normal(rng, dtype, (outputs,) + taps + (shape[3] // groups,))
            rows, columns = ((shape[1 + i] + 2 * padding[i] - dilation[i] * (taps[i] - 1) - 1) // stride[i] + 1
                             for i in range(2))
            g = normal(rng, dtype, (shape[0], rows, columns, outputs))
            name = "%s/%s,%d,%dx%d/%d%d%d%d%d%d,%d" % ((dtype, shape_name(shape), outputs) + taps +
                                                       stride + padding + dilation + (groups,))
            args = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
            dx, dw = convolve_grad(wide(x), wide(w), wide(g), stride, padding, dilation, groups)
            suite.case("conv2d_input_grad/" + name, "conv2d_input_grad", [w, g], Tensor(dx, dtype), near(dtype, dx),
                       shape=shape, **args)
            suite.case("conv2d_weight_grad/" + name, "conv2d_weight_grad", [x, g], Tensor(dw, dtype),
                       near(dtype, dw), shape=w.shape, **args)


def write(suite):
    norms(suite)
    attentions(suite)
    convolutions(suite)
