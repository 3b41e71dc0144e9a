"""Writes torch_grads.inc: gradients and optimiser steps as PyTorch computes them, for test_training.

Run by hand, where python3-torch is installed: /usr/bin/python3 tests/unit/torch_grads.py
"""
import os
import torch
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)


def spread(seed, *shape):
    """The numbers that test_training.c makes for the same seed."""
    n = 1
    for size in shape:
        n *= size
    return torch.tensor([((seed * 1000 + i + 1) * 0.61803398874989484820) % 1 * 2 - 1
                         for i in range(n)]).reshape(shape)


def array(name, tensor):
    flat = [repr(v) for v in tensor.detach().reshape(-1).tolist()]
    lines = [", ".join(flat[i:i + 4]) for i in range(0, len(flat), 4)]
    return "static const double %s[] = {\n\t%s,\n};\n" % (name, ",\n\t".join(lines))


def transformer():
    """One block on six tokens: embedding, norm, causal attention, gelu, cross entropy."""
    shapes = [(5, 8), (8,), (8,), (24, 8), (8, 8), (16, 8), (16,), (8, 16)]
    p = [spread(10 + i, *s).requires_grad_() for i, s in enumerate(shapes)]
    embed, weight, bias, qkv, proj, up, up_bias, down = p
    tokens = torch.tensor([[1, 4, 2], [0, 1, 3]])
    x = embed[tokens]
    h = F.layer_norm(x, (8,), weight, bias, 1e-5)
    q, k, v = [t.reshape(2, 3, 2, 4).transpose(1, 2) for t in (h @ qkv.T).split(8, -1)]
    scores = q @ k.transpose(-1, -2) * 0.5
    scores = scores.masked_fill(torch.ones(3, 3, dtype=torch.bool).triu(1), float("-inf"))
    a = (scores.softmax(-1) @ v).transpose(1, 2).reshape(2, 3, 8)
    x = x + a @ proj.T
    x = x + F.gelu(x @ up.T + up_bias) @ down.T
    logits = x @ embed.T
    loss = F.cross_entropy(logits.reshape(-1, 5), tokens.roll(-1, 1).reshape(-1))
    loss.backward()
    out = array("torch_loss", loss)
    for i, t in enumerate(p):
        out += array("torch_grad_%d" % i, t.grad)
    return out


def convolution():
    x, w = spread(30, 2, 6, 5, 4).requires_grad_(), spread(31, 6, 3, 2, 2).requires_grad_()
    y = F.conv2d(x.permute(0, 3, 1, 2), w.permute(0, 3, 1, 2), None, (2, 1), (1, 2), (1, 2), 2)
    torch.tanh(y).sum().backward()
    return array("torch_conv_x", x.grad) + array("torch_conv_w", w.grad)


def steps(name, make):
    """Five steps on a function with a gradient that changes."""
    a, b = spread(40, 2, 3).requires_grad_(), spread(41, 3).requires_grad_()
    optimiser = make([a, b])
    for _ in range(5):
        optimiser.zero_grad()
        loss = ((torch.sin(a) * b).sum(1) ** 2).sum() + (b ** 4).sum()
        loss.backward()
        optimiser.step()
    return array("torch_%s" % name, torch.cat([a.reshape(-1), b]))


def main():
    o = torch.optim
    text = ("/* Made by tests/unit/torch_grads.py with PyTorch %s; not by hand. */\n"
            % torch.__version__.split("+")[0])
    text += transformer() + convolution()
    text += steps("sgd", lambda p: o.SGD(p, lr=0.05, weight_decay=0.1))
    text += steps("momentum", lambda p: o.SGD(p, lr=0.05, momentum=0.9))
    text += steps("nesterov", lambda p: o.SGD(p, lr=0.05, momentum=0.8, nesterov=True,
                                              weight_decay=0.02))
    text += steps("adam", lambda p: o.Adam(p, lr=0.02, betas=(0.8, 0.95), weight_decay=0.1))
    text += steps("adamw", lambda p: o.AdamW(p, lr=0.02, weight_decay=0.1))
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "torch_grads.inc"), "w") as f:
        f.write(text)


main()
