"""python3 heap.py LIBRARY GIB: a program of torch or mlx that has 200,000 tensors among so many GiB of other small objects, and rests."""

import sys

library, gib = sys.argv[1], float(sys.argv[2])
if library == "torch":
    import torch

    torch.set_num_threads(1)
    many = [torch.full((2,), float(i)) for i in range(200_000)]
else:
    import mlx.core as mx

    mx.set_default_device(mx.cpu)
    many = [mx.array([float(i), 0.0]) for i in range(200_000)]
others = []
for i in range(int(gib * (1 << 30) / 600)):
    one = b"x" * 480 + str(i).encode()
    others.append([one] if i % 8 == 0 else one)
print("resting", flush=True)
sys.stdin.read()
