"""python3 memory_check.py TRUTH COMMAND…: what memory.py has written down, beside what the command says. Prints what differs,
and how much is right."""

import sys

from ask import Asked

ask = Asked(sys.argv[2:])


def groups(key):
    said = ask("memory", "--by", key, "--limit", "0")
    return {group["key"]: group["bytes"] for group in said["groups"]}, said


right = 0
tensors = {int(t["data"], 0): t["id"] for t in ask("list", "--limit", "0")["tensors"] if t["data"]}
by = {key: groups(key) for key in ("module", "holder", "device")}
graphs = {graph["holder"]: graph for graph in by["holder"][1]["graphs"]}
largest = {int(row["data"], 0): row["kept_for_it"] for row in by["holder"][1]["largest"]}
with open(sys.argv[1]) as truth:
    lines = [line.rstrip("\n").split("\t") for line in truth]
reached = [key for what, key, *_ in lines if what == "reach"]
infos = dict(zip(reached, ask.each([("info", f"#{tensors.get(int(key), 0)}") for key in reached])))
for what, key, *rest in lines:
    if what == "device":
        said, wanted = by["device"][0], {key: by["device"][1]["bytes"]}
    elif what == "reach":
        facts = infos[key].get("facts", [])
        said, wanted = {fact["name"]: fact["text"] for fact in facts}.get("holder"), rest[0]
    elif what == "graph":
        said, wanted = [graphs.get(key, {}).get(k) for k in ("tensors", "bytes")], [int(n) for n in rest]
    elif what == "graphs":
        said, wanted = sum(name.startswith(key) for name in graphs), int(rest[0])
    elif what == "copies":
        held = {other["holder"]: other["tensors"] for other in largest.get(int(key), [])}
        said, wanted = held, {"optimizer.state": int(rest[0]), "gradients of model": 1}
    else:
        said, wanted = by[what][0].get(key), int(rest[0])
    right += said == wanted
    if said != wanted:
        print(f"{what} {key}: {said}, not {wanted}")
print(right, "are right")
