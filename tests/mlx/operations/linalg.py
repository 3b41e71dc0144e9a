"""Linear algebra and Fourier transforms."""

import math

import mlx.core as mx
import numpy as np

from draw import FLOATS, INTEGERS, words
from lazybones import Axes, StftOptions
from operations.case import Case, op, eps, largest, any_of


def matrices(d, m, n, dtype=None, batch=None):
    return d.tensor((d.shape(0, 2, 3) if batch is None else batch) + (m, n), dtype or d.of(["float32", "float64"]), "tame")


def well(d, n, symmetric=False):
    """Matrices that are far from singular."""
    dtype = d.of(["float32", "float64"])
    a = d.rng.standard_normal(d.shape(0, 2, 3) + (n, n))
    if dtype == "complex64":
        a = a + 1j * d.rng.standard_normal(a.shape)
    if symmetric:
        a = a @ np.conj(np.swapaxes(a, -1, -2)) if a.size else a
    return d.tensor(a.shape, dtype, a=(a + (2 + n) * np.eye(n)).astype(dtype))


def linalg_floor(x):
    return 200 * eps(x.dtype) * max(1, largest(x.a))


@op("inv", "det", "eigvalsh", "cholesky", "cholesky_inv", "tri_inv", "slogdet")
def linalg(d, name):
    x = well(d, d.int(1, 5), name in ("eigvalsh", "cholesky"))
    upper = d.chance(0.5)
    floor = linalg_floor(x) * (10 if name == "det" else 1)
    if name == "det":
        floor *= max(1.0, largest(np.linalg.det(x.a)))
    if name in ("cholesky", "cholesky_inv", "tri_inv"):
        return Case([x], lambda m: getattr(mx.linalg, name)(m, upper=upper), lambda l: getattr(d.lb, name)(l, upper), ulp=8, floor=floor)
    if name == "eigvalsh":
        return Case([x], lambda m: mx.linalg.eigvalsh(m, "U" if upper else "L"), lambda l: d.lb.eigvalsh(l, upper), ulp=8, floor=floor)
    if name == "slogdet":
        return Case([x], mx.linalg.slogdet, lambda l: d.lb.several("slogdet", 2, l), ulp=8, floor=floor)
    return Case([x], getattr(mx.linalg, name), getattr(d.lb, name), ulp=8, floor=floor)


@op("solve", "solve_triangular")
def solve(d, name):
    x = well(d, d.int(1, 5))
    b = d.tensor(x.shape[:-1] + (d.int(1, 3),), x.dtype, "tame")
    upper = d.chance(0.5)
    if name == "solve":
        return Case([x, b], mx.linalg.solve, d.lb.solve, ulp=8, floor=linalg_floor(x))
    return Case([x, b], lambda a, b: mx.linalg.solve_triangular(a, b, upper=upper), lambda a, b: d.lb.solve_triangular(a, b, upper),
                ulp=8, floor=linalg_floor(x))


def pinv_floor(a):
    """Wedin (1973): pseudo-inverses of A and A + E, of one rank, are apart by (1 + sqrt 5) / 2 |E| |A+| |(A + E)+|. E is what the
    singular values are computed of instead of A, here and there: of Householder's transformations m n eps / 2 |A| at most
    (Higham, Accuracy and Stability, 19.3, with a constant of 1). Without limit where E may change the rank."""
    m, n = a.shape[-2:]
    values = np.linalg.svd(a.astype(np.float64), compute_uv=False)
    e = m * n * eps(a.dtype.name) / 2 * values[..., :1]
    cutoff = 10 * max(m, n) * np.finfo(a.dtype).eps * values[..., :1]
    least = np.where(values > cutoff, values, np.inf).min(axis=-1, keepdims=True)
    with np.errstate(all="ignore"):
        moved = 2 * (1 + 5**0.5) / 2 * e / least / (least - e)
    doubt = (np.abs(values - cutoff) <= e).any(axis=-1, keepdims=True) | (least <= e)
    return np.where(doubt, np.inf, np.where(np.isinf(least), 0, moved))[..., None]


@op("qr", "svd", "svdvals", "pinv", "lu", "lu_factor", "eigvals", "eigh")
def decomposition(d, name):
    n = d.int(1, 5)
    x = well(d, n, True) if name == "eigh" else well(d, n) if name in ("eigvals", "lu", "lu_factor") else matrices(d, d.int(1, 5), n)
    floor = linalg_floor(x) * 10
    if name == "pinv":
        return Case([x], mx.linalg.pinv, d.lb.pinv, ulp=8, floor=pinv_floor)
    if name == "svdvals":
        return Case([x], lambda m: mx.linalg.svd(m, compute_uv=False), d.lb.svdvals, ulp=8, floor=floor)
    if name == "eigvals":
        return Case([x], lambda m: mx.sort(mx.abs(mx.linalg.eigvals(m)), axis=-1),
                    lambda l: d.lb.sort(d.lb.abs(d.lb.eigvals(l)), -1), ulp=8, floor=1e-3)
    if name == "svd":  # signs are free: their product
        def mlx(m):
            u, s, vt = mx.linalg.svd(m)
            k = s.shape[-1]
            return [s, (u[..., :k] * s[..., None, :]) @ vt[..., :k, :]]

        def ours(l):
            u, s, vt = d.lb.several("svd", 3, l)
            shape = list(d.lb.shape(l))
            k = min(shape[-2:])
            cut = lambda x, *i: d.lb.slice_n(x, *reversed(words([Ellipsis, *i])[1:]))
            scaled = d.lb.multiply(cut(u, slice(None), slice(0, k)), d.lb.expand_dims(s, [-2]))
            return [s, d.lb.matmul(scaled, cut(vt, slice(0, k), slice(None)))]
        return Case([x], mlx, ours, ulp=8, floor=floor)
    if name == "eigh":
        return Case([x], lambda m: mx.linalg.eigh(m)[0], lambda l: d.lb.several("eigh", 2, l, False)[0], ulp=8, floor=floor)
    if name == "qr":  # signs are free, too
        return Case([x], lambda m: mx.matmul(*mx.linalg.qr(m)), lambda l: d.lb.matmul(*d.lb.several("qr", 2, l)), ulp=8, floor=floor)
    outs = {"lu": 3, "lu_factor": 2}[name]
    return Case([x], getattr(mx.linalg, name), lambda l: d.lb.several(name, outs, l), ulp=8, floor=floor)


@op("norm", "vector_norm", "matrix_norm")
def norm(d, name):
    dtype = d.of(["float32", "float64", "float16", "complex64"] if name == "norm" else ["float32", "float64"])
    rank = d.int(2, 4)
    shape = tuple(d.int(1, 4) for _ in range(rank))
    x, keep = d.tensor(shape, dtype, "tame"), d.chance(0.4)
    floor = 32 * eps(dtype) * largest(x.a) * x.a.size
    if name == "norm":
        axes = [None, [d.axis(rank)], [0, 1]][d.int(0, 2)]
        d.say(axes=axes)
        return Case([x], lambda m: mx.linalg.norm(m, axis=axes, keepdims=keep), lambda l: d.lb.norm(l, Axes(axes), keep), ulp=4,
                    floor=floor, grads=True)
    if name == "vector_norm":
        axis, order = d.axis(rank), d.of([0, 1, 2, 3, 0.5, math.inf, -math.inf])
        d.say(axis=axis, order=order)
        return Case([x], lambda m: mx.linalg.norm(m, order, axis=axis, keepdims=keep),
                    lambda l: d.lb.vector_norm(l, float(order), axis, keep), ulp=16, floor=floor)
    a, b = [int(k) for k in d.rng.permutation(rank)[:2]]
    order = d.of(["nuc", 1, -1, 2, -2, math.inf, -math.inf])
    d.say(a=a, b=b, order=order)
    return Case([x], lambda m: mx.linalg.norm(m, order, axis=[a, b], keepdims=keep),
                lambda l: d.lb.matrix_norm(l, 0.0 if order == "nuc" else float(order), a, b, keep), ulp=16, floor=floor * 4)


@op("cross")
def cross(d, name):
    dtype, shape = d.of(FLOATS), d.shape(0, 2)
    sizes = d.of([(3, 3), (2, 3), (3, 2), (2, 2)])
    a, b = d.tensor(shape + sizes[:1], dtype, "tame"), d.tensor(shape + sizes[1:], dtype, "tame")
    return Case([a, b], lambda a, b: mx.linalg.cross(a, b), lambda a, b: d.lb.cross(a, b, -1), ulp=1,
                floor=4 * eps(dtype) * largest(a.a) * largest(b.a))


@op("fft", "ifft", "rfft", "irfft")
def fft(d, name):
    x = d.tensor(d.shape(1, 3), d.dtype(["float32", "complex64"], INTEGERS + ["float16"]), "tame")
    if name == "rfft" and x.dtype == "complex64":
        x = d.tensor(x.shape, "float32", "tame")
    rank = len(x.shape)
    axis, n, normal = d.axis(rank), d.of([None, None, d.int(0 if d.chance(0.1) else 1, 9)]), d.int(0, 2)
    d.say(axis=axis, n=n, norm=normal)
    return Case([x], lambda m: getattr(mx.fft, name)(m, n=n, axis=axis, norm=["backward", "ortho", "forward"][normal]),
                lambda l: getattr(d.lb, name)(l, n or 0, axis, normal) if n != 0 else d.lb.refused_zero(),
                floor=2e-6 * max(1, largest(x.a)) * 16 * max(x.shape + (1,)), grads=True)


@op("fftn", "ifftn", "rfftn", "irfftn")
def fftn(d, name):
    x = d.tensor(d.shape(1, 3), d.of(["float32", "complex64"]) if name != "rfftn" else "float32", "tame")
    axes, normal = d.axes(len(x.shape), True), d.int(0, 2)
    sizes = [d.int(1, 6) for _ in axes] if axes and d.chance(0.5) else None
    if axes == []:
        axes = None
    d.say(axes=axes, sizes=sizes, norm=normal)
    return Case([x], lambda m: getattr(mx.fft, name)(m, s=sizes, axes=axes, norm=["backward", "ortho", "forward"][normal]),
                lambda l: getattr(d.lb, name)(l, sizes or [], Axes(axes), normal),
                floor=2e-6 * max(1, largest(x.a)) * 64 * max(x.a.size, 1))


@op("fftshift", "ifftshift")
def fftshift(d, name):
    x = any_of(d, 1, 4)
    axes = d.axes(len(x.shape))
    d.say(axes=axes)
    return Case([x], lambda m: getattr(mx.fft, name)(m, axes=axes), lambda l: getattr(d.lb, name)(l, Axes(axes)))


@op("fftfreq", "rfftfreq")
def fftfreq(d, name):
    n, apart = d.int(0 if d.chance(0.1) else 1, 20), d.of([1.0, 0.5, 3.0])
    d.say(n=n, apart=apart)
    return Case([], lambda: getattr(mx.fft, name)(n, apart), lambda: getattr(d.lb, name)(n, apart), ulp=2)


@op("stft", "istft")
def stft(d, name):
    n = d.int(1, 12)
    hop, window = d.int(1, n + 2), d.int(1, n)
    ends, normal, two, centred = d.int(0, 2), d.int(0, 2), d.chance(0.3), d.chance(0.7)
    options = StftOptions(n, hop, window, not centred, ends, normal, two)
    python = dict(n_fft=n, hop_length=hop, win_length=window, center=centred, norm=["backward", "ortho", "forward"][normal],
                  onesided=not two)
    d.say(n=n, hop=hop, window=window, ends=ends, norm=normal, two=two, centred=centred)
    w = [d.tensor((window,), "float32", "positive")] if d.chance(0.7) else []
    if name == "stft":
        x = d.tensor(d.shape(0, 2) + (d.int(1, 30),), d.of(["float32", "float32", "float16", "complex64", "int16"]), "tame")
        if x.dtype == "complex64":
            python["onesided"] = False
        return Case([x] + w, lambda x, *w: mx.fft.stft(x, window=w[0] if w else None, pad_mode=["reflect", "constant", "edge"][ends],
                                                       **python),
                    lambda x, *w: d.lb.stft(x, w[0] if w else None, options), floor=1e-5 * largest(x.a) * n, grads=True)
    x = d.tensor(d.shape(0, 1) + (n if two else n // 2 + 1, d.int(1, 6)), "complex64", "tame")
    length = d.of([None, d.int(1, 40)])
    d.say(length=length)
    # where the window ends, MLX divides by next to nothing, as we do: what is left of it is not compared
    return Case([x] + w, lambda x, *w: mx.fft.istft(x, window=w[0] if w else None, length=length, **python),
                lambda x, *w: d.lb.istft(x, w[0] if w else None, options, length or 0), ulp=16, floor=1e-4 * largest(x.a) * n)
