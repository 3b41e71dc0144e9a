"""Checks a report's page: well-formed, at most 2 MB, nothing fetched from anywhere, links that lead somewhere, pictures
that decode and are described."""
import base64
import struct
import sys
import xml.etree.ElementTree as tree
import zlib

XHTML, SVG = "{http://www.w3.org/1999/xhtml}", "{http://www.w3.org/2000/svg}"


def decode(png):
    """Width and height of an 8-bit RGBA PNG whose checksums and pixels are right."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    at, pixels, size = 8, b"", None
    while at < len(png):
        n, kind = struct.unpack(">I4s", png[at:at + 8])
        data, (crc,) = png[at + 8:at + 8 + n], struct.unpack(">I", png[at + 8 + n:at + 12 + n])
        assert crc == zlib.crc32(kind + data), kind
        if kind == b"IHDR":
            size = struct.unpack(">II5B", data)
            assert size[2:] == (8, 6, 0, 0, 0)
        if kind == b"IDAT":
            pixels += data
        at += 12 + n
    assert len(zlib.decompress(pixels)) == size[1] * (4 * size[0] + 1)
    return size[:2]


text = open(sys.argv[1], encoding="utf-8").read()
assert len(text.encode()) <= 2 << 20, len(text)
page = tree.fromstring(text.replace("<!DOCTYPE html>", ""))
places = [e.get("id") for e in page.iter() if e.get("id")]
assert len(set(places)) == len(places), places
assert any(m.get("name") == "viewport" for m in page.iter(XHTML + "meta"))
for element in page.iter():
    for name, value in element.attrib.items():
        if name in ("src", "href"):
            assert value.startswith("data:") or value[0] == "#" and value[1:] in places, value
    if element.tag in (XHTML + "img", SVG + "svg"):
        assert element.get("alt") or element.get("aria-label"), element.tag
    if element.tag == XHTML + "th":
        assert element.get("scope"), element.text
    assert element.tag not in (XHTML + "script", XHTML + "link"), element.tag
sizes = [decode(base64.b64decode(i.get("src").split(",")[1])) for i in page.iter(XHTML + "img")]
drawings = [d.get("aria-label") for d in page.iter(SVG + "svg")]
print("pictures", sizes)
print("drawings", drawings)
for title in page.iter(XHTML + "h2"):
    print("title", title.text)
