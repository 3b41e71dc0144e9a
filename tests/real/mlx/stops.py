"""python3 stops.py [FILE]: evaluations of all kinds, at which a debugger stops. It says `resting` first, and goes on when there is no
such FILE."""

import os
import sys
import time

import mlx.core as mx

mx.set_default_device(mx.cpu)


class State:
    pass


state = State()


def step(x, turn):
    hidden = mx.log(x - turn)
    twice = hidden * 2
    loss = twice.mean()
    return hidden, twice, loss


def train():
    x = mx.arange(1.0, 5.0)
    state.weights = [mx.zeros(3)]
    for turn in range(3):
        hidden, twice, loss = step(x, turn)
        mx.eval(loss)
        state.weights[0] = state.weights[0] + 1
        mx.eval(state.weights[0])
        mx.eval(state.weights[0])


def read():
    x = mx.arange(6.0).reshape(2, 3)
    total = (x + 1).sum()
    total.item()
    total.item()
    (x + 2).tolist()
    if (x + 3).any():
        memoryview(x + 4)
    text = f"{x + 5}"
    int((x + 6).max())


def pipeline():
    x = mx.ones(4)
    ahead = mx.log(x - 1)
    mx.async_eval(ahead)
    behind = ahead * 0
    behind.item() if behind.size == 1 else mx.eval(behind)


print("resting", flush=True)
while sys.argv[1:] and os.path.exists(sys.argv[1]):
    time.sleep(0.02)
train()
read()
pipeline()
print("ended")
