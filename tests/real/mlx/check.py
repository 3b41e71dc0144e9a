"""python3 check.py TRUTH COMMAND…: what program.py or programs.py has written down, beside what the command says. Prints what differs, how
many of each kind are right, and how many arrays are listed that neither Python nor a graph holds."""

import json
import math
import subprocess
import sys


def ask(*arguments):
    answer = subprocess.run(sys.argv[2:] + list(arguments) + ["--json"], capture_output=True, text=True, check=False)
    return json.loads(answer.stdout or '{"error": %s}' % json.dumps(answer.stderr.strip()))


arrays = ask("list", "--limit", "0")["tensors"]
by_name = {array["name"]: array for array in arrays}
records = {array["record"]: array["id"] for array in arrays}
inputs = {id for array in arrays for id in array["inputs"]}
known = set()
right = dict.fromkeys(("known", "name", "sum", "path", "model", "graph", "siblings"), 0)


def is_right(kind, words):
    array = by_name.get(words[0])
    if kind == "known":
        known.add(records.get(words[0]))
        return words[0] in records or "it is not listed"
    if kind == "model":
        said = ask("model")
        return [said["tensors"], said["parameters"]] == [int(word) for word in words] or said
    if kind == "path":
        said, of = ask("info", words[0]), by_name.get(words[1])
        return of is not None and said.get("id") == of["id"] or said
    if array is None:
        return "there is none of that name"
    if kind == "name":
        size = "(" + ", ".join(map(str, array["shape"])) + ("," if len(array["shape"]) == 1 else "") + ")"
        return [array["dtype"], size, array["state"]] == words[1:] or array
    if kind == "sum":
        said = ask("stats", f"#{array['id']}")
        same = all(
            math.isclose(float(said[key]), float(word), rel_tol=1e-6, abs_tol=1e-6)
            for key, word in zip(("size", "sum", "max"), words[1:])
        )
        return same or said
    if kind == "graph":
        said = ask("graph", words[0], "--depth", "50")
        return [len(said["tensors"]), len(said["edges"])] == [int(word) for word in words[1:]] or said
    said = ask("info", f"#{array['id']}")
    return said["siblings"] == [by_name[words[1]]["id"]] or said


with open(sys.argv[1]) as truth:
    for line in truth:
        kind, *words = line.rstrip("\n").split("\t")
        said = is_right(kind, words)
        right[kind] += said is True
        if said is not True:
            print(kind, *words, "but:", said)
print(*(f"{right[kind]} {kind}" for kind in right), sep=", ")
known |= inputs
rest = [array for array in arrays if array["id"] not in known]
rest = [array for array in rest if not known & set(ask("info", f"#{array['id']}").get("siblings") or [])]
print("held by MLX alone:", *sorted(array["op"] or array["state"] for array in rest))
