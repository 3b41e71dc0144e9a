"""python3 peek.py LAZYBONES COMMAND…: peeks at the lazy arrays of lazy.py, which COMMAND runs, then has them evaluated, and compares.
Integers, moves and what is rounded once must have the same bits. Prints what differs, how many are right, how many were
refused, and that nothing was evaluated meanwhile."""

import json
import math
import struct
import subprocess
import sys

# of the largest element; those of float64 are told as float32
NEAR = {"float16": 2**-9, "bfloat16": 2**-6, "float32": 2e-6, "float64": 1e-7}
EXACT_UP_TO = "ceil"  # in the order of lazy.py


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


def differs(said, kind, shape, true, exact):
    if said.get("dtype") != kind or said.get("shape") != shape or "values" not in said or said.get("summarised"):
        return said
    got, true = [number(x, kind) for x in flat(said["values"])], [float(x) for x in true]
    largest = max((abs(x) for x in true if math.isfinite(x)), default=0)
    within = 0 if exact else NEAR[kind] * max(largest, 1e-30)
    if len(got) == len(true) and all(is_near(x, y, within) for x, y in zip(got, true)):
        return None
    return f"{got} instead of {true}"


program = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
line = program.stdout.readline()
if not line:
    sys.exit("it does not run here")
names, refused = json.loads(line)


def ask(*words):
    answer = subprocess.run(
        [sys.argv[1], "pid", str(program.pid), *words, "--json"], capture_output=True, text=True, check=False
    )
    return json.loads(answer.stdout or '{"error": %s}' % json.dumps(answer.stderr.strip()))


said = {name: ask("peek", f"cases[{name!r}]", "--full") for name in names}
refusals = {name: ask("peek", f"refused[{name!r}]", "--full") for name in refused}
states = {ask("info", f"cases[{name!r}]").get("state") for name in names[:5]}
program.stdin.write("\n")
program.stdin.flush()
truth = json.loads(program.stdout.readline())
program.wait()
right, exact = 0, True
for name in names:
    wrong = differs(said[name], *truth[name], exact)
    exact = exact and name != EXACT_UP_TO
    right += wrong is None
    if wrong is not None:
        print(name, "but:", wrong)
for name in refused:
    if "is not known here" not in str(refusals[name].get("error")):
        print(name, "but:", refusals[name])
print(f"{right} right, {len(refused)} refused, still {', '.join(map(str, states))}")
