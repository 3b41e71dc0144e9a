"""python3 suspect.py [wrong]: views, of pictures that were loaded, and copies of them as they should be; with `wrong` also such as whoever
reads a view's memory from its first element on gets. It says `resting`, and waits until its input ends."""

import array
import ctypes
import sys

import mlx.core as mx
import numpy as np

mx.set_default_device(mx.cpu)
rng = np.random.default_rng(0)


class Show:
    pass


def raw(view):
    """What a C library would take that is given the address of the first element, and their number."""
    first = np.array(view, copy=False) if np.__version__[0] == "1" else np.asarray(view)
    return ctypes.string_at(first.__array_interface__["data"][0], view.nbytes)


loaded = rng.integers(0, 255, (20, 30, 3), dtype=np.uint8)
file = bytearray(loaded.tobytes())
numbers = array.array("B", loaded.tobytes())
square = rng.random((16, 16), dtype=np.float32)
turned, flipped = mx.transpose(mx.array(loaded), (2, 0, 1)), mx.array(square).T
right = np.ascontiguousarray(np.array(turned))
steps, plain = mx.arange(24.0).reshape(4, 6).T, np.arange(24, dtype=np.float32).reshape(6, 4)
constant, ones = mx.ones((8, 6)).T + 0, np.ones((6, 8), dtype=np.float32)
column = mx.array(square)[:, ::2]
taken = np.array(column)
mx.eval(turned, flipped, steps, constant, column)


def look():
    planes = mx.array(rng.random((3, 20, 30), dtype=np.float32))
    img = mx.transpose(planes, (1, 2, 0))
    mx.eval(img)
    show = Show()
    show.frames = [None, None, np.frombuffer(bytearray(raw(img)), dtype=np.float32).reshape(img.shape)]
    pixels = raw(img)
    print("resting", flush=True)
    sys.stdin.read()


if sys.argv[1:] == ["wrong"]:
    look()
print("resting", flush=True)
sys.stdin.read()
