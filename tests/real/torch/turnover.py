"""python3 turnover.py TRUTH: a model, and tensors that come and go, until its input ends."""

import sys
import threading

import torch

torch.set_num_threads(1)
model = torch.nn.Sequential(torch.nn.Linear(30, 40), torch.nn.Linear(40, 50))
some = []
ended = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
print("resting", flush=True)
turn = 0
while not ended.wait(0.01):
    turn += 1
    some = (some + [torch.ones(turn % 1000 + 1)])[-400:]  # so that a look at a busy machine takes no longer than most live
