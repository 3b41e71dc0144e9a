"""python3 autograd.py TRUTH STEP COMMAND…: what program.py has written down of autograd, of each STEPth tensor, beside what the
command says (ask.py). Prints what differs, and how much is the same."""

import collections
import math
import sys

from ask import Asked

ask = Asked(sys.argv[3:])
with open(sys.argv[1]) as lines:
    truth = [line.split() for line in lines]
tensors = ask("list", "--limit", "0")["tensors"]
by_id = {tensor["id"]: tensor for tensor in tensors}


def data_of(tensor):
    return int(tensor["data"] or "0", 0)


def facts_of(said):
    return {fact["name"]: fact["text"] for fact in said["facts"]}


def tensors_at(data, size, rank):
    return [
        tensor["id"]
        for tensor in tensors
        if data_of(tensor) == int(data) and math.prod(tensor["shape"]) == int(size) and len(tensor["shape"]) == int(rank)
    ]


looked_at = [words[1:] for words in truth if words[0] == "autograd" and int(words[1])][:: int(sys.argv[2])]
ids = sorted({id for data, size, rank, *_ in looked_at for id in tensors_at(data, size, rank)})
facts = dict(zip(ids, map(facts_of, ask.each([("info", f"#{id}") for id in ids]))))
same = 0
for data, size, rank, requires, grad in looked_at:
    wanted = (requires, int(grad))
    found = set()
    for id in tensors_at(data, size, rank):
        held = facts[id].get("grad", "None")
        found.add((facts[id].get("requires_grad"), 0 if held == "None" else data_of(by_id[int(held[1:])])))
    if wanted in found:
        same += 1
    else:
        print(f"{size} elements at {int(data):#x}: {found}, not {wanted}")

_, data, size = next(words for words in truth if words[0] == "older")
older = next(t for t in tensors if data_of(t) == int(data) and math.prod(t["shape"]) == int(size))
facts = facts_of(ask("info", f"#{older['id']}"))
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
