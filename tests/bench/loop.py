"""The loop of tests/serve/loop.c in Python, for debugpy."""

import sys

import numpy as np


def scaled(x, by):
    return x * by


def denoise(steps):
    latents = np.ones((1, 256, 64), np.float32)
    for i in range(steps):  # stop
        next_ = scaled(latents, np.float32(1.01))
        norm = float(next_.mean())
        print(f"step {i} {norm}")
        latents = next_


denoise(int(sys.argv[1]))
