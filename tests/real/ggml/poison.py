#!/usr/bin/python3
"""poison.py MODEL TENSOR FILE: a copy of a GGUF file in which one element of a float32 tensor, the third, is NaN."""
import struct
import sys

SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
at = 0


def number(form):
    global at
    value, = struct.unpack_from("<" + form, data, at)
    at += struct.calcsize("<" + form)
    return value


def text():
    global at
    n = number("Q")
    at += n
    return data[at - n:at].decode()


def skip(kind):
    global at
    if kind == 8:
        text()
    elif kind == 9:
        kind, n = number("I"), number("Q")
        for _ in range(n):
            skip(kind)
    else:
        at += SIZES[kind]


model, wanted, out = sys.argv[1:]
data = bytearray(open(model, "rb").read())
at = 8
tensors, pairs = number("Q"), number("Q")
for _ in range(pairs):
    text()
    skip(number("I"))
found = None
for _ in range(tensors):
    name = text()
    shape = [number("Q") for _ in range(number("I"))]
    kind, offset = number("I"), number("Q")
    if name == wanted:
        assert kind == 0
        found = offset
begin = (at + 31) // 32 * 32
struct.pack_into("<f", data, begin + found + 8, float("nan"))
open(out, "wb").write(data)
