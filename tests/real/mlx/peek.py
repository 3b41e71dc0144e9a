"""python3 peek.py BUILD COMMAND…: peeks, in one gdb, at the lazy arrays of lazy.py or another program here, which COMMAND runs, then has
them evaluated, and compares. The first of them, as many as the program says, must have the same bits. Prints what differs, how
many are right, how many were refused, and that nothing was evaluated meanwhile."""

import json
import math
import os
import struct
import subprocess
import sys

sys.path.append(os.path.join(os.path.dirname(__file__), "..", "torch"))
from ask import Asked  # noqa: E402

# of the largest element; those of float64 are told as float32
NEAR = {"float16": 2**-9, "bfloat16": 2**-6, "float32": 4e-6, "float64": 1e-7}


def flat(values):
    return [x for part in values for x in flat(part)] if isinstance(values, list) else [values]


def number(text, kind):
    """The number of that dtype which the digits mean."""
    value = math.nan if text is None else float(text)
    if kind == "bfloat16":
        (bits,) = struct.unpack("<I", struct.pack("<f", value))
        return struct.unpack("<f", struct.pack("<I", (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000))[0]
    letter = {"float16": "<e", "float32": "<f"}.get(kind)
    return struct.unpack(letter, struct.pack(letter, value))[0] if letter else value


def is_near(said, true, within):
    if math.isnan(true) or math.isinf(true):
        return repr(said) == repr(true)
    return abs(said - true) <= within


def hangs(said):
    """Whether peek says that elements may be others, as values within an error decide them."""
    return "last bits may differ" in said.get("note", "")


def is_right(got, true, within):
    return len(got) == len(true) and all(is_near(x, y, within) for x, y in zip(got, true))


def mostly_right(got, true, within):
    """What hangs on last bits may have a few other elements, and no more."""
    return len(got) == len(true) and sum(not is_near(x, y, within) for x, y in zip(got, true)) <= len(true) / 8


def differs(said, kind, shape, true, exact):
    if said.get("dtype") != kind or said.get("shape") != shape or "values" not in said or said.get("summarised"):
        return said
    got, true = [number(x, kind) for x in flat(said["values"])], [float(x) for x in true]
    largest = max((abs(x) for x in true if math.isfinite(x)), default=0)
    within = 0 if exact else NEAR.get(kind, 0) * max(largest, 1e-30)
    if (mostly_right if hangs(said) and not exact else is_right)(got, true, within):
        return None
    return f"{got} instead of {true}"


program = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
line = program.stdout.readline()
if not line:
    sys.exit("it does not run here")
names, refused, n_exact = json.loads(line)
ask = Asked(["gdb", sys.argv[1], str(program.pid)])
answers = ask.each(
    [("peek", f"asked[{i}]", "--full") for i in range(len(names) + len(refused))]
    + [("info", f"asked[{i}]") for i in range(5)]
)
said = dict(zip(names + refused, answers))
states = {answer.get("state") for answer in answers[-5:]}
program.stdin.write("\n")
program.stdin.flush()
truth = json.loads(program.stdout.readline())
program.wait()
right = hanging = 0
for i, name in enumerate(names):
    wrong = differs(said[name], *truth[name], i < n_exact)
    right += wrong is None
    hanging += hangs(said[name])
    if wrong is not None:
        print(name, "but:", wrong)
for name in refused:
    if "not known" not in str(said[name].get("error")):
        print(name, "but:", said[name])
print(f"{right} right, {hanging} hang on last bits, {len(refused)} refused, still {', '.join(map(str, states))}")
