"""python3 autograd.py TRUTH COMMAND…: what program.py has written down of autograd, beside what the command says. Prints what
differs, and how much is the same."""

import collections
import json
import math
import subprocess
import sys


def ask(*arguments):
    answer = subprocess.run(sys.argv[2:] + list(arguments) + ["--json"], capture_output=True, text=True, check=False)
    return json.loads(answer.stdout)


with open(sys.argv[1]) as lines:
    truth = [line.split() for line in lines]
tensors = ask("list", "--limit", "0")["tensors"]
by_id = {tensor["id"]: tensor for tensor in tensors}


def data_of(tensor):
    return int(tensor["data"] or "0", 0)


same = 0
for _, data, size, rank, requires, grad in (words for words in truth if words[0] == "autograd"):
    if not int(data):
        continue
    wanted = (requires, int(grad))
    found = set()
    for tensor in tensors:
        if data_of(tensor) == int(data) and math.prod(tensor["shape"]) == int(size) and len(tensor["shape"]) == int(rank):
            facts = {fact["name"]: fact["text"] for fact in ask("info", f"#{tensor['id']}")["facts"]}
            held = facts.get("grad", "None")
            found.add((facts.get("requires_grad"), 0 if held == "None" else data_of(by_id[int(held[1:])])))
    if wanted in found:
        same += 1
    else:
        print(f"{size} elements at {int(data):#x}: {found}, not {wanted}")

_, data, size = next(words for words in truth if words[0] == "older")
older = next(t for t in tensors if data_of(t) == int(data) and math.prod(t["shape"]) == int(size))
facts = {fact["name"]: fact["text"] for fact in ask("info", f"#{older['id']}")["facts"]}
if older["op"] or "was changed in place" not in facts.get("grad_fn", ""):
    print(f"what computed #{older['id']} is not certain, but: {older['op']}, {facts.get('grad_fn')}")

root = next(int(words[1]) for words in truth if words[0] == "graph")
start = next(tensor["id"] for tensor in tensors if data_of(tensor) == root and tensor["op"])
graph = ask("graph", f"#{start}")["tensors"]
for tensor in graph:
    if tensor["op"].startswith("SplitBackward") and (tensor["dtype"], tensor["shape"], tensor["size"]) != (None, None, None):
        print(f"{tensor['op']} has several results, but: {tensor['shape']}")
wanted = collections.Counter(
    int(leaf) if int(leaf) else name for _, name, leaf in (words for words in truth if words[0] == "node")
)
found = collections.Counter(tensor["op"] if tensor["inputs"] else data_of(tensor) for tensor in graph)
for what, more, less in (("is not there", wanted, found), ("is too much", found, wanted)):
    for name in more - less:
        print(name, what)
print(same, "tensors and", sum((wanted & found).values()), "nodes")
