"""In the order and with the rounding of other runtimes: products and running sums in steps, partitions, random bits."""

import numpy as np

from .reference import HALVES, REAL, Tensor, kind, random_values
from .elementwise import shape_name


def rounded(values, dtype):
    return Tensor(values, dtype).a.astype(np.float32)


def products(suite):
    for dtype in HALVES:
        for a, b in (((3, 40), (40, 7)), ((2, 1, 33), (33, 65)), ((2, 3, 8), (2, 8, 4)), ((1, 0), (0, 2))):
            x, y = (Tensor(suite.rng.standard_normal(shape), dtype) for shape in (a, b))
            left, right = x.a.astype(np.float32), y.a.astype(np.float32)
            total = np.zeros(np.matmul(left, right).shape, np.float32)
            for k in range(a[-1]):
                term = rounded(left[..., k, np.newaxis] * right[..., k, np.newaxis, :], dtype)
                total = rounded(total + term, dtype)
            suite.case("matmul_in_steps/%s/%s,%s" % (dtype, shape_name(a), shape_name(b)), "matmul_in_steps",
                       [x, y], Tensor(total, dtype))


SCANS = [np.add, np.multiply, np.maximum, np.minimum]


def first(number, dtype):
    if number < 2:
        return number
    if kind(dtype) == "b":
        return number == 3
    if kind(dtype) == "f":
        return -np.inf if number == 2 else np.inf
    limits = np.iinfo(dtype)
    return limits.min if number == 2 else limits.max


def scans(suite):
    for dtype in REAL:
        for shape, axis in (((1,), 0), ((40,), 0), ((5, 7), 0), ((4, 9, 3), 1), ((0, 4), 1)):
            x = random_values(suite.rng, dtype, shape)
            for number in range(2 if kind(dtype) == "b" else 0, 4):
                for reverse, inclusive in ((0, 1), (1, 0)):
                    a = np.moveaxis(x.a, axis, 0)
                    a = a[::-1] if reverse else a
                    so_far = np.full(a.shape[1:], first(number, dtype), x.a.dtype)
                    y = np.empty_like(a)
                    for k in range(a.shape[0]):
                        wide = np.float32 if dtype == "float16" else a.dtype
                        step = SCANS[number](so_far.astype(wide), a[k].astype(wide))
                        after = Tensor(step, dtype).a
                        y[k] = after if inclusive else so_far
                        so_far = after
                    y = np.moveaxis(y[::-1] if reverse else y, 0, axis)
                    suite.case("scan/%s/%s,%d/%d/%d" % (dtype, shape_name(shape), axis, number, reverse), "scan",
                               [x], x.map(lambda _, y=y: y), kind=number, axis=axis, reverse=reverse,
                               inclusive=inclusive)


def nth_element(n, kth, less):
    """The order in which std::nth_element() of GNU's C++ library leaves 0 … n - 1."""
    v = list(range(n))
    begin, end = 0, n
    while end - begin > 3:
        a, b, c = begin + 1, begin + (end - begin) // 2, end - 1
        if less(v[a], v[b]):
            median = b if less(v[b], v[c]) else c if less(v[a], v[c]) else a
        else:
            median = a if less(v[a], v[c]) else c if less(v[b], v[c]) else b
        v[begin], v[median] = v[median], v[begin]
        i, j, pivot = begin + 1, end, begin
        while True:
            while less(v[i], v[pivot]):
                i += 1
            j -= 1
            while less(v[pivot], v[j]):
                j -= 1
            if i >= j:
                break
            v[i], v[j] = v[j], v[i]
            i += 1
        begin, end = (i, end) if i <= kth else (begin, i)
    for i in range(begin + 1, end):
        x, j = v[i], i
        while j > begin and less(x, v[j - 1]):
            v[j] = v[j - 1]
            j -= 1
        v[j] = x
    return v


def partitions(suite):
    for dtype in REAL:
        if dtype in ("int64", "uint64"):
            continue
        for n in (1, 2, 3, 4, 10, 60):
            x = random_values(suite.rng, dtype, (n,))
            a = x.a.tolist()
            for kth in sorted({0, n // 3, n - 1}):
                order = nth_element(n, kth, lambda i, j, a=a: a[i] < a[j])
                suite.case("partition/%s/%d,%d" % (dtype, n, kth), "partition", [x],
                           x.map(lambda y, order=order: y[order]), "value", kth=kth, axis=0)
                order = nth_element(n, kth, lambda i, j, a=a: (a[i], i) < (a[j], j))
                suite.case("argpartition/%s/%d,%d" % (dtype, n, kth), "argpartition", [x],
                           Tensor(order, "uint32"), kth=kth, axis=0)
            if dtype in ("int16", "float32"):  # from the end
                order = nth_element(n, n - 1, lambda i, j, a=a: (a[i], i) < (a[j], j))
                suite.case("argpartition/%s/%d,-1" % (dtype, n), "argpartition", [x],
                           Tensor(order, "uint32"), kth=-1, axis=0)


def threefry(key, first, second):
    mask = 0xFFFFFFFF
    keys = [key[0], key[1], key[0] ^ key[1] ^ 0x1BD11BDA]
    x, y = (first + keys[0]) & mask, (second + keys[1]) & mask
    for i in range(5):
        for turn in ((13, 15, 26, 6), (17, 29, 16, 24))[i % 2]:
            x = (x + y) & mask
            y = ((y << turn | y >> (32 - turn)) & mask) ^ x
        x = (x + keys[(i + 1) % 3]) & mask
        y = (y + keys[(i + 2) % 3] + i + 1) & mask
    return x, y


def random_bits(suite):
    for width in (1, 2, 4):
        for count in (1, 2, 3, 5, 6, 31):
            keys = suite.rng.integers(0, 2**32, (2, 2))
            result = b""
            for key in keys.tolist():
                words = [0] * ((width * count + 3) // 4)
                half = len(words) // 2
                odd = len(words) % 2
                for i in range(half):
                    words[i], words[i + half + odd] = threefry(key, i, i + half + odd)
                if odd:
                    words[half] = threefry(key, half, 0)[0]
                result += np.array(words, "<u4").tobytes()[:width * count]
            y = np.frombuffer(result, "<u%d" % width).reshape(2, count)
            dtype = "uint%d" % (8 * width)
            suite.case("random_bits/%d/%d" % (width, count), "random_bits", [Tensor(keys, "uint32")],
                       Tensor(y, dtype), shape=[count], dtype=dtype)


def bitcasts(suite):
    for before, after in (("float32", "uint16"), ("uint8", "int32"), ("int64", "float64"), ("bool", "uint8")):
        x = random_values(suite.rng, before, (3, 8))
        for name, y in (("rows", x), ("columns", x.map(lambda a: np.ascontiguousarray(a.T.reshape(6, 4))))):
            bits = np.ascontiguousarray(y.a).view(after)
            suite.case("bitcast/%s/%s/%s" % (before, after, name), "bitcast", [y], Tensor(bits, after), dtype=after)


def write(suite):
    products(suite)
    scans(suite)
    partitions(suite)
    random_bits(suite)
    bitcasts(suite)
