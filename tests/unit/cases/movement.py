"""Views, copies, joins and gathers: the elements must arrive unchanged."""

import itertools

import numpy as np

from .elementwise import shape_name
from .reference import DTYPES, INTEGERS, Tensor, promote, cast, random_values, specials


def distinct(dtype, shape):
    """Elements that differ from their neighbours, as far as the dtype can."""
    n = int(np.prod(shape, dtype=np.int64))
    values = np.arange(n)
    if dtype == "bool":
        return Tensor((values * 7 % 5 < 2).reshape(shape), dtype)
    return Tensor((values % 127).reshape(shape), dtype)


def whole(dtype, shape):
    return Tensor(np.arange(int(np.prod(shape, dtype=np.int64))).reshape(shape), dtype)


def view_words(base, result):
    """Offset and strides in elements when NumPy gave a view; nothing otherwise."""
    if result.size == 0 or not np.shares_memory(base, result):
        return {}
    at = result.__array_interface__["data"][0] - base.__array_interface__["data"][0]
    words = {"view": at // base.itemsize}
    if result.ndim:
        words["vstrides"] = [s // base.itemsize for s in result.strides]
    return words


def index_word(index):
    """Python's index as the runner reads it: start:stop:step, @i, rest, new; e is LB_END."""
    words = []
    for part in index if isinstance(index, tuple) else (index,):
        if part is Ellipsis:
            words.append("rest")
        elif part is None:
            words.append("new")
        elif isinstance(part, slice):
            step = 1 if part.step is None else part.step
            start = part.start if part.start is not None else ("e" if step < 0 else 0)
            words.append("%s:%s:%d" % (start, "e" if part.stop is None else part.stop, step))
        else:
            words.append("@%d" % part)
    return ",".join(words)


def view(suite, name, op, x, f, **args):
    result = f(x.a)
    suite.case("%s/%s" % (op, name), op, [x], x.map(lambda _: result), **args,
               **view_words(x.a, result))


S = slice
SLICES = [
    ((10,), [(S(2, 7),), (S(None, None, 2),), (S(None, None, -1),), (S(8, 1, -3),), (S(-3, None),),
             (S(None, -3),), (S(5, 5),), (S(7, 2),), (S(-100, 100),), (S(100, None),), (3,), (-1,),
             (S(None, None, 100),), (S(None, None, -100),), (S(-1, -11, -1),), (S(-2, 0, -2),),
             (S(100, -100, -4),), (None, S(1, 3)), (Ellipsis,), (Ellipsis, None)]),
    ((4, 5, 6), [(S(1, 3), S(None, None, 2), S(None, None, -1)), (2,), (S(None), -1), (-4, -5, -6),
                 (Ellipsis, 0), (0, Ellipsis), (S(None, None, -2), Ellipsis, S(4, 1, -1)),
                 (1, None, Ellipsis, None, 2), (S(0, 0),), (S(None), S(3, 1, -1), 5),
                 (None, None, S(3, None)), (S(None), S(None), S(1, None, 3))]),
    ((0, 3), [(S(None, None, -1),), (S(None), 1), (S(1, 2), S(None, None, 2))]),
    ((), [(Ellipsis,), (None,), (None, Ellipsis, None)]),
    ((2,) * 8, [(1, S(None, None, -1), 0, Ellipsis, S(1, None)), (S(None, None, -1),) * 8]),
]


def slices(suite):
    for shape, indices in SLICES:
        for n, index in enumerate(indices):
            x = whole("float32", shape)
            view(suite, "%s/%d" % (shape_name(shape), n), "slice", x, lambda a: a[index],
                 index=index_word(index))
    for dtype in DTYPES:
        view(suite, "dtype-" + dtype, "slice", distinct(dtype, (7, 9)), lambda a: a[::-2, 1:8:3],
             index=index_word((S(None, None, -2), S(1, 8, 3))))


def permutations(suite):
    for rank in range(5):
        x = whole("int32", (2, 3, 4, 5)[:rank])
        for axes in itertools.permutations(range(rank)):
            view(suite, "rank%d/%s" % (rank, "".join(map(str, axes))), "transpose", x,
                 lambda a: a.transpose(axes), axes=list(axes) if rank else "none")
    for dtype in DTYPES:
        view(suite, "all/" + dtype, "transpose", distinct(dtype, (3, 37, 5)), lambda a: a.T,
             axes="all")
    view(suite, "negative", "transpose", whole("int32", (2, 3, 4)),
         lambda a: a.transpose(-1, 0, -2), axes=[-1, 0, -2])
    view(suite, "rank8", "transpose", whole("int32", (2,) * 8),
         lambda a: a.transpose(7, 2, 5, 0, 3, 6, 1, 4), axes=[7, 2, 5, 0, 3, 6, 1, 4])
    view(suite, "empty", "transpose", whole("int32", (2, 0, 4)), lambda a: a.T, axes="all")


def shapes(suite):
    reshapes = [((12,), (3, 4)), ((3, 4), (12,)), ((3, 4), (-1,)), ((3, 4), (2, -1, 2)),
                ((), (1, 1)), ((1,), ()), ((1, 1), (-1,)), ((0, 3), (0,)), ((0, 3), (5, 0)),
                ((2, 3, 4), (4, 3, 2)), ((2, 3, 4), (6, 4)), ((2, 3, 4), (2, 12)),
                ((256,), (2,) * 8), ((2,) * 8, (16, 16)), ((6,), (1, 6, 1)), ((2, 3), (2, 3))]
    for before, after in reshapes:
        view(suite, ("%s/%s" % (shape_name(before), shape_name(after))).replace("-1", "rest"),
             "reshape", whole("int32", before), lambda a: a.reshape(after),
             shape=list(after) if after else "none")
    for dtype in DTYPES:
        view(suite, "dtype-" + dtype, "reshape", distinct(dtype, (6, 4)), lambda a: a.reshape(3, 8),
             shape=[3, 8])
    for before, after in [((), ()), ((), (3,)), ((1,), (4,)), ((3, 1), (3, 4)), ((4,), (3, 4)),
                          ((3, 1), (2, 3, 4)), ((1, 1), (0, 5)), ((0,), (3, 0)), ((1,), (0,)),
                          ((1, 2, 1, 2), (2,) * 8)]:
        x = whole("int32", before)
        result = np.broadcast_to(x.a, after)
        words = view_words(x.a, result) if result.size else {}
        suite.case("broadcast_to/%s/%s" % (shape_name(before), shape_name(after)), "broadcast_to",
                   [x], x.map(lambda _: result), shape=list(after) if after else "none", **words)
    for before, axes in [((3,), (0,)), ((3,), (-1,)), ((3, 4), (0, 2)), ((3, 4), (1, -1)),
                         ((), (0,)), ((), (0, 1)), ((2, 0), (1,)), ((2, 2, 2), (0, 2, 4, 6, 7))]:
        view(suite, "%s/%s" % (shape_name(before), "_".join(map(str, axes))), "expand_dims",
             whole("int32", before), lambda a: np.expand_dims(a, axes), axes=list(axes))
    for before, axes in [((1, 3, 1), None), ((1, 3, 1), (0,)), ((1, 3, 1), (-1,)), ((1, 1), None),
                         ((3, 4), None), ((), None), ((1, 3, 1), (0, 2)), ((1, 0, 1), (2,)),
                         ((1, 2) * 4, (0, 4, -2))]:
        view(suite, "%s/%s" % (shape_name(before), axes and "_".join(map(str, axes))), "squeeze",
             whole("int32", before), lambda a: np.squeeze(a, axes), axes=list(axes or ["all"]))
    for before, start, end, after in [((2, 3, 4), 0, -1, (24,)), ((2, 3, 4), 0, 1, (6, 4)),
                                      ((2, 3, 4), 1, 2, (2, 12)), ((2, 3, 4), 1, 1, (2, 3, 4)),
                                      ((2, 3, 4), -2, -1, (2, 12)), ((5,), 0, 0, (5,)),
                                      ((2, 0, 3), 0, 1, (0, 3)), ((), 0, -1, (1,))]:
        view(suite, "%s/%d,%d" % (shape_name(before), start, end), "flatten",
             whole("int32", before), lambda a: a.reshape(after), start=start, end=end)
    for name, n, shape, strides, offset in [
            ("diagonal", 25, (5,), (6,), 0), ("window", 10, (8, 3), (1, 1), 0),
            ("reversed", 10, (10,), (-1,), 9), ("repeat", 4, (3, 4), (0, 1), 0),
            ("scalar", 7, (), (), 3), ("empty", 3, (0, 5), (100, 100), 2),
            ("mixed", 60, (3, 4, 2), (-20, 3, 1), 45), ("rank8", 300, (2,) * 8, (1,) * 8, 5)]:
        x = whole("int32", (n,))
        result = np.lib.stride_tricks.as_strided(
            x.a[offset:], shape, [4 * s for s in strides])
        suite.case("as_strided/" + name, "as_strided", [x], x.map(lambda _: result),
                   shape=list(shape) or "none", strides=list(strides) or "none", offset=offset,
                   **(view_words(x.a, result)))
    for shape in [(), (0,), (5,), (3, 4)]:
        view(suite, shape_name(shape), "stop_gradient", whole("int32", shape), lambda a: a[...])
        x, others = distinct("float32", shape), [distinct("int8", (n,)) for n in range(1, 5)]
        suite.case("depends/" + shape_name(shape), "depends", [x] + others, x.map(lambda a: a))
    for dtype in DTYPES:
        for shape in ((), (0,), (5,), (3, 1, 4), (2,) * 8):
            x = distinct(dtype, shape)
            suite.case("contiguous/%s/%s" % (dtype, shape_name(shape)), "contiguous", [x], x)
        suite.case("contiguous/%s/specials" % dtype, "contiguous", [specials(dtype)],
                   specials(dtype))


def joins(suite):
    rng = suite.rng
    for dtype in DTYPES:
        for n, (parts, axis) in enumerate([
                ([(2,), (3,)], 0), ([(2, 3), (4, 3), (1, 3)], 0), ([(2, 3), (2, 1)], 1),
                ([(2, 3, 2), (2, 0, 2), (2, 4, 2)], -2), ([(3,)], 0), ([(0,), (0,)], 0)]):
            xs = [random_values(rng, dtype, s) for s in parts]
            suite.case("concatenate/%s/%d" % (dtype, n), "concatenate", xs,
                       xs[0].map(lambda _: np.concatenate([x.a for x in xs], axis)), axis=axis)
        for shape, count, axis in (((2, 3), 2, 0), ((2, 3), 3, 2), ((2, 3), 2, -1), ((), 4, 0),
                                   ((0,), 2, 1), ((2,) * 7, 2, 3)):
            xs = [random_values(rng, dtype, shape) for _ in range(count)]
            suite.case("stack/%s/%s/%dx%d" % (dtype, shape_name(shape), count, axis), "stack", xs,
                       xs[0].map(lambda _: np.stack([x.a for x in xs], axis)), axis=axis)
        x = distinct(dtype, (6, 4))
        for n, axis in ((3, 0), (2, 1), (2, -1), (1, 0), (6, 0)):
            for part in {0, n - 1}:
                view(suite, "%s/%d,%d,%d" % (dtype, n, axis, part), "split", x,
                     lambda a: np.split(a, n, axis)[part], n=n, axis=axis, part=part)
    for a, b in (("float16", "float32"), ("int8", "uint8"), ("bool", "bfloat16"),
                 ("uint64", "int32"), ("float32", "complex64")):
        xs = [random_values(rng, a, (3,)), random_values(rng, b, (2,))]
        dtype = promote(a, b)
        suite.case("concatenate/%s+%s" % (a, b), "concatenate", xs, Tensor(np.concatenate(
            [cast(x, dtype).a for x in xs]), dtype), axis=0)
    many = [whole("int32", (i % 4, 2)) for i in range(40)]
    suite.case("concatenate/many", "concatenate", many,
               Tensor(np.concatenate([x.a for x in many]), "int32"), axis=0)


def gathers(suite):
    rng = suite.rng
    for dtype in DTYPES:
        x = distinct(dtype, (5, 6, 7))
        for axis in (0, 1, 2, -1):
            n = x.shape[axis]
            for shape in ((), (4,), (2, 3), (0,)):
                index = Tensor(rng.integers(-n, n, shape), "int32")
                suite.case("take/%s/axis%d/%s" % (dtype, axis, shape_name(shape)), "take",
                           [x, index], x.map(lambda a: np.take(a, index.a, axis)), axis=axis)
            shape = list(x.shape)
            shape[axis] = 4
            index = Tensor(rng.integers(-n, n, shape), "int64")
            suite.case("take_along_axis/%s/axis%d" % (dtype, axis), "take_along_axis", [x, index],
                       x.map(lambda a: np.take_along_axis(a, index.a, axis)), axis=axis)
    x = whole("float32", (11, 3))
    for dtype in INTEGERS:
        index = Tensor([0, 10, 5, 5, 1], dtype)
        suite.case("take/index-" + dtype, "take", [x, index], x.map(lambda a: a[index.a]), axis=0)
        along = Tensor([[0, 10, 5], [5, 1, 0]], dtype)
        suite.case("take_along_axis/index-" + dtype, "take_along_axis", [x, along],
                   x.map(lambda a: np.take_along_axis(a, along.a.astype(np.int64), 0)), axis=0)
    for shape, index_shape, axis in (((1, 4), (3, 2), 1), ((3, 4), (1, 2), 1), ((5,), (0,), 0),
                                     ((2,) * 8, (2, 1) * 4, 2)):
        x = whole("float32", shape)
        index = Tensor(rng.integers(-shape[axis], shape[axis], index_shape), "int32")
        suite.case("take_along_axis/broadcast/%s,%s" % (shape_name(shape),
                   shape_name(index_shape)), "take_along_axis", [x, index],
                   x.map(lambda a: np.take_along_axis(a, index.a, axis)), axis=axis)


def write(suite):
    slices(suite)
    permutations(suite)
    shapes(suite)
    joins(suite)
    gathers(suite)
