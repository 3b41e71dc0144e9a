"""Products, transforms and convolutions that are made of others."""

import itertools

import numpy as np

from .elementwise import shape_name
from .models import convolve, near, normal, wide
from .reference import COMPLEX, FLOATS, Tensor, random_values

# What mlx.core 0.32 has of 0, 1, 4, 9, … with a scale of 1.
OF_SQUARES = (
    (504, -66, 28, -14, -276, -22, -60, -86, 236, -166, 12, -222),
    (90, 216, 254, 304, 466, -42, -312, -2, 328, 78, 492, 582, 492, 382, 452, -1560, -1418, -1372, -1322, -1168),
    (-1456, -1142, -1012, -1066, -1108, -942, -568, -948, -770, -1356, -802, -228, -810, -644, -1062, -520, -546, -944, -1378,
     -1456, -926, -3366, -3720, -3326, -3108, -2870, -2416, -2726),
    (4298, -266, -554, 26, 226, -2, -138, 26, -2286, 78, -218, 42, -478, -2, -746, 58, 1970, -82, -1402, 74, 98, -2, -1866, 90))


def gathers(suite, rng):
    for dtype in FLOATS:
        a, b = normal(rng, dtype, (2, 2, 3, 5)), normal(rng, dtype, (3, 5, 2))
        flat = wide(a).reshape(4, 3, 5)
        i, j = Tensor([[3, 0], [1, 1]], "int32"), Tensor([[2], [0]], "uint8")
        for name, inputs, y in (
                ("both", [a, b, i, j], flat[i.a] @ wide(b)[j.a]), ("left", [a, b, Tensor([3, 0, 3], "int64"), None],
                                                                   flat[[3, 0, 3]] @ wide(b)),
                ("right", [a, b, None, Tensor([1, 1], "uint32")], wide(a) @ wide(b)[[1, 1]]),
                ("none", [a, Tensor(b.a[:1], dtype), None, None], wide(a) @ wide(b)[:1]),
                ("nothing", [a, b, Tensor(np.zeros((0,)), "int32"), Tensor([1], "int32")], np.zeros((0, 3, 2)))):
            suite.case("gather_mm/%s/%s" % (dtype, name), "gather_mm", inputs, Tensor(y, dtype), near(dtype, 20))


def hadamard(suite, rng):
    def powers(n):
        h = np.ones((1, 1))
        while len(h) < n:
            h = np.block([[h, h], [h, -h]])
        return h

    for y in OF_SQUARES:
        n = len(y)
        suite.case("hadamard_transform/mlx/%d" % n, "hadamard_transform", [Tensor(np.arange(n) ** 2, "float32")],
                   Tensor(y, "float32"), scale="1.0")
    for dtype in FLOATS + ["int16", "bool"]:
        result = dtype if dtype in FLOATS else "float32"
        for shape in ((1,), (2,), (3, 8), (2, 0, 4), (5, 1), (2, 3, 64), ()):
            x = normal(rng, dtype, shape) if dtype in FLOATS else random_values(rng, dtype, shape)
            n = shape[-1] if shape else 1
            h = powers(n)
            y = (wide(x).reshape(-1, n) @ h.T).reshape(shape)
            for scale in (0.0, 0.5):
                z = y * (scale or n ** -0.5)
                suite.case("hadamard_transform/%s/%s/%g" % (dtype, shape_name(shape), scale), "hadamard_transform", [x],
                           Tensor(z, result), near(result, 8 * float(np.max(np.abs(z), initial=1.0))), scale=scale)
    x = random_values(rng, COMPLEX, (3, 8))
    y = x.a.astype(np.complex128) @ powers(8).T
    suite.case("hadamard_transform/complex64", "hadamard_transform", [x], Tensor(y, COMPLEX),
               near("float32", 8 * float(np.max(np.abs(y)))), scale=1.0)


def convolve3(x, w, stride, padding, dilation, groups):
    x = np.pad(x, [(0, 0), (padding[0],) * 2, (0, 0), (0, 0), (0, 0)])
    depth = (x.shape[1] - dilation[0] * (w.shape[1] - 1) - 1) // stride[0] + 1
    return np.stack([sum(convolve(x[:, d * stride[0] + t * dilation[0]], w[:, t], stride[1:], padding[1:], dilation[1:], groups)
                         for t in range(w.shape[1])) for d in range(depth)], 1)


def spread(x, w, stride, padding, dilation, groups, more):
    """Each element of x times the weight, where it belongs."""
    batch, rows, columns, channels = x.shape
    outputs, taps, inputs = w.shape[0] // groups, w.shape[1:3], w.shape[3]
    sizes = [(n - 1) * s + d * (t - 1) + 1 for n, s, d, t in zip((rows, columns), stride, dilation, taps)]
    y = np.zeros((batch, sizes[0] + more[0], sizes[1] + more[1], w.shape[0]))
    for r, c, i, j, g in itertools.product(range(rows), range(columns), range(taps[0]), range(taps[1]), range(groups)):
        y[:, r * stride[0] + i * dilation[0], c * stride[1] + j * dilation[1], g * outputs:(g + 1) * outputs] += \
            x[:, r, c, g * inputs:(g + 1) * inputs] @ w[g * outputs:(g + 1) * outputs, i, j].T
    return y[:, padding[0]:y.shape[1] - padding[0], padding[1]:y.shape[2] - padding[1]]


def convolutions(suite, rng):
    for dtype in FLOATS:
        for shape, outputs, taps, stride, padding, dilation, groups in (
                ((1, 3, 4, 5, 2), 3, (2, 3, 2), (1, 2, 1), (1, 1, 0), (2, 1, 1), 1), ((2, 5, 3, 3, 4), 6, (3, 1, 2), (2, 1, 1),
                                                                                    (0, 0, 1), (1, 1, 2), 2),
                ((1, 1, 1, 1, 1), 1, (1, 1, 1), (1, 1, 1), (0, 0, 0), (1, 1, 1), 1), ((0, 3, 3, 3, 2), 2, (2, 2, 2), (1, 1, 1),
                                                                                   (0, 0, 0), (1, 1, 1), 1)):
            x, w = normal(rng, dtype, shape), normal(rng, dtype, (outputs,) + taps + (shape[4] // groups,))
            y = convolve3(wide(x), wide(w), stride, padding, dilation, groups)
            size = float(np.max(convolve3(np.abs(wide(x)), np.abs(wide(w)), stride, padding, dilation, groups), initial=1.0))
            suite.case("conv3d/%s/%s" % (dtype, shape_name(shape)), "conv3d", [x, w], Tensor(y, dtype), near(dtype, size, 8),
                       stride=stride, padding=padding, dilation=dilation, groups=groups)
        for shape, outputs, taps, stride, padding, dilation, groups, more in (
                ((1, 4, 5, 2), 3, (3, 2), (1, 1), (0, 0), (1, 1), 1, (0, 0)), ((2, 3, 4, 4), 6, (2, 3), (2, 3), (1, 2), (1, 2), 2, (1, 0)),
                ((1, 3, 3, 2), 2, (2, 2), (2, 1), (0, 1), (1, 1), 1, (3, 0)), ((1, 5, 1, 3), 3, (3, 1), (1, 1), (2, 0), (1, 1), 3, (0, 2)),
                ((0, 3, 3, 2), 2, (2, 2), (1, 1), (0, 0), (1, 1), 1, (0, 0))):
            x, w = normal(rng, dtype, shape), normal(rng, dtype, (outputs,) + taps + (shape[3] // groups,))
            args = (stride, padding, dilation, groups, more)
            y = spread(wide(x), wide(w), *args)
            size = float(np.max(spread(np.abs(wide(x)), np.abs(wide(w)), *args), initial=1.0))
            name = "%s/%s,%d,%d" % (dtype, shape_name(shape), outputs, groups)
            suite.case("conv_transpose2d/" + name, "conv_transpose", [x, w], Tensor(y, dtype), near(dtype, size, 8), stride=stride,
                       padding=padding, dilation=dilation, groups=groups, more=more)
            x, w = x.map(lambda a: a[:, :, 0]), w.map(lambda a: a[:, :, 0])
            args = (stride[:1] + (1,), padding[:1] + (0,), dilation[:1] + (1,), groups, more[:1] + (0,))
            y = spread(wide(x)[:, :, None], wide(w)[:, :, None], *args)[:, :, 0]
            suite.case("conv_transpose1d/" + name, "conv_transpose", [x, w], Tensor(y, dtype), near(dtype, size, 8),
                       stride=stride[:1], padding=padding[:1], dilation=dilation[:1], groups=groups, more=more[:1])


def transposed3(suite, rng):
    for dtype in FLOATS:
        for shape, outputs, taps, stride, padding, dilation, groups, more in (
                ((1, 3, 2, 4, 2), 3, (2, 2, 3), (1, 1, 1), (0, 0, 0), (1, 1, 1), 1, (0, 0, 0)),
                ((2, 2, 3, 2, 4), 4, (3, 1, 2), (2, 1, 2), (1, 0, 1), (1, 2, 1), 2, (2, 0, 1)),
                ((1, 1, 1, 1, 1), 1, (1, 1, 1), (3, 1, 1), (0, 0, 0), (1, 1, 1), 1, (1, 0, 0)),
                ((0, 2, 2, 2, 1), 1, (2, 1, 1), (1, 1, 1), (0, 0, 0), (1, 1, 1), 1, (0, 0, 0))):
            x, w = normal(rng, dtype, shape), normal(rng, dtype, (outputs,) + taps + (shape[4] // groups,))

            def whole(a, b):
                planes = [spread(a[:, d], b[:, t], stride[1:], padding[1:], dilation[1:], groups, more[1:])
                          for d in range(shape[1]) for t in range(taps[0])]
                y = np.zeros((shape[0], (shape[1] - 1) * stride[0] + dilation[0] * (taps[0] - 1) + 1 + more[0]) + planes[0].shape[1:])
                for i, plane in enumerate(planes):
                    y[:, i // taps[0] * stride[0] + i % taps[0] * dilation[0]] += plane
                return y[:, padding[0]:y.shape[1] - padding[0]]

            size = float(np.max(whole(np.abs(wide(x)), np.abs(wide(w))), initial=1.0))
            suite.case("conv_transpose3d/%s/%s,%d,%d" % (dtype, shape_name(shape), outputs, groups), "conv_transpose3d", [x, w],
                       Tensor(whole(wide(x), wide(w)), dtype), near(dtype, size, 8), stride=stride, padding=padding, dilation=dilation,
                       groups=groups, more=more)
        for n, m in ((1, 1), (7, 3), (3, 7), (8, 4), (5, 5), (4, 2)):
            a, b = normal(rng, dtype, (n,)), normal(rng, dtype, (m,))
            for i, mode in enumerate(("full", "same", "valid")):
                suite.case("convolve/%s/%d,%d/%s" % (dtype, n, m, mode), "convolve", [a, b],
                           Tensor(np.convolve(wide(a), wide(b), mode), dtype), near(dtype, 8, 8), mode=i)


def fourier(suite, rng):
    for op in ("fft", "ifft", "rfft", "irfft"):
        for shape, axes, sizes in (((8,), (0,), None), ((3, 10), (1,), (7,)), ((4, 6, 5), (0, 2, 1), None), ((4, 6, 5), (2, 0), (3, 9)),
                                   ((0, 6), (1,), None)):
            for i, norm in enumerate(("backward", "ortho", "forward")):
                x = Tensor(rng.standard_normal(shape) + (0 if op == "rfft" else 1j * rng.standard_normal(shape)),
                           "float32" if op == "rfft" else COMPLEX)
                y = getattr(np.fft, op + "n")(x.a, sizes, axes, norm)
                suite.case("%s/%s/%s/%s" % (op, shape_name(shape), "_".join(map(str, axes)), norm), op, [x],
                           Tensor(y, "float32" if op == "irfft" else COMPLEX),
                           "close:1e-5:%g" % (1e-6 * float(np.max(np.abs(y), initial=1e-3))), axes=axes, norm=i,
                           **({"sizes": sizes} if sizes else {}))


def write(suite):
    rng = np.random.default_rng(22)
    for part in (gathers, hadamard, convolutions, transposed3, fourier):
        part(suite, rng)
