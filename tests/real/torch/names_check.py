"""python3 names_check.py TRUTH STEP COMMAND…: what names.py has written down, beside the names that the command lists, and each
STEPth path (ask.py). Prints what differs, and how many names and paths are right."""

import sys

from ask import Asked

ask = Asked(sys.argv[3:])
tensors = ask("list", "--limit", "0")["tensors"]
names = {}
for tensor in tensors:
    if tensor["data"]:
        names.setdefault(int(tensor["data"], 0), []).append(tensor["name"])
right = {"name": 0, "path": 0}
calls, said_variables, paths_to = [], [], []
with open(sys.argv[1]) as truth:
    for line in truth:
        if line.startswith("frame"):
            calls.append(line.rstrip("\n").split("\t")[1])
            continue
        if line.startswith("variable"):
            said_variables.append(line.rstrip("\n").split("\t")[1:])
            continue
        if line.startswith("model"):
            said = ask("model")
            if [said["tensors"], said["parameters"]] != [int(word) for word in line.split("\t")[1:]]:
                print("the model has", line, "but:", said)
            continue
        if line.startswith("several"):
            data, *paths = line.rstrip("\n").split("\t")[1:]
            facts = ask("info", paths[0])["facts"]
            said = [fact["text"].split(", in ")[0] for fact in facts if fact["name"] in ("path", "also")]
            if [path for path in said if path in paths] != paths:
                print("the ways to one tensor are", paths, "but:", said)
            continue
        if not line.startswith(("name", "path")):
            continue
        kind, data, path = line.rstrip("\n").split("\t")
        if kind == "path":
            paths_to.append((path, int(data)))
            continue
        right["name"] += path in names.get(int(data), [])
        if path not in names.get(int(data), []):
            print(f"{path} is at {int(data):#x}, but: {names.get(int(data))}")
paths_to = paths_to[:: int(sys.argv[2])]
for (path, data), said in zip(paths_to, ask.each([("info", path) for path, _ in paths_to])):
    is_right = int(said.get("data") or "0", 0) == data
    right["path"] += is_right
    if not is_right:
        print(f"{path} is at {data:#x}, but: {said.get('data', said)}")
stacks = [
    ["{function} at {file}:{line}".format(**frame) for frame in thread["python"]]
    for thread in ask("bt")["threads"]
]
if calls and not any(stack[-len(calls) :] == calls for stack in stacks):
    print("no thread's stack is", calls, "but", stacks)


def variables(*words):
    """What stands in the stack of each function, as (variable, data, shape) and so on."""
    held = {}
    for thread in ask("bt", "--all", *words)["threads"]:
        for frame in thread["python"]:
            held.setdefault(frame["function"], []).extend(
                (t["variable"], t["data"], tuple(t["shape"]), t["dtype"], t["state"], t["record"])
                for t in frame["tensors"]
            )
    return held


near, all_of_them = variables(), variables("--names")
if near != all_of_them:
    print("the stack has other tensors where all are looked for:", *set(map(str, near.items())) ^ set(map(str, all_of_them.items())))
for function, variable, data, shape in said_variables:
    if not any(v[:3] == (variable, hex(int(data)), eval(shape)) for v in near.get(function, [])):
        print(f"{function} has {variable}, {shape}, at {int(data):#x}, but: {str(near.get(function))[:400]}")
print(f"{right['name']} names and {right['path']} paths are right")
