"""python3 heap.py GIB: a program with PyTorch that has 200,000 tensors among so many GiB of other small objects, and rests."""

import sys

import torch

torch.set_num_threads(1)
many = [torch.full((2,), float(i)) for i in range(200_000)]
others = []
for i in range(int(float(sys.argv[1]) * (1 << 30) / 600)):
    one = b"x" * 480 + str(i).encode()
    others.append([one] if i % 8 == 0 else one)
print("resting", flush=True)
sys.stdin.read()
