"""python3 origin.py: lazy arrays that hold NaN or Inf, each made in a way of its own. It says their names, and what made them, as JSON, and
rests until its input ends. Each is [what `origin` says first, which of the arrays has it, at which index]."""

import json
import math
import sys

import mlx.core as mx
import mlx.nn as nn

mx.set_default_device(mx.cpu)
mx.random.seed(0)
nan, inf = math.nan, math.inf
given = "an array has it"
x = mx.random.normal((4, 64))
ids = mx.array([[2, 0], [3, 1]])
spoiled = mx.random.normal((8, 64))
spoiled[5, 7] = nan
far = mx.random.normal((4, 64))
far[2, 3] = inf
few = mx.array([1.0, -1.0, 0.0, 4.0])
big = mx.array([1.0, 20.0, 3.0], mx.float16)
table = mx.random.normal((6, 64))
table[3, 2] = nan
words, scales, biases = mx.quantize(mx.random.normal((8, 64)), group_size=32, bits=4)
scales[6, 1] = nan
heads = mx.random.normal((1, 2, 5, 8))
values = mx.random.normal((1, 2, 5, 8))
values[0, 1, 4, 6] = nan
masked = mx.full((3, 4), 1.0)
masked[1] = -inf
norm, dense = nn.RMSNorm(64), nn.Linear(64, 8)
gone = mx.log(few * 2)
kernel = mx.random.normal((3, 3, 64))
kernel[1, 2, 5] = nan
random = mx.random.uniform(shape=(40,))
mx.eval(x, ids, spoiled, far, few, big, table, words, scales, biases, heads, values, masked, norm, dense, gone, kernel)

root = mx.log(few)
deep = nn.silu(mx.softmax(mx.exp(root * 2), axis=-1)).reshape(2, 2).T
ratio = (few - few) / (few - few) + 1
over = mx.exp(big) * 2
halves = (mx.array([60000.0, 1.0], mx.float16) * mx.array([2.0, 1.0], mx.float16)).sum()
product = norm(x) @ spoiled.T + 1
quantised = mx.quantized_matmul(x, words, scales, biases, group_size=32, bits=4)[1:]
looked_up = table[ids].sum(axis=-1)
attended = mx.fast.scaled_dot_product_attention(heads, heads, values, scale=0.3)
row = mx.softmax(masked + 1, axis=-1) * 2
minus = mx.exp(far[1:] - far[1:])
convolved = mx.conv1d(x[None], kernel, padding=1)
chance = mx.where(random > 2, random, mx.sqrt(-random - 1))
again = gone + 1
cached = mx.concatenate([x[:2], spoiled[4:6]], axis=0)[2:] * 3
clean = x + 1
cases = {
    "root": ["Log made it", "root", [1]],
    "deep": ["Log made it", "root", [1]],
    "ratio": ["Divide made it", None, [0]],
    "over": ["Exp made it", None, [1]],
    "halves": ["Multiply made it", None, [0]],
    "product": [given, "spoiled", [5, 7]],
    "quantised": [given, "scales", [6, 1]],
    "looked_up": [given, "table", [3, 2]],
    "attended": [given, "values", [0, 1, 4, 6]],
    "row": ["Softmax made it", None, [1, 0]],
    "minus": ["Subtract made it", None, [1, 3]],
    "convolved": [given, "kernel", [1, 2, 5]],
    "chance": ["Sqrt made it", None, [0]],
    "again": [given, "gone", [1]],
    "cached": [given, "spoiled", [5, 7]],
    "clean": ["", None, []],
}
print(json.dumps(cases), flush=True)
sys.stdin.read()
