"""python3 sick.py list | NAME sick|well: programs that are sick, and their healthy twins, as tests/doctor plays them."""

import sys

import torch

kept = {"some": [torch.ones(i + 1, 3) for i in range(8)]}


def losses_with_graphs(sick):
    w = kept["w"] = torch.ones(256, 256, requires_grad=True)
    losses = kept["losses"] = []
    for i in range(30):
        loss = torch.square(torch.full((64, 256), float(i)) @ w).mean()
        losses.append(loss if sick else loss.item())


def pinned_by_a_view(sick):
    big = torch.ones(8 << 20)
    kept["head"] = big[:16] if sick else big[:16].clone()


def log_of_negative(sick):
    kept["y"] = torch.log(torch.tensor([1.0, -1.0 if sick else 2.0]))


def training(sick):
    """Twenty steps of a sound model."""
    model = kept["model"] = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))
    optimizer = kept["optimizer"] = torch.optim.AdamW(model.parameters())
    for i in range(20):
        optimizer.zero_grad()
        loss = torch.square(model(torch.full((4, 8), i / 20))).mean()
        loss.backward()
        optimizer.step()


scenes = {losses_with_graphs: "L7a", pinned_by_a_view: "L7b", log_of_negative: "N1", training: "none"}
if sys.argv[1] == "list":
    for scene, rule in scenes.items():
        print(scene.__name__, rule)
else:
    {scene.__name__: scene for scene in scenes}[sys.argv[1]](sys.argv[2] == "sick")
    print("ready", flush=True)
    sys.stdin.read()
