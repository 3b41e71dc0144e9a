"""python3 trainer.py GIB TENSORS: a trainer that rests, with so many parameters of so many GiB in all, and a heart that beats
each half millisecond. To each line that it reads it answers how long the heart stood still since the last, in seconds."""

import sys
import threading
import time

import torch


class Block(torch.nn.Module):
    def __init__(self, tensors, elements):
        super().__init__()
        for i in range(tensors):
            self.register_parameter(f"weight{i}", torch.nn.Parameter(torch.ones(elements)))

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


torch.set_num_threads(1)
tensors = int(sys.argv[2])
elements = int(float(sys.argv[1]) * (1 << 30) / 4 / tensors)
model = torch.nn.ModuleList([Block(10, elements) for _ in range(tensors // 10)])
threading.Thread(target=beat, daemon=True).start()
model[0]()
