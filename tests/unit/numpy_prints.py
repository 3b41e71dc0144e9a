#!/usr/bin/python3
"""Writes numpy_prints.inc: arrays as bytes, and how NumPy prints them, for test_numbers."""
import numpy as np

names = {"bool": "LB_BOOL", "uint8": "LB_U8", "uint16": "LB_U16", "uint32": "LB_U32",
         "uint64": "LB_U64", "int8": "LB_I8", "int16": "LB_I16", "int32": "LB_I32",
         "int64": "LB_I64", "float16": "LB_F16", "float32": "LB_F32", "float64": "LB_F64",
         "complex64": "LB_C64"}
rng = np.random.default_rng(20)
out = []


def case(a, precision=8, threshold=1000, edge=3, width=75):
    a = np.ascontiguousarray(a)
    with np.printoptions(precision=precision, threshold=threshold, edgeitems=edge,
                         linewidth=width):
        text = str(a)
    shape = ", ".join(map(str, a.shape))
    text = text.replace("\\", "\\\\").replace("\n", "\\n\"\n\t\t\"")
    data = "".join("\\x%02x" % b for b in a.tobytes())
    data = "\"\n\t\t\"".join(data[i:i + 80] for i in range(0, len(data), 80))
    out.append("\t{ %s, %d, { %s }, %d, %d, %d, %d,\n\t\t\"%s\",\n\t\t\"%s\" },\n" % (
        names[a.dtype.name], a.ndim, shape or "0", precision, threshold, edge, width, data, text))


for t in (np.float16, np.float32, np.float64):
    case(np.array([1, 2, 3], t))
    case(np.array([0.1, 0.25, -3.5], t))
    case(np.array([[1.5, np.nan], [np.inf, -np.inf]], t))
    case(np.array([np.nan, np.inf], t))
    case(np.array([-np.inf, np.nan, 1], t))
    case(np.array([0.0, -0.0], t))
    case(np.array([1e-5, 1], t))
    case(np.array([1, 1000.5, 12000], t))
    case(np.array([[1 / 3, 2 / 3], [1, 100]], t), precision=3)
    case(np.array([1 / 3, -2e4 / 3], t), precision=0)
    case(np.array([6e-8, 60000], t))
    case(rng.normal(size=(3, 4)).astype(t))
    case(rng.normal(size=(2, 2, 3)).astype(t) * t(100))
    case(np.exp(rng.normal(size=11) * 3).astype(t))
    case(rng.normal(size=(2, 30)).astype(t), width=40)
    case(rng.normal(size=(9, 9)).astype(t), threshold=20, edge=2)
    case(rng.normal(size=(3, 7, 5)).astype(t), threshold=20, edge=1, precision=2)
    case(np.zeros((0, 3), t))
    case(np.array(2.5, t))
    case(np.array(3, t))
    case(np.array(1e-5, t))
    case(np.array(np.nan, t))
case(np.array([1e8, 1], np.float32))
case(np.array([99999999.0, 1], np.float64))
case(np.array([1e300, 1e-300, 5e-324], np.float64))
case(np.array([3.4e38, 1e-45], np.float32))
case(np.array([0.1 + 0.2, 1 / 3], np.float64), precision=17)
case(np.array(1e22))
case(np.array(123456789.125))
for t in (np.uint8, np.uint16, np.uint32, np.uint64, np.int8, np.int16, np.int32, np.int64):
    i = np.iinfo(t)
    case(np.array([0, 5, i.max], t))
    case(np.array([[i.min, i.max], [1, 2]], t))
    case(np.arange(60).astype(t).reshape(3, 20), width=50)
    case(np.array(7, t))
case(np.array([True, False, True]))
case(np.array([[False, False], [True, False]]))
case(np.array(True))
case(np.array(False))
case(np.array([1 + 2j, -0.5j, 3], np.complex64))
case(np.array([1e-9 + 2j, np.nan, complex(1, np.inf)], np.complex64))
case((rng.normal(size=(3, 3)) + 1j * rng.normal(size=(3, 3))).astype(np.complex64))
case(np.arange(24, dtype=np.int64).reshape(2, 1, 3, 4))
case(np.arange(2000, dtype=np.int32)[:1001])
case(np.arange(12, dtype=np.float32).reshape(4, 3), threshold=5, edge=1)

with open("numpy_prints.inc", "w") as f:
    f.write("/* Written by numpy_prints.py with NumPy %s. */\n" % np.__version__)
    f.writelines(out)
