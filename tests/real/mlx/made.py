"""python3 made.py LAZYBONES CORE PYTHON ORIGIN.PY: what `origin` says of the arrays of origin.py, in the process and, if it can be written, in
its core, which is to be CORE. Prints what differs, and how many are right."""

import json
import os
import subprocess
import sys

lazybones, core, *command = sys.argv[1:]
program = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
line = program.stdout.readline()
if not line:
    sys.exit("it does not run here")
cases = json.loads(line)


def ask(what, *words):
    said = subprocess.run([lazybones, *what, *words], capture_output=True, text=True, check=False)
    return said.stdout or said.stderr


def right(what):
    count = 0
    for name in cases:
        made, array, at = cases[name]
        text, said = ask(what, "origin", name), json.loads(ask(what, "origin", name, "--json"))
        found = said.get("nan") or said.get("inf")
        if made == "":
            same = found is None and "holds no NaN" in text
        else:
            same = found is not None and made in text and found["at"] == at
            same = same and (array is None or found["tensor"]["name"] == array)
        count += same
        if not same:
            print(name, "but:", text)
    return count


print(f"{right(['pid', str(program.pid)])} right")
subprocess.run(["gcore", "-o", core, str(program.pid)], capture_output=True, check=False)
file = f"{core}.{program.pid}"
print(f"{right(['core', file])} right in the core" if os.path.exists(file) else "no core")
if os.path.exists(file):
    os.remove(file)
program.communicate()
