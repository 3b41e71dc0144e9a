"""Linear algebra, computed by NumPy in float64."""

import numpy as np

from .elementwise import shape_name
from .reference import COMPLEX, Tensor

BATCHES = ((), (2,), (3, 1, 2), (0,))


def near(dtype, scale=1.0):
    epsilon = {"float64": 1e-11, "float32": 2e-4, "float16": 4e-3, "bfloat16": 3e-2, COMPLEX: 1e-5}[dtype]
    return "close:%g:%g" % (epsilon, epsilon * scale)


def across(a):
    return np.swapaxes(a, -1, -2)


def square(rng, batch, n):
    """Far from singular."""
    a = rng.standard_normal(batch + (n, n))
    return a + np.sign(rng.standard_normal()) * 2 * n * np.eye(n)[rng.permutation(n)] if n else a


def positive(rng, batch, n):
    a = rng.standard_normal(batch + (n, n))
    return a @ across(a) + n * np.eye(n)


def mirrored(a, upper):
    """The symmetric matrix whose triangle that is."""
    t = np.triu(a) if upper else np.tril(a)
    return t + across(t) - t * np.eye(a.shape[-1])


def squares(suite, rng, dtype, batch, n):
    name = "%s/%s/%d" % (dtype, shape_name(batch), n)
    x = Tensor(square(rng, batch, n), dtype)
    wide = x.a.astype(np.float64)

    def case(op, label, inputs, y, scale=1.0, **args):
        suite.case("%s/%s%s" % (op, name, label), op, inputs, Tensor(y, dtype), near(dtype, scale), **args)

    det = np.linalg.det(wide)
    top = float(np.max(np.abs(det), initial=1.0))
    case("inv", "", [x], np.linalg.inv(wide))
    case("det", "", [x], det, top)
    for part, y in enumerate(np.linalg.slogdet(wide)):
        case("slogdet", "/%d" % part, [x], y, 10, part=part)
    for rest in ((n, 1), (n, 3), (n, 0), (n,)):
        b = Tensor(rng.standard_normal((rest if len(rest) == 1 else batch + rest)), dtype)
        right = b.a.astype(np.float64)
        right = right[:, None] if len(rest) == 1 else right
        for op, m, args in (("solve", wide, {}), ("solve_triangular", np.tril(wide), {"upper": 0}),
                            ("solve_triangular", np.triu(wide), {"upper": 1})):
            if op == "solve_triangular" and n > 5:
                continue  # ill-conditioned
            if n and np.any(np.abs(np.diagonal(m, axis1=-2, axis2=-1)) < 0.3):
                continue  # likewise
            y = np.linalg.solve(m, np.broadcast_to(right, m.shape[:-1] + right.shape[-1:]))
            y = y[..., 0] if len(rest) == 1 else y
            case(op, "/%s%s" % (shape_name(rest), "".join(map(str, args.values()))), [x, b], y,
                 float(np.max(np.abs(y), initial=1.0)) * 4, **args)
    factors(suite, wide, x, dtype, name)
    spectrum(suite, rng, dtype, batch, n, name)
    spd = Tensor(positive(rng, batch, n), dtype)
    lower = np.linalg.cholesky(spd.a.astype(np.float64))
    for upper in (0, 1):
        label = "/%d" % upper
        factor = across(lower) if upper else lower
        keep = np.triu if upper else np.tril
        junk = Tensor(np.where(keep(np.ones((n, n))), spd.a, 99), dtype)  # not read
        case("cholesky", label, [junk], factor, n + 1, upper=upper)
        filled = Tensor(np.where(keep(np.ones((n, n))), factor, 99), dtype)
        case("tri_inv", label, [filled], np.linalg.inv(factor), upper=upper)
        case("cholesky_inv", label, [filled], np.linalg.inv(spd.a.astype(np.float64)), upper=upper)
        whole = mirrored(wide, upper)
        w = np.linalg.eigvalsh(whole)
        size = 4.0 * n + 4
        case("eigvalsh", label, [x], w, size, upper=upper)
        case("eigh", label + "/0", [x], whole, size, upper=upper, part=0)
        case("eigh", label + "/1", [x], np.broadcast_to(np.eye(n), x.a.shape), 4, upper=upper, part=1)
        case("eigh", label + "/2", [x], w, size, upper=upper, part=2)


def factors(suite, wide, x, dtype, name):
    """The product, with its rows in place: once by the rows, once by the swaps; then what must be zeros, or ones."""
    m, n = wide.shape[-2:]
    k = min(m, n)
    for part, y in enumerate((wide, wide, np.zeros(wide.shape[:-1] + (k,)), np.zeros(wide.shape[:-2] + (k, n)))):
        suite.case("lu/%s/%d" % (name, part), "lu", [x], Tensor(y, dtype), near(dtype, 8 * (k + 1)), part=part)


def spectrum(suite, rng, dtype, batch, n, name):
    """A rotation and a stretch in each pair of axes: eigenvalues come in pairs, some of which are real."""
    blocks = np.zeros(batch + (n, n))
    for i in range(0, n, 2):
        turn, size = (0.0 if i % 4 == 2 else 1.0), 1.0 + i
        blocks[..., i, i] = size
        if i + 1 < n:
            blocks[..., i + 1, i + 1] = size + (1.5 if turn == 0.0 else 0.0)
            blocks[..., i, i + 1], blocks[..., i + 1, i] = -turn, turn
    base = np.eye(n) + 0.2 * rng.standard_normal((n, n)) / max(n, 1) ** 0.5
    x = Tensor(base @ blocks @ np.linalg.inv(base), dtype)
    values = np.sort_complex(np.linalg.eigvals(x.a.astype(np.float64)) + 0j) if x.a.size else np.zeros(batch + (n,), complex)
    for part, y in enumerate((np.zeros(batch + (n, n)), np.sum(values, -1), np.sum(values ** 2, -1), np.ones(batch + (n,)))):
        suite.case("eig/%s/%d" % (name, part), "eig", [x], Tensor(y, COMPLEX if part < 3 else "float32"),
                   "close:1e-4:%g" % (2e-5 * (n + 1) ** 1.5), part=part)
    suite.case("eigvals/%s" % name, "eigvals", [x], Tensor(np.sum(values ** 2, -1), COMPLEX),
               "close:1e-4:%g" % (2e-5 * (n + 1) ** 1.5))


def eye_like(a, n):
    return np.broadcast_to(np.eye(n), a.shape[:-2] + (n, n))


def rectangles(suite, rng, dtype, shape):
    m, n = shape[-2:]
    k = min(m, n)
    x = Tensor(rng.standard_normal(shape), dtype)
    wide = x.a.astype(np.float64)
    name = "%s/%s" % (dtype, shape_name(shape))
    values = np.linalg.svd(wide, compute_uv=False) if k else np.zeros(shape[:-2] + (0,))

    def case(op, label, y, **args):
        suite.case("%s/%s%s" % (op, name, label), op, [x], Tensor(y, dtype), near(dtype, 8), **args)

    case("qr", "/0", wide, part=0)
    case("qr", "/1", eye_like(wide, k), part=1)
    case("qr", "/2", np.zeros(shape[:-2] + (k, n)), part=2)
    case("svd", "/0", wide, part=0)
    case("svd", "/1", eye_like(wide, m), part=1)
    case("svd", "/2", values, part=2)
    case("svd", "/3", eye_like(wide, n), part=3)
    case("svdvals", "", values)
    factors(suite, wide, x, dtype, name)
    y = np.linalg.pinv(wide) if wide.size else np.zeros(shape[:-2] + (n, m))
    suite.case("pinv/%s" % name, "pinv", [x], Tensor(y, dtype),
               near(dtype, 100 * float(np.max(np.abs(y), initial=1.0)) ** 2))


def complex_matrices(suite, rng, shape):
    """Decompositions that MLX has of complex numbers; conjugate transposes are made here."""
    m, n = shape[-2:]
    k = min(m, n)
    x = Tensor(rng.standard_normal(shape) + 1j * rng.standard_normal(shape), COMPLEX)
    wide = x.a.astype(np.complex128)
    name = "%s/%s" % (COMPLEX, shape_name(shape))
    values = np.linalg.svd(wide, compute_uv=False) if k else np.zeros(shape[:-2] + (0,))

    def case(op, label, y, dtype=COMPLEX, scale=8, **args):
        suite.case("%s/%s%s" % (op, name, label), op, [x], Tensor(y, dtype), "close:1e-4:%g" % (2e-5 * scale), **args)

    case("svd", "/0", wide, part=0)
    case("svd", "/1", eye_like(wide, m), part=1)
    case("svd", "/2", values, "float32", part=2)
    case("svd", "/3", eye_like(wide, n), part=3)
    case("svdvals", "", values, "float32")
    y = np.linalg.pinv(wide) if wide.size else np.zeros(shape[:-2] + (n, m))
    case("pinv", "", y, scale=100 * float(np.max(np.abs(y), initial=1.0)) ** 2)
    for order in (2, -2, 0) if wide.size else ():
        y = np.linalg.norm(wide, "nuc" if order == 0 else order, (-2, -1))
        case("matrix_norm", "/%g" % order, y, "float32", order=repr(float(order)), a=-2, b=-1, keepdims=0)
    if m != n:
        return
    for upper in (0, 1):
        half = np.triu(wide, 1) if upper else np.tril(wide, -1)
        real = wide.real * np.eye(n)  # of the diagonal the imaginary parts are not read
        whole = half + np.conj(across(half)) + real
        w, size, label = np.linalg.eigvalsh(whole), 4 * n + 4, "/%d" % upper
        case("eigvalsh", label, w, "float32", size, upper=upper)
        case("eigh", label + "/0", whole, scale=size, upper=upper, part=0)
        case("eigh", label + "/1", eye_like(wide, n), upper=upper, part=1)
        case("eigh", label + "/2", w, "float32", size, upper=upper, part=2)
    values = np.linalg.eigvals(wide) if wide.size else np.zeros(shape[:-1])
    size = 8 * (n + 1) ** 1.5
    for part, y in enumerate((np.zeros(shape), np.sum(values, -1), np.sum(values ** 2, -1), np.ones(shape[:-1]))):
        case("eig", "/%d" % part, y, COMPLEX if part < 3 else "float32", size, part=part)
    case("eigvals", "", np.sum(values ** 2, -1), scale=size)


def norms(suite, rng):
    for dtype in ("float32", "float64", "float16", "bfloat16", COMPLEX, "int32"):
        result = "float32" if dtype in ("int32", COMPLEX) else dtype
        values = rng.standard_normal((2, 3, 4)) * 3
        values = values + 1j * rng.standard_normal(values.shape) if dtype == COMPLEX else np.round(values) if dtype == "int32" else values
        x = Tensor(values, dtype)
        wide = x.a.astype(np.complex128 if dtype == COMPLEX else np.float64)
        for axes in ((0,), (-1,), (0, 2), (0, 1, 2)):
            for keep in (0, 1):
                y = np.sqrt(np.sum(np.abs(wide) ** 2, axis=axes, keepdims=bool(keep)))
                suite.case("norm/%s/%s/%d" % (dtype, "_".join(map(str, axes)), keep), "norm", [x], Tensor(y, result),
                           near(result, 8), axes=axes, keepdims=keep)
        for order in (0, 1, 2, 3, -1, 0.5, np.inf, -np.inf):
            if result in ("float16", "bfloat16") and order in (3, 0.5):
                continue  # each step is rounded
            for axis, keep in ((0, 0), (-1, 1)):
                y = np.linalg.norm(wide, order, axis, bool(keep))
                suite.case("vector_norm/%s/%g/%d" % (dtype, order, axis), "vector_norm", [x], Tensor(y, result), near(result, 20),
                           order=repr(float(order)), axis=axis, keepdims=keep)
        for order in (1, -1, np.inf, -np.inf, 2, -2, 0):
            if order in (2, -2, 0) and dtype not in ("float32", "float64"):
                continue
            for a, b, keep in ((-2, -1, 0), (0, 2, 1), (2, 0, 0), (1, 0, 1)):
                y = np.linalg.norm(wide, "nuc" if order == 0 else order, (a, b), bool(keep))
                suite.case("matrix_norm/%s/%g/%d,%d" % (dtype, order, a, b), "matrix_norm", [x], Tensor(y, result),
                           near(result, 20), order=repr(float(order)), a=a, b=b, keepdims=keep)


def crosses(suite, rng):
    for dtype in ("float32", "float64", "int32", COMPLEX):
        for a, b, axis in (((3,), (3,), -1), ((4, 3), (3,), -1), ((3, 2), (3, 2), 0), ((2,), (2,), 0), ((2, 1, 2), (5, 3), -1),
                           ((5, 3), (2,), 1), ((2, 3, 4), (3, 1), 1)):
            values = [rng.integers(-9, 9, s) + (1j * rng.integers(-9, 9, s) if dtype == COMPLEX else 0) for s in (a, b)]
            along = axis - max(len(a), len(b)) if axis >= 0 else axis
            full = []
            for v in values:
                v = np.moveaxis(v, along, -1)
                full.append(np.concatenate([v, np.zeros(v.shape[:-1] + (3 - v.shape[-1],), v.dtype)], -1))
            y = np.moveaxis(np.cross(*full), -1, along)
            suite.case("cross/%s/%s,%s" % (dtype, shape_name(a), shape_name(b)), "cross",
                       [Tensor(v, dtype) for v in values], Tensor(y, dtype), "value", axis=axis)


def write(suite):
    rng = np.random.default_rng(21)
    for dtype in ("float32", "float64"):
        for n in (1, 2, 3, 5, 40):
            for batch in BATCHES if n < 40 else ((),):
                squares(suite, rng, dtype, batch, n)
        for shape in ((1, 1), (3, 2), (2, 5), (2, 3, 3), (2, 1, 4, 3), (0, 3, 2), (30, 70), (130, 20), (0, 3), (3, 0), (2, 0, 2)):
            rectangles(suite, rng, dtype, shape)
        for op in ("det", "slogdet"):
            suite.case("%s/%s/none" % (op, dtype), op, [Tensor(np.zeros((2, 0, 0)), dtype)],
                       Tensor(np.ones(2) if op == "det" else np.zeros(2), dtype), part=1)
        flat = Tensor([[1.0, 2.0], [2.0, 4.0]], dtype)
        suite.case("det/%s/singular" % dtype, "det", [flat], Tensor(0.0, dtype), near(dtype))
        for part, y in enumerate((0.0, -np.inf)):
            suite.case("slogdet/%s/singular/%d" % (dtype, part), "slogdet", [Tensor([[0.0, 0.0], [2.0, 4.0]], dtype)],
                       Tensor(y, dtype), "value", part=part)
        suite.case("pinv/%s/zeros" % dtype, "pinv", [Tensor(np.zeros((2, 3)), dtype)], Tensor(np.zeros((3, 2)), dtype), "value")
        # on either side of 10 * 4 * eps
        for times in (32, 64):
            least = times * float(np.finfo(dtype).eps)
            x, y = np.zeros((2, 4)), np.zeros((4, 2))
            x[0, 1] = y[1, 0] = 1
            x[1, 3], y[3, 1] = least, 1 / least if times > 40 else 0
            suite.case("pinv/%s/%d" % (dtype, times), "pinv", [Tensor(x, dtype)], Tensor(y, dtype), "value")
    for dtype, result in (("float16", "float16"), ("bfloat16", "bfloat16"), ("int32", "float32"), ("uint8", "float32")):
        x = Tensor(np.array([[3, 1, 0], [1, 4, 2], [2, 0, 5]]), dtype)
        det = np.linalg.det(x.a.astype(np.float64))
        suite.case("det/%s" % dtype, "det", [x], Tensor(det, result), near(result))
        suite.case("slogdet/%s" % dtype, "slogdet", [x], Tensor(np.log(abs(det)), result), near(result), part=1)
    for shape in ((1, 1), (3, 3), (2, 3, 5), (5, 2), (3, 1, 4, 4), (40, 40), (70, 20), (0, 3, 3), (0, 4), (4, 0), (2, 0, 0)):
        complex_matrices(suite, rng, shape)
    norms(suite, rng)
    crosses(suite, rng)
