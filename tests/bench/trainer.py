"""python3 trainer.py LIBRARY GIB TENSORS: a trainer of torch or mlx that rests, with so many parameters of so many GiB in all, and a heart
that beats each half millisecond. To each line that it reads it answers how long the heart stood still since the last, in seconds."""

import sys
import threading
import time

library, gib, tensors = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
elements = int(gib * (1 << 30) / 4 / tensors)
if library == "torch":
    import torch

    torch.set_num_threads(1)
    Module = torch.nn.Module

    def parameter():
        return torch.nn.Parameter(torch.ones(elements))
else:
    import mlx.core as mx
    import mlx.nn as nn

    mx.set_default_device(mx.cpu)
    Module = nn.Module

    def parameter():
        weight = mx.zeros(elements) + 1.0
        mx.eval(weight)
        return weight


class Block(Module):
    def __init__(self, n):
        super().__init__()
        for i in range(n):
            setattr(self, f"weight{i}", parameter())


class Net(Module):
    def __init__(self, n):
        super().__init__()
        blocks = [Block(10) for _ in range(n // 10)]
        self.layers = torch.nn.ModuleList(blocks) if library == "torch" else blocks

    def forward(self):
        listen()


longest = 0.0


def beat():
    global longest
    last = time.perf_counter()
    while True:
        time.sleep(0.0005)
        now = time.perf_counter()
        longest = max(longest, now - last)
        last = now


def listen():
    global longest
    print("resting", flush=True)
    for _ in sys.stdin:
        said, longest = longest, 0.0
        print(said, flush=True)


model = Net(tensors)
threading.Thread(target=beat, daemon=True).start()
model.forward()
