"""python3 recipes.py FOLDER: the mistakes that guides to MLX warn of, each in a scene of a few lines. It says `resting`, and waits until its
input ends; recipes.txt has what is asked then. Files go into FOLDER."""

import sys
import threading

import mlx.core as mx
import mlx.nn as nn
import mlx.optimizers as optim
from mlx.utils import tree_flatten

mx.set_default_device(mx.cpu)
mx.random.seed(0)
B, L, heads, width = 1, 4, 2, 8


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q_proj = nn.Linear(width, width, bias=False)
        self.k_proj = nn.Linear(width, width, bias=False)

    def __call__(self, x):
        q = self.q_proj(x).reshape(B, L, heads, -1).transpose(0, 2, 1, 3)
        k = self.k_proj(x).reshape(B, L, heads, -1)  # not transposed
        rest(q, k)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(16, width)
        self.fc = nn.Linear(width, 16)

    def __call__(self, tokens):
        return self.fc(self.embed(tokens))


def rest(*held):
    ready.wait()
    print("resting", flush=True)
    sys.stdin.read()


# shapes
x = mx.arange(B * L * width).astype(mx.float32).reshape(B, L, width)
wrong_heads = x.reshape(B, heads, L, -1)
right_heads = x.reshape(B, L, heads, -1).transpose(0, 2, 1, 3)
mx.eval(wrong_heads, right_heads)
tokens = mx.array([1, 2, 3])
model = Net()
logits = model(tokens)
keys = mx.zeros((B, L, heads, width // heads))
cache = [keys.transpose(0, 2, 1, 3)]
seen = cache[0] + 0

# evaluation: a state that grows, losses that are kept
state = mx.zeros((64, 64))
for step in range(200):
    state = state + 0.1 * mx.random.normal((64, 64))
losses = []
value_and_grad = nn.value_and_grad(model, lambda model, x, y: nn.losses.cross_entropy(model(x), y, reduction="mean"))
optimizer = optim.Adam(learning_rate=1e-3)
for step in range(20):
    loss = nn.losses.cross_entropy(model(tokens), tokens, reduction="mean") * step
    losses.append(loss)
loss, grads = value_and_grad(model, tokens, tokens)
optimizer.update(model, grads)
mx.eval(model.parameters(), optimizer.state, loss)
pending = model(tokens) * 2
stream = mx.new_stream(mx.cpu)
with mx.stream(stream):
    following = pending + 1

# promotion
half = mx.ones((2, 4), dtype=mx.float16)
scaled = half * mx.array(2.0)
weak = half * 2.0
masked = half * mx.zeros((2, 4))
crossed = mx.array(1.0, mx.bfloat16) * mx.array(1.0, mx.float16)
norm = mx.ones(4, dtype=mx.float16)
upcast = mx.fast.rms_norm(half.astype(mx.float32), norm, eps=1e-5).astype(mx.float16)
soft = mx.softmax(half.astype(mx.float32), axis=-1)
double = mx.array([1.0, 2.0], dtype=mx.float64)
mx.eval(double)

# weights: at full precision, then cast; names that do not fit
path = sys.argv[1] + "/weights.safetensors"
mx.save_safetensors(path, dict(tree_flatten(model.parameters())))
renamed = dict(tree_flatten(model.parameters()))
renamed["fc.w"] = renamed.pop("fc.weight")
renamed["fc.bias"] = renamed["fc.bias"].astype(mx.float16)
mx.save_safetensors(sys.argv[1] + "/renamed.safetensors", renamed)
del renamed
loaded = mx.load(path)
mx.eval(loaded)
smaller = {name: value.astype(mx.float16) for name, value in loaded.items()}
mx.eval(smaller)
on_demand = mx.load(path)["fc.weight"].astype(mx.float16)
whole = mx.load(open(path, "rb"), format="safetensors")["fc.weight"]

# values
probability = mx.array([0.0, 1.0, 2.0])
broken = mx.log(probability) * 0.0
mx.eval(broken)
attention = mx.softmax(mx.eye(4, 64) * 100, axis=-1)
uniform = mx.softmax(mx.zeros((4, 64)), axis=-1)
hidden = (mx.arange(512.0).reshape(16, 32) - 256) * 2**17
normed = mx.fast.layer_norm(hidden, None, None, 1e-6)
parts = mx.arange(12.0).reshape(1, 12)
shift, scale, gate = mx.split(parts, 3, axis=-1)
picture = mx.arange(3 * 6 * 8).astype(mx.uint8).reshape(3, 6, 8)
tiled = picture.transpose(1, 2, 0)
mx.eval(attention, uniform, hidden, normed, shift, scale, gate, tiled)
expected = hidden * 0.125
mx.save(sys.argv[1] + "/expected.npy", expected)

# quantised
weight = mx.arange(512.0).reshape(8, 64) % 17
q4, scales, biases = mx.quantize(weight, group_size=32, bits=4)
near = mx.dequantize(q4, scales, biases, group_size=32, bits=4)
mx.eval(weight, near)
quantised = nn.QuantizedLinear(64, 8, group_size=32, bits=4)
quantised.scales = quantised.scales[:, :1]  # of another group size
mx.eval(quantised.parameters())

# indexing, products, what looks as if it were in place
indices = mx.array([[2], [0]])
table = mx.arange(8.0).reshape(2, 4)
fancy = table[mx.arange(2)[:, None], indices]
along = mx.take_along_axis(table, indices, axis=1)
joined = mx.concatenate([table] * 4)
repeated = mx.repeat(table, 4, axis=0)
in_place = mx.zeros((4,))
in_place[0] = 1.0
biased = table @ mx.ones((4, 4)).T + mx.ones(4)
fused = mx.addmm(mx.ones(4), table, mx.ones((4, 4)).T)
bigger = [1.0, 2.0]  # no mx.array

# compiled: what a closure holds, and what is left of a state that a compiled function changed
setup = mx.exp(mx.ones((3,)))


@mx.compile
def closed(v):
    return v + setup


outcome = closed(mx.zeros((3,)))
left = []


@mx.compile
def impure(v):
    left.append(v * 2)
    tracing.set()
    done.wait()
    return v


def trace():
    impure(mx.ones((2,)))


tracing, done, ready = threading.Event(), threading.Event(), threading.Event()
threading.Thread(target=trace, daemon=True).start()
tracing.wait()
ready.set()
Attention()(x)
