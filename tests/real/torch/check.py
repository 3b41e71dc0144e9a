"""python3 check.py TRUTH STEP COMMAND…: the values of each STEPth tensor that program.py has written down, beside what the
command says of the tensor that has its data (ask.py). Prints what differs, and how many are the same."""

import math
import sys

from ask import Asked

ask = Asked(sys.argv[3:])
tensors = [tensor for tensor in ask("list", "--limit", "0")["tensors"] if tensor["data"]]
with open(sys.argv[1]) as truth:
    sums = [line.split()[1:] for line in truth if line.startswith("sum ")]
looked_at = []
for data, size, total, most in sums[:: int(sys.argv[2])]:
    found = [t for t in tensors if int(t["data"], 0) == int(data) and math.prod(t["shape"]) == int(size)]
    if not found:
        print(f"no tensor of {size} elements has its data at {int(data):#x}")
        continue
    looked_at.append((f"#{found[0]['id']}", {"sum": float(total), "max": float(most)}))
same = 0
for (name, wanted), stats in zip(looked_at, ask.each([("stats", name) for name, _ in looked_at])):
    wrong = [
        f"{name}: its {key} is {stats[key]}, not {value}"
        for key, value in wanted.items()
        if not math.isclose(stats[key], value, rel_tol=1e-6, abs_tol=1e-6)
    ]
    print(*wrong, sep="\n", end="\n" if wrong else "")
    same += not wrong
print(same, "are the same")
