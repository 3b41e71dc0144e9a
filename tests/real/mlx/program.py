"""python3 program.py TRUTH: arrays of all kinds, a model that is trained, and a graph that nobody has evaluated yet. It writes
what it knows of each into the file TRUTH, and its model into TRUTH.safetensors, says `resting`, and waits until its input
ends."""

import math
import sys
import threading

import mlx.core as mx
import mlx.nn as nn
import mlx.optimizers as optim
from known import known
from mlx.utils import tree_flatten

mx.set_default_device(mx.cpu)
mx.random.seed(0)
file = open(sys.argv[1], "w")


def tell(*words):
    print(*words, sep="\t", file=file)


def shape(array):
    return "(" + ", ".join(map(str, array.shape)) + ("," if array.ndim == 1 else "") + ")"


def name(path, array, state="ready"):
    """What the array is called, and what it is; with its values, where it has some."""
    tell("name", path, str(array.dtype).replace("mlx.core.", ""), shape(array), state)
    if state == "ready" and array.size and array.dtype != mx.complex64:
        flat = array.reshape(-1)
        if mx.issubdtype(array.dtype, mx.floating):
            flat = flat.astype(mx.float32)  # of other ones older versions make no list
        flat = flat.tolist()
        tell("sum", path, len(flat), repr(math.fsum(flat)), repr(float(max(flat))))


def path(path, of):
    """One of the ways to what has that name."""
    tell("path", path, of)


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc1 = nn.Linear(width, 2 * width)
        self.fc2 = nn.Linear(2 * width, width, bias=False)

    def __call__(self, x):
        hidden = self.fc1(x)
        if waits:
            name("hidden", hidden, "lazy")
            path("self.fc1.weight", "model.layers.0.fc1.weight")
            rest(hidden)
        return self.fc2(nn.relu(hidden))


class Net(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.embed = nn.Embedding(10, width)
        self.layers = [Block(width) for _ in range(depth)]
        self.heads = {"one": nn.Linear(width, 3), "two": nn.LayerNorm(width)}
        self.norm = nn.RMSNorm(width)

    def __call__(self, x):
        x = self.embed(x)
        for layer in self.layers:
            x = x + layer(x)
        return self.heads["one"](self.heads["two"](self.norm(x)))


class Trainer:
    def __init__(self, model):
        self.parts = (model, [mx.full((5,), 3.0)])
        mx.eval(self.parts[1])


def rest(taken):
    path("taken", "hidden")
    ready.wait()
    for address in known():
        tell("known", hex(address))
    file.close()
    print("resting", flush=True)
    sys.stdin.read()


def work(number):
    """A thread of its own."""
    mine = mx.full((number,), float(number))
    mx.eval(mine)
    ready.wait()
    done.wait()


waits = False
model = Net(8, 3)
optimizer = optim.AdamW(learning_rate=1e-2)
tokens = mx.array([[1, 2, 3], [4, 5, 6]])
value_and_grad = nn.value_and_grad(model, lambda model, x: model(x).square().mean())
for turn in range(3):
    loss, gradients = value_and_grad(model, tokens)
    optimizer.update(model, gradients)
    mx.eval(model.parameters(), optimizer.state, loss)
parameters = dict(tree_flatten(model.parameters()))
for key in parameters:
    name(f"model.{key}", parameters[key])
mx.save_safetensors(sys.argv[1] + ".safetensors", parameters)
tell("model", len(parameters), sum(parameter.size for parameter in parameters.values()))
del parameters

# dtypes and layouts
kept = [mx.arange(6).astype(t) for t in (mx.uint8, mx.int8, mx.uint16, mx.int16, mx.uint32, mx.int32, mx.int64, mx.bool_)]
kept += [mx.arange(6).astype(dtype) / 4 for dtype in (mx.float16, mx.bfloat16, mx.float32)]
kept += [mx.arange(6).astype(mx.float64) / mx.array(4, mx.float64)] if hasattr(mx, "float64") else []
kept += [mx.arange(24.0).reshape(2, 3, 4)[:, 1:, ::2], mx.arange(12.0).reshape(3, 4).T, mx.broadcast_to(mx.ones(3), (4, 3))]
kept += [mx.array(3.5), mx.zeros((0, 3)), mx.arange(9)[::-1], mx.array([1 + 2j, 3 - 4j]), mx.arange(96.0)[32:64]]
mx.eval(kept)
for i in range(len(kept)):
    name(f"kept[{i}]", kept[i])
batch = {"input_ids": tokens, 7: mx.ones(3), "it's": mx.zeros(2)}
mx.eval(list(batch.values()))
for key in (7, "input_ids"):
    path(f"batch[{key!r}]", "tokens" if key != 7 else "batch[7]")
name("batch[7]", batch[7])
name('batch["it\'s"]', batch["it's"])
trainer = Trainer(model)
name("trainer.parts[1][0]", trainer.parts[1][0])
name("loss", loss)
name("optimizer._state['layers'][1]['fc1']['weight']['m']", optimizer.state["layers"][1]["fc1"]["weight"]["m"])
path("model.layers[1].fc1.weight", "model.layers.1.fc1.weight")
path("model.layers[-1].fc2.weight", "model.layers.2.fc2.weight")
path("model['heads']['one'].bias", "model.heads.one.bias")
path("model.heads['one'].bias", "model.heads.one.bias")
path("trainer.parts[0].norm.weight", "model.norm.weight")
path("kept[-1]", f"kept[{len(kept) - 1}]")

# what the commands of commands.txt look at
picture = mx.arange(24.0).reshape(4, 6).T
changed = mx.where(mx.arange(24).reshape(6, 4) == 5, mx.array(7.5), picture)
doubtful = mx.array([1.0, math.nan, math.inf, -2.0])
mx.eval(picture, changed, doubtful)

# what nobody has evaluated
first = mx.ones((3, 4))
second = mx.exp(first * 2)
third = mx.softmax(second.T @ first, axis=-1)
for key in ("first", "second", "third"):
    name(key, globals()[key], "lazy")
tell("graph", "third", 10, 10)
halves = mx.split(mx.arange(6.0), 2)
name("halves[0]", halves[0], "lazy")
tell("siblings", "halves[0]", "halves[1]")
for i in range(1000):  # freed again
    mx.eval(mx.ones(3) + i)

ready, done = threading.Barrier(3), threading.Event()
threads = [threading.Thread(target=work, args=(number,), daemon=True) for number in (2, 3)]
for thread in threads:
    thread.start()
waits = True


def train():
    held = mx.full((13,), 2.0)
    mx.eval(held)
    name("held", held)
    model(tokens)


train()
