"""Writes the PNG files that examples/photo is tried on, with nothing but NumPy and zlib.

    pictures.py DIR

DIR/large.png; DIR/good/KIND-SIZE.png, every colour type and depth that PNG has, in odd sizes,
each beside a copy with -interlaced; DIR/bad/WHAT.png, damaged ones. Lines use the filters by turns."""
import struct
import sys
import zlib
from pathlib import Path

import numpy as np

SIGNATURE = b"\x89PNG\r\n\x1a\n"
GREY, RGB, PALETTE, GREY_ALPHA, RGB_ALPHA = 0, 2, 3, 4, 6
CHANNELS = {GREY: 1, RGB: 3, PALETTE: 1, GREY_ALPHA: 2, RGB_ALPHA: 4}
DEPTHS = {GREY: (1, 2, 4, 8, 16), RGB: (8, 16), PALETTE: (1, 2, 4, 8), GREY_ALPHA: (8, 16), RGB_ALPHA: (8, 16)}
# Adam7: the first line and column of each pass, and the steps to the next
PASSES = ((0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1))


def chunk(kind, body=b"", crc=None):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(
        ">I", zlib.crc32(kind + body) if crc is None else crc)


def header(height, width, depth, colour, interlaced=0):
    return chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, interlaced))


def packed(samples, depth):
    """Lines of bytes from lines of samples, the first in the highest bits."""
    if depth == 16:
        return samples.astype(">u2").view(np.uint8)
    bits = samples[..., None] >> np.arange(depth)[::-1] & 1
    return np.packbits(bits.reshape(len(samples), -1).astype(np.uint8), axis=1)


def filtered(line, above, kind, step):
    left, corner = (np.concatenate([np.zeros(step, int), x])[:len(line)] for x in (line, above))
    guess = left + above - corner
    near = np.abs(np.stack([guess - left, guess - above, guess - corner])).argmin(0)
    paeth = np.choose(near, [left, above, corner])
    return (line - [0 * line, left, above, (left + above) // 2, paeth][kind]) % 256


def scanlines(samples, depth):
    """samples is (height, width, channels)"""
    height, width, channels = samples.shape
    if height == 0 or width == 0:
        return b""
    lines = packed(samples.reshape(height, -1), depth).astype(int)
    above = np.zeros_like(lines[0])
    out = bytearray()
    for y, line in enumerate(lines):
        out += bytes([y % 5]) + filtered(line, above, y % 5, max(1, channels * depth // 8)).astype(np.uint8).tobytes()
        above = line
    return bytes(out)


def png(samples, depth, colour, interlaced):
    parts = [samples[y::down, x::right] for y, x, down, right in PASSES] if interlaced else [samples]
    stream = zlib.compress(b"".join(scanlines(part, depth) for part in parts))
    palette = b""
    if colour == PALETTE:
        palette = chunk(b"PLTE", np.random.default_rng(1).integers(0, 256, 3 << depth, np.uint8).tobytes())
    half = len(stream) // 2 # a decoder joins what is in several chunks
    return (SIGNATURE + header(*samples.shape[:2], depth, colour, interlaced) + palette +
            chunk(b"IDAT", stream[:half]) + chunk(b"IDAT", stream[half:]) + chunk(b"IEND"))


def large():
    """Slopes, edges and noise, (150, 200, 3)."""
    y, x = np.mgrid[:150, :200]
    planes = [x * 255 // 199, y * 255 // 149, (x // 20 + y // 15) % 2 * 255]
    noise = np.random.default_rng(2).integers(-20, 20, (150, 200, 3))
    return np.clip(np.stack(planes, -1) + noise, 0, 255)


def write_good(folder):
    rng = np.random.default_rng(3)
    for colour, depths in DEPTHS.items():
        for depth in depths:
            for size in 1, 2, 3, 5, 33:
                samples = rng.integers(0, 1 << depth, (size, size + size // 4, CHANNELS[colour]))
                for interlaced in 0, 1:
                    name = f"{colour}-{depth}-{size}{'-interlaced' * interlaced}.png"
                    (folder / name).write_bytes(png(samples, depth, colour, interlaced))


def write_bad(folder):
    whole = png(large(), 8, RGB, 0)
    body = whole[8:]
    rest = body[25:]
    idat = body.index(b"IDAT")
    bad = {
        "first-byte": b"\x88" + whole[1:],
        "seven-bits": bytes([whole[0] & 127]) + whole[1:],
        "line-ends": SIGNATURE.replace(b"\r\n", b"\n") + body,
        "name": SIGNATURE.replace(b"PNG", b"pNG") + body,
        "header-crc": SIGNATURE + header(150, 200, 8, RGB)[:-4] + b"\0\0\0\0" + rest,
        "data-crc": whole[:8] + body[:idat + 40] + bytes([body[idat + 40] ^ 255]) + body[idat + 41:],
        "no-data": SIGNATURE + header(150, 200, 8, RGB) + chunk(b"IEND"),
        "no-palette": SIGNATURE + header(150, 200, 8, PALETTE) + rest,
        "no-pixels": SIGNATURE + header(0, 0, 8, RGB) + rest,
        "too-large": SIGNATURE + header(1 << 30, 1 << 30, 8, RGB) + rest,
    }
    for depth in 0, 3, 99:
        bad[f"depth-{depth}"] = SIGNATURE + header(150, 200, depth, RGB) + rest
    for colour in 1, 9:
        bad[f"colour-{colour}"] = SIGNATURE + header(150, 200, 8, colour) + rest
    for name, data in bad.items():
        (folder / f"{name}.png").write_bytes(data)


root = Path(sys.argv[1])
for name in "good", "bad":
    (root / name).mkdir(parents=True, exist_ok=True)
(root / "large.png").write_bytes(png(large(), 8, RGB, 0))
write_good(root / "good")
write_bad(root / "bad")
