"""python3 names_check.py TRUTH COMMAND…: what names.py has written down, beside the names that the command lists. Prints what
differs, and how many names and paths are right."""

import json
import subprocess
import sys


def ask(*arguments):
    return subprocess.run(sys.argv[2:] + list(arguments) + ["--json"], capture_output=True, text=True, check=False)


tensors = json.loads(ask("list", "--limit", "0").stdout)["tensors"]
names = {}
for tensor in tensors:
    if tensor["data"]:
        names.setdefault(int(tensor["data"], 0), []).append(tensor["name"])
right = {"name": 0, "path": 0}
calls = []
with open(sys.argv[1]) as truth:
    for line in truth:
        if line.startswith("frame"):
            calls.append(line.rstrip("\n").split("\t")[1])
            continue
        if line.startswith("model"):
            said = json.loads(ask("model").stdout)
            if [said["tensors"], said["parameters"]] != [int(word) for word in line.split("\t")[1:]]:
                print("the model has", line, "but:", said)
            continue
        if not line.startswith(("name", "path")):
            continue
        kind, data, path = line.rstrip("\n").split("\t")
        if kind == "name":
            is_right = path in names.get(int(data), [])
            said = names.get(int(data))
        else:
            answer = ask("info", path)
            said = json.loads(answer.stdout)["data"] if answer.returncode == 0 else answer.stderr.strip()
            is_right = answer.returncode == 0 and int(said, 0) == int(data)
        right[kind] += is_right
        if not is_right:
            print(f"{path} is at {int(data):#x}, but: {said}")
stacks = [
    ["{function} at {file}:{line}".format(**frame) for frame in thread["python"]]
    for thread in json.loads(ask("bt").stdout)["threads"]
]
if calls and not any(stack[-len(calls) :] == calls for stack in stacks):
    print("no thread's stack is", calls, "but", stacks)
print(f"{right['name']} names and {right['path']} paths are right")
