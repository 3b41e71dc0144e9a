"""Reads PNG files, with nothing but zlib: a second opinion on what examples/photo reads
and writes. Not interlaced; alpha is dropped."""
import struct
import sys
import zlib

CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}


def chunks(data):
    at = 8
    while at < len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        yield kind, data[at + 8:at + 8 + length]
        at += 12 + length


def paeth(a, b, c):
    pa, pb, pc = abs(b - c), abs(a - c), abs(a + b - 2 * c)
    if pa <= pb and pa <= pc:
        return a
    return b if pb <= pc else c


def unfilter(kind, line, above, step):
    for i in range(len(line)):
        a = line[i - step] if i >= step else 0
        c = above[i - step] if i >= step else 0
        b = above[i]
        line[i] = line[i] + (0, a, b, (a + b) // 2, paeth(a, b, c) if kind == 4 else 0)[kind] & 255


def samples(line, depth, count):
    if depth == 8:
        return list(line[:count])
    if depth == 16:
        return [(line[2 * i] << 8 | line[2 * i + 1]) * 255 / 65535 for i in range(count)]
    return [line[i * depth // 8] >> 8 - depth - i * depth % 8 & (1 << depth) - 1
            for i in range(count)]


def read(path):
    """(height, width, bytes of RGB)"""
    with open(path, "rb") as file:
        data = file.read()
    assert data[:8] == b"\x89PNG\r\n\x1a\n", f"{path}: not a PNG file"
    stream, palette = b"", b""
    for kind, body in chunks(data):
        if kind == b"IHDR":
            width, height, depth, colour, _, _, interlaced = struct.unpack(">IIBBBBB", body)
        elif kind == b"PLTE":
            palette = body
        elif kind == b"IDAT":
            stream += body
    assert not interlaced, f"{path}: interlaced"
    raw = zlib.decompress(stream)
    channels = CHANNELS[colour]
    stride = (width * channels * depth + 7) // 8
    step = max(1, channels * depth // 8)
    above, rgb = bytearray(stride), bytearray()
    for y in range(height):
        start = y * (stride + 1)
        line = bytearray(raw[start + 1:start + 1 + stride])
        if raw[start]:
            unfilter(raw[start], line, above, step)
        above = line
        if colour == 2 and depth == 8:
            rgb += line
            continue
        values = samples(line, depth, width * channels)
        for i in range(0, len(values), channels):
            if colour == 3:
                rgb += palette[3 * values[i]:3 * values[i] + 3]
            else:
                scale = 255 / ((1 << depth) - 1) if depth < 8 else 1
                pixel = [round(v * scale) for v in values[i:i + channels]]
                rgb += bytes(pixel[:3] if colour in (2, 6) else pixel[:1] * 3)
    assert len(rgb) == height * width * 3, f"{path}: short"
    return height, width, bytes(rgb)


def tiled(right, buggy):
    """Whether `buggy` is the picture `right` with its colour planes one after the other,
    which looks like nine small pictures: those of channel i in row i, and in column j
    every third line of it, from line j on."""
    height, width, rgb = read(right)
    same_height, same_width, got = read(buggy)
    if (height, width) != (same_height, same_width) or got == rgb:
        return False
    planes = rgb[0::3], rgb[1::3], rgb[2::3]
    if height % 3 or width % 3:
        return got == b"".join(planes)
    for i in range(3):
        for y in range(height // 3):
            row = (i * height // 3 + y) * width * 3
            for j in range(3):
                tile = got[row + j * width:row + (j + 1) * width]
                line = (3 * y + j) * width
                if tile != planes[i][line:line + width]:
                    return False
    return True


def pixel(path, y, x):
    _, width, rgb = read(path)
    at = (int(y) * width + int(x)) * 3
    return rgb[at:at + 3]


def main(command, *args):
    """png.py pixel FILE Y X · png.py tiled RIGHT BUGGY"""
    if command == "pixel":
        print(*pixel(*args))
    elif not tiled(*args):
        sys.exit(f"{args[1]} is not {args[0]} in nine tiles")


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except OSError as error:
        sys.exit(f"png.py: {error}")
