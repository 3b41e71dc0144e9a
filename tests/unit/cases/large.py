"""Tensors large enough that kernels cut them into tiles and into pieces for several cores."""

import numpy as np

from .chains import Chain
from .elementwise import FRACTIONAL, binary_case, rounded
from .movement import distinct
from .products import addmm_case, matmul_case, values
from .reductions import axes_word, moderate, reduction_case, softmax_case
from .reference import BOOL, COMPLEX, Tensor, cast, precise, random_values, working


def folds(suite):
    rng = suite.rng
    for dtype, shape, subsets in [
            ("float32", (410, 520), (None, (0,), (1,))), ("uint8", (900, 1000), (None, (0,), (1,))),
            ("float16", (3, 90001), ((0,), (1,))), ("bfloat16", (90001, 3), ((0,), (1,))),
            ("int64", (17, 19, 23, 29), ((0, 2), (1, 3), (3,), (0, 1, 2))),
            ("float64", (50, 7, 600), ((1,), (0, 2)))]:
        x = moderate(rng, dtype, shape)
        for op in ("sum", "mean", "max", "min", "var", "logsumexp", "any", "all"):
            for axes in subsets:
                reduction_case(suite, "large/%s/%s/axes-%s" % (op, dtype, axes_word(axes)), op, x,
                               axes, False)
        for op in ("argmax", "argmin"):
            for axis in (None, 0, len(shape) - 1):
                suite.case("large/%s/%s/axis-%s" % (op, dtype, axis), op, [x],
                           Tensor(getattr(np, op)(x.a, axis=axis), "uint32"),
                           axes="all" if axis is None else str(axis), keepdims=0)
    late = np.zeros(300000)
    late[299999], late[7] = np.nan, np.inf
    for op in ("max", "min", "sum"):
        reduction_case(suite, "large/%s/late-nan" % op, op, Tensor(late, "float32"), None, False)
    for op in ("argmax", "argmin"):
        suite.case("large/%s/late-nan" % op, op, [Tensor(late, "float32")],
                   Tensor(299999, "uint32"), axes="all", keepdims=0)
    for dtype, shape, axes in (("float32", (30, 9001), (1,)), ("float16", (9001, 30), (0,)),
                               ("float64", (40, 30, 101), (0, 2)), ("bfloat16", (5, 70000), (1,))):
        softmax_case(suite, "large/softmax/%s/%s" % (dtype, axes_word(axes)),
                     Tensor(rng.standard_normal(shape) * 4, dtype), axes)


def elementwise(suite):
    rng = suite.rng
    for dtype, a, b in (("float32", (800, 900), (900,)), ("bfloat16", (800, 900), (800, 1)),
                        ("uint8", (1000, 1200), (1000, 1200)), ("int32", (100, 1, 90), (80, 90))):
        for op in ("add", "maximum", "less", "divide"):
            binary_case(suite, "large/%s/%s" % (op, dtype), op, random_values(rng, dtype, a),
                        random_values(rng, dtype, b))
    for dtype in ("float32", "float16"):
        x = Tensor(rng.uniform(-8, 8, (330, 331)), dtype)
        for op in ("exp", "tanh", "erf", "sigmoid"):
            suite.case("large/%s/%s" % (op, dtype), op, [x],
                       Tensor(FRACTIONAL[op](precise(x)), dtype), rounded(dtype))
    for source, target in (("float32", "bfloat16"), ("float32", "float16"), ("float16", "float32"),
                           ("int64", "float32"), ("float64", "int32"), ("uint8", BOOL)):
        x = moderate(rng, source, (210000,))
        suite.case("large/astype/%s/%s" % (source, target), "astype", [x], cast(x, target),
                   dtype=target)
    x, y = moderate(rng, "float32", (700, 800)), moderate(rng, "float32", (800,))
    chain = Chain([x, y])
    total = Tensor(x.a + y.a, "float32")
    chain.step("add", [0, 1], total)
    chain.step("multiply", [2, 0], Tensor(total.a * x.a, "float32"))
    chain.step("transpose", [3], chain.registers[3].map(lambda a: a.T), axes="all")
    chain.step("transpose", [2], total.map(lambda a: a.T), axes="all")
    chain.step("subtract", [4, 5], Tensor(chain.registers[4].a - total.a.T, "float32"))
    chain.step("max", [6], chain.registers[6].map(lambda a: a.max(axis=1)), axes=[1], keepdims=0)
    chain.add_to(suite, "large/chain/float32", "value")
    condition = random_values(rng, BOOL, (800, 1))
    a, b = moderate(rng, "float16", (800, 700)), moderate(rng, "float16", (700,))
    suite.case("large/where/float16", "where", [condition, a, b],
               Tensor(np.where(condition.a, working(a), working(b)), "float16"))


def movement(suite):
    rng = suite.rng
    for dtype in ("uint8", "float16", "float32", COMPLEX):
        x = distinct(dtype, (310, 7, 101))
        for axes in ((2, 1, 0), (1, 0, 2), (0, 2, 1)):
            chain = Chain([x])
            chain.step("transpose", [0], x.map(lambda a: a.transpose(axes)), axes=axes)
            chain.step("contiguous", [1], chain.registers[1])
            chain.add_to(suite, "large/contiguous/%s/%d%d%d" % ((dtype,) + axes))
        chain = Chain([x])
        chain.step("slice", [0], x.map(lambda a: a[::-1, :, 3::2]), index="e:e:-1,0:e:1,3:e:2")
        flat = chain.registers[1].map(lambda a: a.reshape(-1))
        chain.step("reshape", [1], flat, shape=[-1])
        chain.add_to(suite, "large/reshape/" + dtype)
        index = Tensor(rng.integers(-310, 310, (700,)), "int32")
        suite.case("large/take/%s/rows" % dtype, "take", [x, index],
                   x.map(lambda a: np.take(a, index.a, 0)), axis=0)
        index = Tensor(rng.integers(0, 101, (90,)), "uint16")
        suite.case("large/take/%s/columns" % dtype, "take", [x, index],
                   x.map(lambda a: np.take(a, index.a, 2)), axis=2)
        index = Tensor(rng.integers(-7, 7, (310, 5, 101)), "int16")
        suite.case("large/take_along_axis/" + dtype, "take_along_axis", [x, index],
                   x.map(lambda a: np.take_along_axis(a, index.a.astype(np.int64), 1)), axis=1)
        for axis in range(3):
            suite.case("large/concatenate/%s/%d" % (dtype, axis), "concatenate", [x, x],
                       x.map(lambda a: np.concatenate([a, a], axis)), axis=axis)


def products(suite):
    rng = suite.rng
    for dtype in ("float16", "bfloat16", "float32", "float64", COMPLEX):
        for name, a, b in (("square", (190, 200), (200, 210)), ("batch", (12, 40, 50), (50, 45)),
                           ("tall", (3000, 40), (40, 7)), ("row", (5000,), (5000, 31)),
                           ("column", (31, 5000), (5000,)), ("inner", (2, 9000), (9000, 3))):
            matmul_case(suite, "large/matmul/%s/%s" % (dtype, name), values(rng, dtype, a),
                        values(rng, dtype, b))
        addmm_case(suite, "large/addmm/" + dtype, values(rng, dtype, (130,)),
                   values(rng, dtype, (90, 110)), values(rng, dtype, (110, 130)), 0.5, 2)


def write(suite):
    folds(suite)
    elementwise(suite)
    movement(suite)
    products(suite)
