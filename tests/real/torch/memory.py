"""python3 memory.py TRUTH: what holds memory: a model with an optimiser, a list of losses that keep their graphs, a cycle of
objects, tensors that only C++ holds. It writes what each holds into the file TRUTH, says `resting`, and waits until its input
ends."""

import gc
import io
import sys

import torch

torch.manual_seed(0)
torch.set_num_threads(1)
gc.disable()  # the cycle stays
WIDTH = 64


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up = torch.nn.Linear(WIDTH, 4 * WIDTH)
        self.down = torch.nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(x)))


def size(tensor):
    return tensor.numel() * tensor.element_size()


def saved(function, found, seen):
    """Bytes by address of what a graph keeps."""
    if function is None or function in seen:
        return
    seen.add(function)
    for name in dir(function):
        value = getattr(function, name) if name.startswith("_saved_") else None
        if isinstance(value, torch.Tensor):
            found[value.data_ptr()] = size(value)
    for following, _ in function.next_functions:
        saved(following, found, seen)


model = torch.nn.Sequential(Block(), Block())
optimizer = torch.optim.AdamW(model.parameters(), amsgrad=True)
losses = []
for turn in range(12):
    result = model(torch.randn(32, WIDTH)).pow(2).mean()
    if turn < 2:
        optimizer.zero_grad()
        result.backward()
        optimizer.step()
    else:
        losses.append(result * 1)
del result
cache = [torch.ones(1000) * i for i in range(4)]
cycle = [torch.full((5000,), 3.0)]
cycle.append(cycle)
lost = [cycle[0].data_ptr()]
del cycle
alone = torch.full((6000,), 2.0, requires_grad=True).exp()
square = alone * alone  # keeps it
kept = [alone.data_ptr()]
del alone
crowd = {f"graph {i}": torch.ones(8, requires_grad=True).exp() * 1 for i in range(5000)}
archive = io.BytesIO()
torch.jit.save(torch.jit.script(torch.nn.Linear(30, 30)), archive)
archive.seek(0)
scripted = torch.jit.load(archive)  # its tensors are made in C++
libraries = [parameter.data_ptr() for parameter in scripted.parameters()]

with open(sys.argv[1], "w") as truth:

    def write(*words):
        print(*words, sep="\t", file=truth)

    modules, known = {}, set()
    for name, tensor in model.named_parameters():
        module = "model." + name.rpartition(".")[0]
        state = [t for t in optimizer.state[tensor].values() if isinstance(t, torch.Tensor)]
        modules[module] = modules.get(module, 0) + sum(map(size, [tensor, tensor.grad] + state))
        known.update(t.data_ptr() for t in [tensor, tensor.grad] + state)
    for module, n in modules.items():
        write("module", module, n)
    parameters = list(model.parameters())
    write("holder", "model", sum(map(size, parameters)))
    write("holder", "gradients of model", sum(size(p.grad) for p in parameters))
    states = [t for p in parameters for t in optimizer.state[p].values() if isinstance(t, torch.Tensor)]
    write("holder", "optimizer.state", sum(map(size, states)))
    write("holder", "cache", sum(map(size, cache)))
    write("device", "cpu")
    write("copies", parameters[0].data_ptr(), sum(t.numel() == parameters[0].numel() for t in optimizer.state[parameters[0]].values()))
    for data in lost:
        write("reach", data, "(objects, by no variable)")
    for data in kept:
        write("reach", data, "(a graph, by no variable)")
    for data in libraries:
        write("reach", data, "(libraries alone)")
    graph, seen = {}, set()
    for loss in losses:
        saved(loss.grad_fn, graph, seen)
    write("graph", "losses[0…9]", len(losses), sum(n for data, n in graph.items() if data and data not in known))
    write("graphs", "crowd[", len(crowd))
del name, tensor, state, loss, graph, seen, states, parameters
print("resting", flush=True)
sys.stdin.read()
