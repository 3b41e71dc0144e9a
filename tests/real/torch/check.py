"""python3 check.py TRUTH STEP COMMAND…: the values of each STEPth tensor that program.py has written down, beside what the
command says of the tensor that has its data. Prints what differs, and how many are the same."""

import json
import math
import subprocess
import sys


def ask(*arguments):
    answer = subprocess.run(sys.argv[3:] + list(arguments) + ["--json"], capture_output=True, text=True, check=False)
    return json.loads(answer.stdout)


tensors = [tensor for tensor in ask("list", "--limit", "0")["tensors"] if tensor["data"]]
with open(sys.argv[1]) as truth:
    sums = [line.split()[1:] for line in truth if line.startswith("sum ")]
same = 0
for data, size, total, most in sums[:: int(sys.argv[2])]:
    found = [t for t in tensors if int(t["data"], 0) == int(data) and math.prod(t["shape"]) == int(size)]
    if not found:
        print(f"no tensor of {size} elements has its data at {int(data):#x}")
        continue
    stats = ask("stats", f"#{found[0]['id']}")
    wrong = [
        f"#{found[0]['id']}: its {key} is {stats[key]}, not {value}"
        for key, value in (("sum", float(total)), ("max", float(most)))
        if not math.isclose(stats[key], value, rel_tol=1e-6, abs_tol=1e-6)
    ]
    print(*wrong, sep="\n", end="\n" if wrong else "")
    same += not wrong
print(same, "are the same")
