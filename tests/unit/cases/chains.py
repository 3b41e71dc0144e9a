"""Whole graphs evaluated at once: random chains of exact operations, and chains of views.

A chain's steps are words step=OP:REGISTERS:KEY=VALUE;… ; registers 0 … are the inputs, then one
a step; the last is the result. Each operation rounds on its own, so fusion must not show.
"""

import numpy as np

from .elementwise import binary_reference, shape_name
from .movement import distinct, index_word, view_words
from .reductions import axes_word
from .reference import (BOOL, DTYPES, FLOATS, HALVES, Tensor, Weak, cast, kind, promote,
                        random_values, specials, working)

BINARY = ["add", "subtract", "multiply", "maximum", "minimum"]
UNARY = {"negative": np.negative, "abs": np.abs, "square": np.square, "floor": np.floor}
DTYPES_OF_CHAINS = ["float32", "float16", "bfloat16", "float64", "int32", "uint8", "int64"]


class Chain:
    def __init__(self, inputs):
        self.inputs, self.registers, self.steps = list(inputs), list(inputs), []

    def step(self, op, registers, result, **args):
        words = ";".join("%s=%s" % (k, ",".join(map(str, v)) if isinstance(v, (list, tuple)) else v)
                         for k, v in args.items())
        self.steps.append("%s:%s:%s" % (op, ",".join(map(str, registers)), words))
        self.registers.append(result)

    def add_to(self, suite, name, tol="exact", **words):
        if not self.steps:
            return
        suite.case(name, "chain", self.inputs, self.registers[-1], tol,
                   step="|".join(self.steps), **words)


def elementwise_step(rng, chain):
    registers = chain.registers
    last = len(registers) - 1
    a, b = last, int(rng.integers(0, len(registers)))
    if rng.integers(0, 2):
        a, b = b, a
    choice = rng.integers(0, 10)
    x, y = registers[a], registers[b]
    if choice < 5:
        op = str(rng.choice(BINARY))
        dtype = promote(x.dtype, y.dtype)
        if dtype == BOOL:
            return
        result, _ = binary_reference(op, dtype, cast(x, dtype), cast(y, dtype))
        chain.step(op, [a, b], result)
    elif choice < 7:
        x = registers[last]
        if x.dtype == BOOL:
            return
        op = str(rng.choice(list(UNARY)))
        f = UNARY[op]
        if op == "floor" and kind(x.dtype) in "ui":
            return
        chain.step(op, [last], Tensor(f(working(x)), x.dtype))
    elif choice < 8:
        x = registers[last]
        target = str(rng.choice(FLOATS[:3])) if kind(x.dtype) == "f" else "float32"
        chain.step("astype", [last], cast(x, target), dtype=target)
    elif choice < 9:
        dtype = promote(x.dtype, y.dtype)
        condition, _ = binary_reference("less", dtype, cast(x, dtype), cast(y, dtype))
        chain.step("less", [a, b], condition)
        c = len(registers) - 1
        chain.step("where", [c, a, b], Tensor(
            np.where(condition.a, cast(x, dtype).a, cast(y, dtype).a), dtype))
    else:
        x = registers[last]
        axis = 0 if x.a.ndim else None
        if axis is None:
            return
        chain.step("max", [last], x.map(lambda a: np.max(a, axis=0, keepdims=True)), axes=[0],
                   keepdims=1)


def elementwise_chains(suite):
    rng = suite.rng
    for n in range(240):
        dtype = DTYPES_OF_CHAINS[n % len(DTYPES_OF_CHAINS)]
        shape = [(), (7,), (3, 5), (4, 1, 6), (33, 70), (1,), (2, 3, 2, 3)][rng.integers(0, 7)]
        inputs = []
        for _ in range(rng.integers(1, 5)):
            keep = [size if rng.integers(0, 4) else 1 for size in shape]
            keep = keep[rng.integers(0, len(keep) + 1) if rng.integers(0, 3) == 0 else 0:]
            inputs.append(random_values(rng, dtype, tuple(keep)))
        chain = Chain(inputs)
        length = int(rng.integers(3, 30 if n % 8 else 120))
        for _ in range(length):
            elementwise_step(rng, chain)
            if np.isnan(working(chain.registers[-1])).any():
                break
        chain.add_to(suite, "chain/%s/%d" % (dtype, n), "value")
    for dtype in HALVES:
        x = specials(dtype)
        chain = Chain([x])
        for op in ("negative", "abs", "floor"):
            chain.step(op, [len(chain.registers) - 1],
                       Tensor(UNARY[op](working(chain.registers[-1])), dtype))
        chain.add_to(suite, "chain/%s/specials" % dtype)


def random_view(rng, chain):
    last = len(chain.registers) - 1
    x = chain.registers[last]
    a = x.a
    choice = rng.integers(0, 6)
    if choice == 0 and a.ndim > 1:
        axes = [int(i) for i in rng.permutation(a.ndim)]
        chain.step("transpose", [last], x.map(lambda a: a.transpose(axes)), axes=axes)
    elif choice in (1, 2) and a.ndim:
        index = []
        for size in a.shape:
            start, stop = sorted(int(v) for v in rng.integers(0, size + 1, 2))
            step = int(rng.integers(1, 3))
            kind_of = rng.integers(0, 4)
            if kind_of == 0 and size:
                index.append(int(rng.integers(-size, size)) if rng.integers(0, 3) == 0
                             else slice(None, None, -step))
            elif kind_of == 1 and stop - start > 1:
                index.append(slice(start, stop, step))
            else:
                index.append(slice(None))
        index = tuple(index)
        chain.step("slice", [last], x.map(lambda a: a[index]), index=index_word(index))
    elif choice == 3:
        shape = list(a.shape)
        if len(shape) > 1:
            at = int(rng.integers(0, len(shape) - 1))
            shape[at:at + 2] = [shape[at] * shape[at + 1]]
        elif len(shape) == 1 and shape[0] % 2 == 0 and shape[0]:
            shape = [2, shape[0] // 2]
        chain.step("reshape", [last], x.map(lambda a: a.reshape(shape)), shape=shape or "none")
    elif choice == 4 and a.ndim < 6:
        axis = int(rng.integers(0, a.ndim + 1))
        chain.step("expand_dims", [last], x.map(lambda a: np.expand_dims(a, axis)), axes=[axis])
        count = int(rng.integers(1, 4))
        shape = list(chain.registers[-1].shape)
        shape[axis] = count
        chain.step("broadcast_to", [last + 1],
                   chain.registers[-1].map(lambda a: np.broadcast_to(a, shape)), shape=shape)
    elif choice == 5 and 1 in a.shape:
        axis = a.shape.index(1)
        chain.step("squeeze", [last], x.map(lambda a: np.squeeze(a, axis)), axes=[axis])


def view_chains(suite):
    rng = suite.rng
    for n in range(300):
        dtype = DTYPES[n % len(DTYPES)]
        shape = [(4, 6), (3, 4, 5), (24,), (2, 3, 4, 2), (8, 1, 3)][rng.integers(0, 5)]
        x = distinct(dtype, shape)
        chain = Chain([x])
        for _ in range(int(rng.integers(2, 8))):
            random_view(rng, chain)
            if chain.registers[-1].a.size == 0 or chain.registers[-1].a.size > 20000:
                break
        chain.add_to(suite, "views/%s/%d" % (dtype, n),
                     **view_words(x.a, chain.registers[-1].a))
    for n in range(60):
        dtype = ["float32", "bfloat16", "int16"][n % 3]
        chain = Chain([distinct(dtype, (4, 6, 5))])
        for _ in range(4):
            random_view(rng, chain)
            if chain.registers[-1].a.size > 20000:
                break
        last = len(chain.registers) - 1
        x = chain.registers[last]
        chain.step("add", [last, last], Tensor(working(x) + working(x), dtype))
        if x.a.ndim:
            chain.step("max", [last + 1], chain.registers[-1].map(
                lambda a: np.max(a, axis=-1) if a.shape[-1] else a[..., 0:0].sum(-1)),
                axes=axes_word((-1,)), keepdims=0)
            if x.shape[-1] == 0:
                continue
        chain.add_to(suite, "views-then-math/%s/%d/%s" % (dtype, n, shape_name(x.shape)), "value")


def strong_scalars(suite):
    """What astype gives is no weak scalar, even if the dtype was right already."""
    x = random_values(suite.rng, "float16", (5,))
    chain = Chain([x, Weak(2.5)])
    chain.step("astype", [1], Tensor(2.5, "float32"), dtype="float32")
    chain.step("add", [0, 2], Tensor(x.a.astype(np.float32) + np.float32(2.5), "float32"))
    chain.add_to(suite, "chain/astype-of-weak-float")
    x = random_values(suite.rng, "int8", (5,))
    chain = Chain([x, Weak(2)])
    chain.step("astype", [1], Tensor(2, "int32"), dtype="int32")
    chain.step("add", [0, 2], Tensor(x.a.astype(np.int32) + 2, "int32"))
    chain.add_to(suite, "chain/astype-of-weak-int")


def write(suite):
    strong_scalars(suite)
    elementwise_chains(suite)
    view_chains(suite)
