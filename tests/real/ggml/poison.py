#!/usr/bin/env python3
"""poison.py IN.gguf OUT.gguf TENSOR OFFSET HEX: a copy of a model with other bytes at an offset into a tensor's data."""
import struct
import sys


def tensor_at(data, wanted):
    at = 8

    def take(form):
        nonlocal at
        value = struct.unpack_from("<" + form, data, at)[0]
        at += struct.calcsize("<" + form)
        return value

    def text():
        nonlocal at
        n = take("Q")
        at += n
        return data[at - n : at].decode()

    def skip(kind):
        if kind == 8:
            text()
        elif kind == 9:
            of = take("I")
            for _ in range(take("Q")):
                skip(of)
        else:
            take({0: "B", 1: "B", 2: "H", 3: "H", 4: "I", 5: "I", 6: "f", 7: "B", 10: "Q", 11: "Q", 12: "d"}[kind])

    n_tensors, n_values = take("Q"), take("Q")
    align = 32
    for _ in range(n_values):
        key, kind = text(), take("I")
        if key == "general.alignment":
            align = struct.unpack_from("<I", data, at)[0]
        skip(kind)
    offset = None
    for _ in range(n_tensors):
        name = text()
        for _ in range(take("I")):
            take("Q")
        take("I")
        where = take("Q")
        if name == wanted:
            offset = where
    if offset is None:
        sys.exit("poison.py: there is no tensor " + wanted)
    return (at + align - 1) // align * align + offset


source, target, name, offset, content = sys.argv[1:]
with open(source, "rb") as f:
    model = bytearray(f.read())
start = tensor_at(model, name) + int(offset)
model[start : start + len(content) // 2] = bytes.fromhex(content)
with open(target, "wb") as f:
    f.write(model)
