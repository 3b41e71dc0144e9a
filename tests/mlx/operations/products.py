"""Products."""

import math

import mlx.core as mx
import numpy as np

from draw import FLOATS
from operations.case import (Case, op, eps, largest, compatible, product_floor, sum_floor, coarser, DIFFERENTIABLE, SINGLE)


@op("matmul")
def matmul(d, name):
    dtype = d.dtype(DIFFERENTIABLE)
    batch = d.broadcast(2, 2)
    m, k, n = d.int(0 if d.chance(0.1) else 1, 9), d.int(0 if d.chance(0.1) else 1, 9), d.int(1, 9)
    if d.chance(0.1):
        m, k, n = d.int(1, 90), d.int(1, 90), d.int(1, 90)
    left, right = batch[0] + (m, k), batch[1] + (k if d.chance(0.97) else k + 1, n)
    if d.chance(0.1):
        left = (k,)
    if d.chance(0.1):
        right = (k,)
    a = d.tensor(left, dtype, "tame")
    b = d.tensor(right, dtype if d.chance(0.9) else d.dtype(DIFFERENTIABLE), "tame")
    return Case([a, b], mx.matmul, d.lb.matmul, ulp=4, floor=product_floor(a, b, coarser(dtype, b.dtype), k), grads=True)



@op("addmm")
def addmm(d, name):
    dtype = d.of(DIFFERENTIABLE)
    m, k, n = d.int(1, 9), d.int(0 if d.chance(0.1) else 1, 9), d.int(1, 9)
    batch = d.shape(0, 1)
    a, b = d.tensor(batch + (m, k), dtype, "tame"), d.tensor((k, n), dtype, "tame")
    c = d.tensor(d.of([(m, n), (n,), (m, 1), ()]), dtype, "tame")
    alpha, beta = d.of([1.0, 0.5, -2.0]), d.of([1.0, 0.0, 0.25])
    d.say(alpha=alpha, beta=beta)
    return Case([c, a, b], lambda c, a, b: mx.addmm(c, a, b, alpha, beta), lambda c, a, b: d.lb.addmm(c, a, b, alpha, beta), ulp=4,
                floor=4 * product_floor(a, b, dtype, k) + 4 * eps(dtype) * largest(c.a), grads=True)


@op("gather_mm")
def gather_mm(d, name):
    dtype = "float32"  # MLX has it of no other on the CPU
    left, right = d.shape(0, 2, 3), d.shape(0, 2, 3)
    m, k, n = d.int(1, 6), d.int(1, 6), d.int(1, 6)
    a, b = d.tensor(left + (m, k), dtype, "tame"), d.tensor(right + (k, n), dtype, "tame")
    if 0 in left + right:
        return None
    shapes = d.broadcast(2, 2)
    if not compatible(shapes):
        return None
    i = d.tensor(shapes[0], "uint32", a=d.rng.integers(0, math.prod(left), shapes[0]).astype("uint32"))
    j = d.tensor(shapes[1], "uint32", a=d.rng.integers(0, math.prod(right), shapes[1]).astype("uint32"))
    return Case([a, b, i, j], lambda a, b, i, j: mx.gather_mm(a, b, i, j), lambda a, b, i, j: d.lb.gather_mm(a, b, i, j), ulp=4,
                floor=product_floor(a, b, dtype, k))


@op("block_masked_mm")
def block_masked_mm(d, name):
    size = 32
    m, k, n = d.int(1, 70), d.int(1, 70), d.int(1, 70)
    a, b = d.tensor((m, k), "float32", "tame"), d.tensor((k, n), "float32", "tame")
    of = lambda n: -(-n // size)
    dtype = d.of(["bool", "float32"])
    masks = [d.tensor((of(r), of(c)), dtype, "tame") for r, c in ((m, n), (m, k), (k, n))]
    return Case([a, b] + masks, lambda a, b, o, l, r: mx.block_masked_mm(a, b, size, o, l, r),
                lambda a, b, o, l, r: d.lb.block_masked_mm(a, b, size, o, l, r), ulp=4,
                floor=product_floor(a, b, "float32", k) * 8)


@op("segmented_mm")
def segmented_mm(d, name):
    m, k, n, batch = d.int(1, 6), d.int(1, 20), d.int(1, 6), d.shape(1, 2, 3)
    dtype = d.of(["float32", "float16", "bfloat16"])
    a, b = d.tensor((m, k), dtype, "tame"), d.tensor((k, n), dtype, "tame")
    ends = np.sort(d.rng.integers(0, k + 1, batch + (2,)), axis=-1).astype("uint32")
    s = d.tensor(ends.shape, "uint32", a=ends)
    return Case([a, b, s], lambda a, b, s: mx.segmented_mm(a, b, s), d.lb.segmented_mm, ulp=4, floor=product_floor(a, b, dtype, k))


@op("hadamard_transform")
def hadamard(d, name):
    dtype = d.of(SINGLE)
    n = d.of([1, 2, 4, 8, 12, 16, 20, 28, 24, 56, 3 if d.chance(0.1) else 32])
    x = d.tensor(d.shape(0, 2) + (n,), dtype, "tame")
    scale = d.of([None, 0.5, 1.0])
    return Case([x], lambda m: mx.hadamard_transform(m, scale), lambda l: d.lb.hadamard_transform(l, scale or 0.0), ulp=4,
                floor=8 * eps(dtype) * largest(x.a) * n, grads=True)


@op("tensordot")
def tensordot(d, name):
    dtype = d.of(FLOATS)
    shape = d.shape(1, 3, 3)
    n = d.int(0, len(shape))
    a = d.tensor(d.shape(0, 2, 3) + shape[:n], dtype, "tame")
    b = d.tensor(shape[:n] + d.shape(0, 2, 3), dtype, "tame")
    left, right = list(range(len(a.shape) - n, len(a.shape))), list(range(n))
    d.say(n=n)
    return Case([a, b], lambda a, b: mx.tensordot(a, b, [left, right]), lambda a, b: d.lb.tensordot(a, b, left, right), ulp=4,
                floor=product_floor(a, b, dtype, math.prod(shape[:n])))


@op("inner", "outer", "kron")
def inner(d, name):
    dtype = d.of(FLOATS)
    a, b = d.tensor(d.shape(0, 3, 3), dtype, "tame"), d.tensor(d.shape(0, 3, 3), dtype, "tame")
    if name == "inner" and a.shape and b.shape and d.chance(0.9):
        b = d.tensor(b.shape[:-1] + a.shape[-1:], dtype, "tame")
    return Case([a, b], getattr(mx, name), getattr(d.lb, name), ulp=4, floor=product_floor(a, b, dtype, max(a.shape or (1,))))


@op("vecdot")
def vecdot(d, name):
    dtype, shape = d.of(DIFFERENTIABLE[:4]), d.shape(1, 3, 4)
    a, b = d.tensor(shape, dtype, "tame"), d.tensor(shape, dtype, "tame")
    return Case([a, b], lambda a, b: mx.vecdot(a, b),
                lambda a, b: d.lb.einsum(b"...i,...i->...", 2, d.lb.pointers([d.lb.conjugate(a), b])), ulp=4,
                floor=product_floor(a, b, dtype, shape[-1]))


@op("einsum")
def einsum(d, name):
    letters = "abcdef"
    sizes = {c: d.int(1, 4) for c in letters}
    dtype = d.of(FLOATS)
    terms = ["".join(d.rng.permutation(list(letters))[:d.int(0, 3)]) for _ in range(d.int(1, 4))]
    used = sorted(set("".join(terms)))
    out = "".join(d.rng.permutation(used)[:d.int(0, len(used))]) if used else ""
    spec = ",".join(terms) + "->" + out
    xs = [d.tensor(tuple(sizes[c] for c in t), dtype, "tame") for t in terms]
    n = math.prod(sizes[c] for c in used)
    d.say(spec=spec)
    return Case(xs, lambda *m: mx.einsum(spec, *m), lambda *l: d.lb.einsum(spec.encode(), len(l), d.lb.pointers(l)), ulp=4,
                floor=sum_floor(math.prod(max(largest(x.a), 1) for x in xs) * n, n + 2 * len(xs), dtype))
