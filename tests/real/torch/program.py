"""python3 program.py TRUTH [NPY]: tensors of all kinds, one of them that of an .npy file, in a process that only has PyTorch.
It writes what it knows of each into the file TRUTH, says `resting`, and waits until its input ends."""

import gc
import sys

import torch

torch.manual_seed(0)
torch.set_num_threads(1)

# a model that has been trained: parameters, gradients, the optimiser's state
net = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4))
optimiser = torch.optim.AdamW(net.parameters(), lr=1e-2)
for turn in range(3):
    loss = net(torch.randn(5, 8)).pow(2).mean()
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()

kept = [torch.arange(24.0).reshape(2, 3, 4)[:, 1:, ::2], torch.arange(12.0).reshape(3, 4).T]
kept += [torch.arange(720).reshape(1, 2, 3, 4, 5, 6), torch.tensor(3.5), torch.empty(0, 3)]
kept += [torch.arange(6).to(dtype) for dtype in (torch.uint8, torch.int8, torch.int16, torch.int32, torch.bool)]
kept += [torch.arange(6).to(dtype) / 4 for dtype in (torch.float16, torch.bfloat16, torch.float64)]
kept += [torch.tensor([1 + 2j, 3 - 4j], dtype=torch.complex128), torch.tensor([1 + 2j, 3 - 4j]).to(torch.complex32)]
kept += [torch.tensor([1 + 2j, 3 - 4j]), torch.ones(3).expand(4, 3)]
for name in ("float8_e5m2", "float8_e4m3fn", "float8_e5m2fnuz", "float8_e4m3fnuz"):
    if hasattr(torch, name):
        kept.append(torch.tensor([1.5, -2.0, 0.25, 96.0]).to(getattr(torch, name)))
quantised = [
    torch.quantize_per_tensor(torch.tensor([1.0, 2.0, 3.0]), 0.1, 10, torch.quint8),
    torch.quantize_per_channel(
        torch.arange(12.0).reshape(3, 4), torch.tensor([0.1, 0.2, 0.3]), torch.tensor([1, 2, 3]), 0, torch.qint8
    ),
]
opaque = [
    torch.quantize_per_channel(torch.arange(12.0).reshape(3, 4), torch.ones(3), torch.zeros(3), 0, dtype)
    for dtype in (torch.quint4x2, torch.quint2x4)
]
opaque += [
    torch.empty(3, 4, device="meta"),
    torch.eye(3).to_sparse(),
    torch.tensor([1 + 2j, 3 - 4j]).conj(),
    torch.tensor([1 + 2j, 3 - 4j]).conj().imag,
]
for name in ("uint4", "int7", "bits8", "float4_e2m1fn_x2"):
    if hasattr(torch, name):
        opaque.append(torch.empty(5, dtype=getattr(torch, name)))
if len(sys.argv) > 2:
    import numpy

    kept.append(torch.from_numpy(numpy.load(sys.argv[2])))
# a graph that nobody walked back yet: its results, of which some are kept
hidden_layer = net[0](torch.ones(5, 8))
kept += [hidden_layer, net[2](net[1](hidden_layer))]
halves = torch.split(kept[-1], 2, dim=1)
changed = net[0](torch.ones(5, 8))
older = changed[:2]  # and who asked it for its grad_fn would renew that
changed.mul_(2)
graph = (halves[0] * halves[1]).pow(2).mean()
with torch.inference_mode():
    kept.append(torch.arange(4.0))
for i in range(1000):  # freed again
    torch.ones(3) + i


def line(tensor, state):
    """How a list shows it: dtype, shape, state, and how its elements lie."""
    name = str(tensor.dtype).replace("torch.", "")
    shape = "(" + ", ".join(map(str, tensor.shape)) + ("," if tensor.dim() == 1 else "") + ")"
    return f"{name} {shape} {state}"


def values(tensor):
    """The elements as float64, in row-major order."""
    return tensor.detach().dequantize() if tensor.is_quantized else tensor.detach()


def walk(function, found):
    """All nodes that one leads to, each once."""
    if function is not None and function not in found:
        found.append(function)
        for following, _ in function.next_functions:
            walk(following, found)
    return found


with open(sys.argv[1], "w") as truth:
    hidden = {id(tensor) for tensor in opaque}
    for tensor in gc.get_objects():
        if isinstance(tensor, torch.Tensor):
            state = "opaque" if id(tensor) in hidden else "ready"
            print("tensor", line(tensor, state), file=truth)
    for tensor in kept + quantised + list(net.parameters()):
        if tensor.numel() and not tensor.is_complex():
            flat = values(tensor).to(torch.float64).flatten()
            print("sum", tensor.data_ptr(), tensor.numel(), repr(flat.sum().item()), repr(flat.max().item()), file=truth)
    for tensor in list(net.parameters()) + kept + [graph]:
        grad = tensor.grad.data_ptr() if tensor.is_leaf and tensor.grad is not None else 0
        print("autograd", tensor.data_ptr(), tensor.numel(), tensor.dim(), tensor.requires_grad, grad, file=truth)
    print("older", older.data_ptr(), older.numel(), file=truth)
    print("graph", graph.data_ptr(), file=truth)
    for function in walk(graph.grad_fn, []):
        leaf = function.variable.data_ptr() if hasattr(function, "variable") else 0
        print("node", function.name(), leaf, file=truth)
print("resting", flush=True)
sys.stdin.read()
