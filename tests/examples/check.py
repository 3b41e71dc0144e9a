"""What examples/photo should have written, worked out with NumPy.

    check.py right IN OUT RADIUS    OUT is IN blurred and graded, within 1
    check.py all DIR OUT-DIR RADIUS each picture of OUT-DIR is right, beside its plain sibling in DIR
    check.py colourful PICTURE      no plain surface: it has light, dark and many colours
    check.py tiled RIGHT BUGGY      BUGGY is RIGHT in storage order: nine small pictures
    check.py same A B               the same pixels
"""
import sys
from pathlib import Path

import numpy as np

import png

MATRIX = np.array([[1.28, -0.18, -0.04], [-0.09, 1.16, -0.05], [-0.10, -0.22, 1.20]])


def load(path):
    if str(path).endswith(".npy"):
        return np.load(path)
    height, width, rgb = png.read(path)
    return np.frombuffer(rgb, np.uint8).reshape(height, width, 3)


def blur(x, radius):
    """x is (height, width, 3)"""
    if radius == 0:
        return x
    i = np.arange(-radius, radius + 1)
    weight = np.exp(-(i / radius) ** 2 * 2)
    weight /= weight.sum()
    for axis in 0, 1:
        pad = [(radius, radius) if a == axis else (0, 0) for a in range(3)]
        padded = np.pad(x, pad, mode="edge")
        windows = np.lib.stride_tricks.sliding_window_view(padded, 2 * radius + 1, axis)
        x = windows @ weight
    return x


def right(source, written, radius):
    x = blur(load(source) / 255.0, int(radius))
    expected = np.round(np.clip(x @ MATRIX.T, 0, 1) * 255).astype(int)
    got = load(written)
    assert got.shape == expected.shape, f"shape {got.shape}, not {expected.shape}"
    off = np.abs(got.astype(int) - expected)
    at = tuple(int(i) for i in np.unravel_index(off.argmax(), off.shape))
    assert off.max() <= 1, f"at {at}: {got[at]}, not {expected[at]}"


def right_all(sources, folder, radius):
    written = sorted(Path(folder).iterdir())
    assert len(written) > 100, f"only {len(written)} pictures"
    for path in written:
        try:
            right(Path(sources) / path.name.replace("-interlaced", ""), path, radius)
        except AssertionError as error:
            raise AssertionError(f"{path.name}: {error}") from None


def colourful(path):
    x = load(path)
    kinds = len(np.unique(x.reshape(-1, 3), axis=0))
    assert x.min() < 32 and x.max() > 224 and kinds > 1000, f"{kinds} colours of {x.min()} to {x.max()}"


def tiled(right_path, buggy_path):
    good, bad = load(right_path), load(buggy_path)
    assert good.shape == bad.shape, f"shape {bad.shape}, not {good.shape}"
    assert (bad.reshape(-1) == good.transpose(2, 0, 1).reshape(-1)).all(), "not storage order"
    assert png.tiled(right_path, buggy_path), "not nine small pictures"


def same(a, b):
    assert (load(a) == load(b)).all(), "the pixels differ"


try:
    {"right": right, "all": right_all, "colourful": colourful, "tiled": tiled, "same": same}[sys.argv[1]](*sys.argv[2:])
except AssertionError as error:
    sys.exit(f"check: {error}")
