#!/usr/bin/python3
"""Writes files of every format that the runtime reads, and what is to come out of them.

files.py FOLDER          writes them, and two lists:
    good   FILE|TENSOR|DTYPE|SHAPE|EXPECTED     EXPECTED holds the row-major elements
    bad    FILE|words that the error must have
files.py --check FOLDER  reads what test_files has saved there with NumPy, and compares it with
                         NAME.expected beside each; the writers and the decoders of blocks here
                         follow the formats' documents, not the code under test.
"""

import json
import os
import struct
import sys
import zipfile

import numpy as np

DTYPES = {"bool": "?", "uint8": "u1", "uint16": "u2", "uint32": "u4", "uint64": "u8", "int8": "i1",
          "int16": "i2", "int32": "i4", "int64": "i8", "float16": "f2", "float32": "f4",
          "float64": "f8", "complex64": "c8"}
SAFETENSORS = {"bool": "BOOL", "uint8": "U8", "uint16": "U16", "uint32": "U32", "uint64": "U64",
               "int8": "I8", "int16": "I16", "int32": "I32", "int64": "I64", "float16": "F16",
               "float32": "F32", "float64": "F64", "complex64": "C64"}
rng = np.random.default_rng(3)


def values(dtype, shape):
    kind = np.dtype(DTYPES[dtype]).kind
    if kind == "b":
        return rng.integers(0, 2, shape).astype("?")
    if kind in "ui":
        info = np.iinfo(DTYPES[dtype])
        return rng.integers(info.min, info.max, shape, dtype=DTYPES[dtype], endpoint=True)
    x = rng.standard_normal(shape)
    return (x + 1j * rng.standard_normal(shape) if kind == "c" else x).astype(DTYPES[dtype])


class Folder:
    def __init__(self, path):
        self.path = path
        os.makedirs(path, exist_ok=True)
        self.good, self.bad = [], []

    def at(self, name):
        return os.path.join(self.path, name)

    def write(self, name, content):
        with open(self.at(name), "wb") as f:
            f.write(content)

    def expect(self, file, tensor, array, dtype=None):
        name = "expected-%d" % len(self.good)
        self.write(name, np.ascontiguousarray(array).tobytes())
        shape = ",".join(map(str, np.shape(array)))
        dtype = dtype or {np.dtype(v): k for k, v in DTYPES.items()}[array.dtype.newbyteorder("=")]
        self.good.append("%s|%s|%s|%s|%s" % (file, tensor, dtype, shape, name))

    def reject(self, file, content, words):
        self.write(file, content)
        self.bad.append("%s|%s" % (file, words))

    def finish(self):
        self.write("bad", ("\n".join(self.bad) + "\n").encode())
        self.write("good", ("\n".join(self.good) + "\n").encode())


# ---- .npy and .npz ----

def npy_bytes(header, data=b"", version=(1, 0), length=None):
    header = header.encode()
    size = len(header) if length is None else length
    return (b"\x93NUMPY" + bytes(version) +
            struct.pack("<H" if version[0] == 1 else "<I", size) + header + data)


def npy_header(descr="'<f4'", fortran="False", shape="(2,)"):
    return "{'descr': %s, 'fortran_order': %s, 'shape': %s, }\n" % (descr, fortran, shape)


def write_npy(folder):
    for dtype in DTYPES:
        for i, shape in enumerate([(), (0,), (7,), (3, 4), (2, 0, 3), (2, 3, 4)]):
            x = values(dtype, shape)
            name = "%s-%d" % (dtype, i)
            np.save(folder.at(name + ".npy"), x)
            folder.expect(name + ".npy", name, x)
        for order, letter in (("fortran", "F"), ("big", ">"), ("both", "F>")):
            x = values(dtype, (3, 4, 5))
            stored = x.astype(x.dtype.newbyteorder(">")) if ">" in letter else x
            stored = np.asfortranarray(stored) if "F" in letter else stored
            name = "%s-%s" % (order, dtype)
            np.save(folder.at(name + ".npy"), stored)
            folder.expect(name + ".npy", name, x)
    x = values("float32", (5,))
    for version in ((2, 0), (3, 0)):
        name = "version%d" % version[0]
        with open(folder.at(name + ".npy"), "wb") as f:
            np.lib.format.write_array(f, x, version)
        folder.expect(name + ".npy", name, x)
    # unaligned, keys in another order, double quotes, Python 2's long
    header = '{"shape":(5L,),"fortran_order":False,"descr":"<f4"}'
    folder.write("odd.npy", npy_bytes(header, x.tobytes()))
    folder.expect("odd.npy", "odd", x)
    folder.write("bools.npy", npy_bytes(npy_header("'|b1'", shape="(4,)"), b"\0\1\2\xff"))
    folder.expect("bools.npy", "bools", np.array([0, 1, 1, 1], "?"))

    for name, write in (("stored", np.savez), ("packed", np.savez_compressed)):
        arrays = {"weights": values("float32", (40, 30)), "empty": values("int8", (0, 2)),
                  "half": values("float16", (3,)), "flags": values("bool", (9,)),
                  "f": np.asfortranarray(values("int16", (3, 5))),
                  "big": values("float64", (4, 2)).astype(">f8"), "a/b c.d": values("uint8", ())}
        write(folder.at(name + ".npz"), **arrays)
        for key, x in arrays.items():
            folder.expect(name + ".npz", key, x.astype(x.dtype.newbyteorder("=")))
    with zipfile.ZipFile(folder.at("mixed.npz"), "w") as z:
        z.writestr("readme.txt", "not an array")
        with z.open("x.npy", "w", force_zip64=True) as f:
            np.save(f, x)
        z.comment = b"PK\5\6 in a comment"
    folder.expect("mixed.npz", "x", x)
    np.savez(folder.at("none.npz"))
    np.savez(folder.at("nameless.npz"), **{"": x, "x": x})


def reject_npy(folder):
    data = values("float32", (2,)).tobytes()
    for name, header, words in (
            ("object", npy_header("'|O'"), "descr never loaded"),
            ("void2", npy_header("'|V2'"), "descr bfloat16 safetensors"),
            ("void", npy_header("'|V7'"), "descr raw"),
            ("unicode", npy_header("'<U3'"), "descr strings"),
            ("date", npy_header("'<M8[s]'"), "descr dates"),
            ("wide", npy_header("'<c16'"), "descr complex64"),
            ("long", npy_header("'<f16'"), "descr float64"),
            ("struct", npy_header("[('a', '<f4')]"), "structured"),
            ("nothing", npy_header("''"), "descr"),
            ("order", npy_header(fortran="Maybe"), "fortran_order"),
            ("negative", npy_header(shape="(-1,)"), "shape size"),
            ("number", npy_header(shape="2"), "shape ("),
            ("rank", npy_header(shape="(1,1,1,1,1,1,1,1,1,)"), "shape 8 axes"),
            ("huge", npy_header(shape="(9223372036854775807, 2)"), "shape 63 bits"),
            ("huger", npy_header(shape="(92233720368547758070,)"), "shape 63 bits"),
            ("larger", npy_header(shape="(3,)"), "elements beyond the end"),
            ("twice", "{'shape': (2,), 'shape': (2,), }", "twice"),
            ("missing", "{'shape': (2,), 'descr': '<f4'}", "fortran_order missing"),
            ("unknown", "{'shapes': (2,)}", "unknown key"),
            ("open", "{'descr': '<f4", "does not end"),
            ("after", npy_header() + "x", "after the dict"),
            ("list", "[1, 2]", "expected a dict")):
        folder.reject("bad-%s.npy" % name, npy_bytes(header, data), "bad-%s.npy %s" % (name, words))
    folder.reject("bad-version.npy", npy_bytes(npy_header(), data, (9, 0)), "version 9.0")
    folder.reject("bad-length.npy", npy_bytes(npy_header(), data, length=60000), "header beyond")
    folder.reject("bad-giant.npy", npy_bytes(npy_header(), data, (2, 0), 0xfffffff0),
                  "header length")
    folder.reject("bad-empty.npy", b"", "too short")
    folder.reject("bad-text.npy", b"these are words, not an array", "unknown format")


def reject_npz(folder):
    x = npy_bytes(npy_header(), values("float32", (2,)).tobytes())
    for method, name in ((zipfile.ZIP_STORED, "stored"), (zipfile.ZIP_DEFLATED, "packed")):
        path = folder.at("whole-%s.npz" % name)
        with zipfile.ZipFile(path, "w", method) as z:
            z.writestr("x.npy", x)
        with open(path, "rb") as f:
            good = f.read()
        central, local = good.index(b"PK\1\2"), 0

        def changed(at, new, content=good):
            return content[:at] + new + content[at + len(new):]
        for what, content, words in (
                ("size", changed(central + 20, b"\xff\xff\xff\x7f" * 2), "member beyond the end"),
                ("method", changed(central + 10, b"\x0c"), "x compression method 12"),
                ("locked", changed(central + 8, b"\x01"), "x encrypted"),
                ("place", changed(central + 42, b"\x05"), "local header of 'x.npy'"),
                ("other", changed(local + 30, b"y"), "local header of 'x.npy' another name"),
                ("member", changed(central, b"PK\1\3"), "central directory"),
                ("count", changed(len(good) - 12, b"\x05\0", changed(len(good) - 14, b"\x05\0")),
                 "central directory"),
                ("end", good[:-1], "end of central directory")):
            file = "bad-%s-%s.npz" % (what, name)
            folder.reject(file, content, file + " " + words)
        if name == "packed":
            data = 30 + len("x.npy")
            folder.reject("bad-data.npz", changed(data + 2, b"\xff\xff\xff"), "x")
            folder.reject("bad-crc.npz", changed(central + 16, b"\0\0\0\0"), "x checksum")
            folder.reject("bad-bomb.npz", changed(central + 24, b"\0\0\0\x7f"), "x claims")
    with zipfile.ZipFile(folder.at("bad-inner.npz"), "w") as z:
        z.writestr("x.npy", npy_bytes(npy_header("'|O'")))
    folder.bad.append("bad-inner.npz|bad-inner.npz x descr never loaded")
    with zipfile.ZipFile(folder.at("bad-again.npz"), "w") as z:
        z.writestr("x.npy", x)
        z.writestr("y.npy", x)
    with open(folder.at("bad-again.npz"), "rb") as f:
        content = f.read()
    folder.reject("bad-again.npz", content.replace(b"y.npy", b"x.npy"), "two tensors 'x'")


# ---- safetensors ----

def safetensors(header, data, length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def bfloat16(x):
    """Bits, by truncation: the values here are exact."""
    return (np.asarray(x, "f4").view("u4") >> 16).astype("u2")


def write_safetensors(folder):
    header, data, expected = {"__metadata__": {"format": "pt", "quote\"d": "\u00e9\u4e2d \U0001f980"}}, b"", []
    # bytes first: everything after them lies unaligned
    arrays = [("bytes", values("uint8", (3,)), "U8", None)]
    arrays += [(d, values(d, (2, 3)), SAFETENSORS[d], None) for d in DTYPES]
    arrays += [("bf", bfloat16(rng.integers(-100, 100, (4, 2))), "BF16", "bfloat16"),
               ("scalar", values("float32", ()), "F32", None),
               ("none", values("int64", (0, 5)), "I64", None),
               ("na\u00efve \U0001f980/\"x\"\\", values("float64", (2,)), "F64", None)]
    for name, x, type_name, dtype in arrays:
        header[name] = {"dtype": type_name, "shape": list(x.shape),
                        "data_offsets": [len(data), len(data) + x.nbytes]}
        data += x.tobytes()
        expected.append((name, x, dtype))
    for file, text in (("all.safetensors", json.dumps(header).encode()),
                       ("pretty.safetensors",
                        json.dumps(header, ensure_ascii=False, indent=1).encode() + b"  \n")):
        folder.write(file, safetensors(text, data))
        for name, x, dtype in expected:
            folder.expect(file, name, x, dtype)
    folder.write("empty.safetensors", safetensors(b"{ }", b""))
    one = values("int32", (2,))  # as MLX writes what has no metadata
    folder.write("null.safetensors", safetensors(
        {"__metadata__": None, "x": {"dtype": "I32", "shape": [2], "data_offsets": [0, 8]}}, one.tobytes()))
    folder.expect("null.safetensors", "x", one)
    x = values("float32", (2, 3))
    folder.write("f8.safetensors", safetensors(
        {"x": {"dtype": "F32", "shape": [2, 3], "data_offsets": [4, 28]},
         "y": {"dtype": "F8_E4M3", "shape": [4], "data_offsets": [0, 4]}}, b"abcd" + x.tobytes()))
    folder.expect("f8.safetensors", "x", x)
    folder.bad.append("f8.safetensors|f8.safetensors 'y' F8_E4M3 no dtype lb_file_get_raw")


def reject_safetensors(folder):
    def reject(name, header, words, data=bytes(8), length=None):
        file = "bad-%s.safetensors" % name
        folder.reject(file, safetensors(header, data, length), file + " " + words)

    def one(**fields):
        x = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}
        x.update(fields)
        return {"x": {k: v for k, v in x.items() if v is not None}}
    good = json.dumps(one()).encode()
    reject("huge", good, "header length", length=1 << 40)
    reject("long", good, "header beyond the end", length=1000000)
    reject("short", good, "header", length=len(good) - 1)
    reject("dtype", one(dtype=None), "'x' dtype missing")
    reject("shape", one(shape=None), "'x' shape missing")
    reject("offsets", one(data_offsets=None), "'x' data_offsets missing")
    reject("beyond", one(data_offsets=[0, 16], shape=[4]), "'x' data_offsets truncated")
    reject("backward", one(data_offsets=[8, 0]), "'x' data_offsets")
    reject("mismatch", one(shape=[3]), "'x' shape takes 12")
    reject("three", one(data_offsets=[0, 8, 9]), "data_offsets")
    reject("fraction", one(shape=[2.0]), "whole number")
    reject("negative", one(shape=[-2]), "whole number")
    reject("rank", one(shape=[1] * 9), "shape 8 axes")
    reject("wide", one(shape=[1 << 62, 1 << 62]), "'x' 63 bits")
    reject("wider", one(shape=[1 << 70]), "63 bits")
    reject("gap", one(data_offsets=[0, 8]), "data_offsets 12 8", bytes(12))
    reject("overlap", {"a": one()["x"], "b": one(shape=[1], data_offsets=[4, 8])["x"]},
           "'a' 'b' overlap")
    reject("twice", good[:-1] + b"," + good[1:], "overlap")
    reject("names", b'{"x":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},'
           b'"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}', "two tensors 'x'")
    reject("field", b'{"x":{"dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8]}}', "twice")
    reject("after", good + b"x", "after the end")
    reject("comma", good.replace(b",", b" ", 1), "expected ','")
    reject("colon", good.replace(b":", b" ", 1), "expected ':'")
    reject("open", good[:-1], "header")
    reject("list", b"{\"x\": [1]}", "expected an object")
    reject("nul", b'{"\\u0000":' + good[5:], "NUL")
    reject("surrogate", b'{"\\ud800":' + good[5:], "header")
    reject("pair", b'{"\\ud800\\u0041":' + good[5:], "surrogate")
    reject("utf8", b'{"\xff":' + good[5:], "UTF-8")
    reject("escape", b'{"\\x":' + good[5:], "escape")
    reject("control", b'{"\n":' + good[5:], "does not end")
    reject("number", b'{"__metadata__":{"a":1}}', "expected a string", b"")
    reject("deep", b'{"x":{"y":' + b"[" * 100 + b"]" * 100 + b"}}", "brackets", b"")


# ---- GGUF ----

F32 = np.float32


def halves(block, at):
    return block[:, at:at + 2].copy().view("<f2").astype("f4")


def nibbles(q):
    """Blocks of 16 bytes to 32 values: low nibbles first."""
    return np.concatenate([q & 15, q >> 4], 1)


def decode_q4_0(b):
    return halves(b, 0) * (nibbles(b[:, 2:]).astype("f4") - F32(8))


def decode_q4_1(b):
    return halves(b, 0) * nibbles(b[:, 4:]).astype("f4") + halves(b, 2)


def fifths(b):
    """4 bytes of fifth bits, and 16 of low ones, to 32 values."""
    high = np.unpackbits(b[:, :4], 1, bitorder="little")
    return (nibbles(b[:, 4:]) | high << 4).astype("f4")


def decode_q5_0(b):
    return halves(b, 0) * (fifths(b[:, 2:]) - F32(16))


def decode_q5_1(b):
    return halves(b, 0) * fifths(b[:, 4:]) + halves(b, 2)


def decode_q8_0(b):
    return halves(b, 0) * b[:, 2:].view("i1").astype("f4")


def k_scales(b, q):
    """Of eight groups of 32, by 12 bytes with their scales and minima."""
    s = b[:, 4:16]
    scales = np.concatenate([s[:, :4] & 63, (s[:, 8:] & 15) | (s[:, :4] >> 6) << 4], 1)
    mins = np.concatenate([s[:, 4:8] & 63, (s[:, 8:] >> 4) | (s[:, 4:8] >> 6) << 4], 1)
    step = halves(b, 0) * scales.astype("f4")
    least = halves(b, 2) * mins.astype("f4")
    return (step[:, :, None] * q.astype("f4") - least[:, :, None]).reshape(len(b), 256)


def k_nibbles(q):
    """Four groups of 32 bytes; each is 32 low nibbles, then 32 high ones."""
    q = q.reshape(-1, 4, 1, 32)
    return np.concatenate([q & 15, q >> 4], 2).reshape(-1, 8, 32)


def decode_q4_k(b):
    return k_scales(b, k_nibbles(b[:, 16:]))


def decode_q5_k(b):
    high = b[:, 16:48].reshape(-1, 1, 32) >> np.arange(8, dtype="u1").reshape(1, 8, 1) & 1
    return k_scales(b, k_nibbles(b[:, 48:]) | high << 4)


def decode_q6_k(b):
    low, high = b[:, :128].reshape(-1, 2, 64), b[:, 128:192].reshape(-1, 2, 32)
    low = np.concatenate([low & 15, low >> 4], 2).reshape(-1, 2, 4, 32)
    high = np.stack([high & 3, high >> 2 & 3, high >> 4 & 3, high >> 6], 2)
    q = (low | high << 4).reshape(len(b), 16, 16).astype("f4") - F32(32)
    step = halves(b, 208) * b[:, 192:208].view("i1").astype("f4")
    return (step[:, :, None] * q).reshape(len(b), 256)


def decode_mxfp4(b):
    e2m1 = np.array([0, .5, 1, 1.5, 2, 3, 4, 6, 0, -.5, -1, -1.5, -2, -3, -4, -6])
    with np.errstate(over="ignore"):
        return (e2m1[nibbles(b[:, 1:])] * 2.0 ** (b[:, :1].astype("f8") - 127)).astype("f4")


BLOCKS = {  # name: type, elements, bytes, places of halves, decoder
    "Q4_0": (2, 32, 18, [0], decode_q4_0), "Q4_1": (3, 32, 20, [0, 2], decode_q4_1),
    "Q5_0": (6, 32, 22, [0], decode_q5_0), "Q5_1": (7, 32, 24, [0, 2], decode_q5_1),
    "Q5_K": (13, 256, 176, [0, 2], decode_q5_k),
    "Q8_0": (8, 32, 34, [0], decode_q8_0), "Q4_K": (12, 256, 144, [0, 2], decode_q4_k),
    "Q6_K": (14, 256, 210, [208], decode_q6_k), "MXFP4": (39, 32, 17, [], decode_mxfp4)}
PLAIN = {"float32": 0, "float16": 1, "int8": 24, "int16": 25, "int32": 26, "int64": 27,
         "float64": 28}


def random_blocks(name, shape):
    _, elements, size, places, decode = BLOCKS[name]
    n = int(np.prod(shape)) // elements
    blocks = rng.integers(0, 256, (n, size), dtype="u1")
    for at in places:
        blocks[:, at:at + 2] = rng.standard_normal((n, 1)).astype("<f2").view("u1").reshape(n, 2)
    if name == "MXFP4" and n > 2:
        blocks[:3, 0] = 0, 1, 255  # the ends of its exponent's range
    return blocks, decode(blocks).reshape(shape)


def text(s):
    s = s if isinstance(s, bytes) else s.encode()
    return struct.pack("<Q", len(s)) + s


def value(kind, x):
    formats = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q",
               12: "d"}
    return text(x) if kind == 8 else struct.pack("<" + formats[kind], x)


def pair(key, kind, x):
    return text(key) + struct.pack("<I", kind) + value(kind, x)


def array(key, kind, xs, count=None):
    return (text(key) + struct.pack("<IIQ", 9, kind, len(xs) if count is None else count) +
            b"".join(value(kind, x) for x in xs))


class Gguf:
    def __init__(self, alignment=32):
        self.alignment, self.metadata, self.infos, self.data = alignment, [], [], b""

    def tensor(self, name, type_number, shape, content, offset=None):
        self.data += bytes(-len(self.data) % self.alignment)
        offset = len(self.data) if offset is None else offset
        self.infos.append(text(name) + struct.pack("<I", len(shape)) +
                          b"".join(struct.pack("<Q", n) for n in reversed(shape)) +
                          struct.pack("<IQ", type_number, offset))
        self.data += content
        return self

    def bytes(self, version=3, tensors=None, metadata=None):
        head = (b"GGUF" + struct.pack("<IQQ", version,
                                      len(self.infos) if tensors is None else tensors,
                                      len(self.metadata) if metadata is None else metadata) +
                b"".join(self.metadata) + b"".join(self.infos))
        return head + bytes(-len(head) % self.alignment) + self.data


def all_metadata():
    return [pair("general.architecture", 8, "llama"), pair("u8", 0, 200), pair("i8", 1, -100),
            pair("u16", 2, 60000), pair("i16", 3, -30000), pair("u32", 4, 4000000000),
            pair("i32", 5, -2000000000), pair("f32", 6, 1.5), pair("yes", 7, True),
            pair("u64", 10, 2 ** 64 - 1), pair("i64", 11, -2 ** 63), pair("f64", 12, 0.1),
            array("tokens", 8, ["a", "", "\u00e9", b"\xff\x00z"]), array("scores", 6, [.5, -1, 2]),
            array("types", 5, [1, 2, 3, -4]), array("nothing", 8, [])]


def every_format():
    """Each format of blocks that ggml was asked about; test_blocks knows what they decode to, fuzzers change them."""
    g = Gguf()
    with open(os.path.join(os.path.dirname(__file__), "../real/ggml/golden.inc")) as f:
        for line in f:
            if line.startswith("{"):
                name, number, elements, size = line.strip("{ ").split(", ")[:4]
                blocks = rng.integers(0, 256, 2 * int(size), dtype="u1")
                g.tensor(name.strip('"'), int(number), (2, int(elements)), blocks.tobytes())
    return g


def write_gguf(folder):
    for file, alignment, version in (("all.gguf", 32, 3), ("aligned.gguf", 256, 2)):
        g = Gguf(alignment)
        g.metadata = all_metadata()
        if alignment != 32:
            g.metadata.append(pair("general.alignment", 4, alignment))
        for dtype, number in PLAIN.items():
            x = values(dtype, (3, 5))
            g.tensor(dtype, number, x.shape, x.tobytes())
            folder.expect(file, dtype, x)
        bits = bfloat16(rng.integers(-50, 50, (2, 3, 4)))
        g.tensor("bf", 30, bits.shape, bits.tobytes())
        folder.expect(file, "bf", bits, "bfloat16")
        for name in BLOCKS:
            blocks, x = random_blocks(name, (2, 3, 512))
            g.tensor("blk.0.%s" % name, BLOCKS[name][0], x.shape, blocks.tobytes())
            folder.expect(file, "blk.0.%s" % name, x)
        folder.write(file, g.bytes(version))
    folder.write("empty.gguf", Gguf().bytes())
    folder.write("formats.gguf", every_format().bytes())
    small = Gguf()
    small.metadata = [pair("name", 8, "small"), array("list", 8, ["x", "yz"])]
    x = values("float32", (2, 3))
    blocks, y = random_blocks("Q4_0", (32,))
    small.tensor("x", 0, x.shape, x.tobytes()).tensor("y", 2, y.shape, blocks.tobytes())
    folder.write("small.gguf", small.bytes())
    folder.expect("small.gguf", "x", x)
    folder.expect("small.gguf", "y", y)


def reject_gguf(folder):
    def reject(name, content, words):
        file = "bad-%s.gguf" % name
        folder.reject(file, content, file + " " + words)

    def plain(**more):
        return Gguf().tensor("x", 0, more.get("shape", (2, 3)), bytes(24), more.get("offset"))

    def with_metadata(*pairs):
        g = plain()
        g.metadata = list(pairs)
        return g
    good = plain().bytes()
    reject("version", plain().bytes(7), "version GGUF 7")
    reject("endian", good[:4] + b"\0\0\0\3" + good[8:], "version big-endian")
    reject("tensors", plain().bytes(tensors=1 << 60), "tensor")
    reject("metadata", plain().bytes(metadata=1 << 60), "metadata")
    reject("type", Gguf().tensor("x", 99, (2, 3), bytes(24)).bytes(), "'x' type 99")
    reject("quant", Gguf().tensor("x", 31, (32,), bytes(18)).bytes(), "'x' Q4_0_4_4 lb_file_get_raw")
    reject("block", Gguf().tensor("x", 2, (33,), bytes(24)).bytes(), "'x' multiple of 32 Q4_0")
    reject("rank", plain(shape=(1,) * 9).bytes(), "'x' rank 9")
    reject("offset", plain(offset=5).bytes(), "'x' offset 5 alignment")
    reject("beyond", plain(offset=32).bytes(), "'x' offset 32 truncated")
    reject("far", plain(offset=1 << 63).bytes(), "'x' offset truncated")
    reject("size", plain(shape=(1 << 63,)).bytes(), "'x' size axis 0 63 bits")
    reject("wide", plain(shape=(1 << 62, 1 << 62)).bytes(), "'x' 63 bits")
    reject("overlap", plain().tensor("y", 0, (2,), b"", 0).bytes(), "'x' 'y' overlap")
    reject("twice", plain().tensor("x", 0, (2,), bytes(8)).bytes(), "two tensors 'x'")
    reject("align0", with_metadata(pair("general.alignment", 4, 0)).bytes(), "general.alignment")
    reject("align3", with_metadata(pair("general.alignment", 4, 48)).bytes(), "general.alignment")
    reject("value", with_metadata(text("k") + struct.pack("<I", 13)).bytes(), "'k' type 13")
    reject("nested", with_metadata(text("k") + struct.pack("<IIQ", 9, 9, 1)).bytes(),
           "'k' type 9 array")
    reject("count", with_metadata(array("k", 10, [], 1 << 62)).bytes(), "'k' beyond the end")
    reject("strings", with_metadata(array("k", 8, [], 1 << 62)).bytes(), "'k' beyond the end")
    reject("name", Gguf().tensor(b"\xff", 0, (2, 3), bytes(24)).bytes(), "name UTF-8")
    reject("key", with_metadata(pair(b"\0", 7, True)).bytes(), "key UTF-8 NUL")


# ---- what was saved ----

def check(folder):
    failures = 0
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".expected"):
            continue
        file, key = name[:-len(".expected")].split("@")
        with open(os.path.join(folder, name), "rb") as f:
            dtype, shape, content = f.read().split(b"\n", 2)
        shape = tuple(int(n) for n in shape.split(b",") if n)
        path = os.path.join(folder, file)
        if file.endswith(".safetensors"):
            with open(path, "rb") as f:
                size, = struct.unpack("<Q", f.read(8))
                info = json.loads(f.read(size))[key]
                data = f.read()
            at, end = info["data_offsets"]
            got = (info["dtype"], tuple(info["shape"]), data[at:end])
            want = (dict(SAFETENSORS, bfloat16="BF16")[dtype.decode()], shape, content)
        else:
            x = np.load(path)
            if file.endswith(".npz"):
                x = x[key]
            got = (x.dtype.name, x.shape, np.ascontiguousarray(x).tobytes())
            want = (dtype.decode(), shape, content)
        if got != want:
            print("%s: got %.200r, expected %.200r" % (name, got, want))
            failures += 1
    return failures


def main():
    if sys.argv[1] == "--check":
        sys.exit(1 if check(sys.argv[2]) else 0)
    folder = Folder(sys.argv[1])
    for write in (write_npy, reject_npy, reject_npz, write_safetensors, reject_safetensors,
                  write_gguf, reject_gguf):
        write(folder)
    folder.finish()


if __name__ == "__main__":
    main()
