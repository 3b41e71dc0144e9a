"""python3 programs.py KIND TRUTH: programs as people write them: `train`, batches and an optimiser; `diffuse`, a state that a loop never
evaluates; `lm`, a language model of mlx-lm that decodes. It writes what it knows into the file TRUTH, and its model into TRUTH.safetensors,
says `resting`, and waits until its input ends."""

import importlib.util
import sys
import types

import mlx.core as mx
import mlx.nn as nn
import mlx.optimizers as optim
from known import known
from mlx.utils import tree_flatten

mx.set_default_device(mx.cpu)
mx.random.seed(0)
kind, truth = sys.argv[1:]
file = open(truth, "w")


def tell(*words):
    print(*words, sep="\t", file=file)


def name(path, array):
    shape = "(" + ", ".join(map(str, array.shape)) + ("," if array.ndim == 1 else "") + ")"
    tell("name", path, str(array.dtype).replace("mlx.core.", ""), shape, "ready")


def rest(model, *held):
    parameters = dict(tree_flatten(model.parameters()))
    for key in parameters:
        name(f"model.{key}", parameters[key])
    mx.save_safetensors(truth + ".safetensors", parameters)
    tell("model", len(parameters), sum(parameter.size for parameter in parameters.values()))
    del parameters
    for address in known():
        tell("known", hex(address))
    file.close()
    print("resting", flush=True)
    sys.stdin.read()


class Net(nn.Module):
    def __init__(self, widths):
        super().__init__()
        self.layers = [nn.Linear(a, b) for a, b in zip(widths, widths[1:])]
        self.norm = nn.LayerNorm(widths[-1])

    def __call__(self, x):
        for layer in self.layers[:-1]:
            x = nn.gelu(layer(x))
        return self.norm(self.layers[-1](x))


def batches(x, y, size):
    order = mx.random.permutation(x.shape[0])
    for at in range(0, x.shape[0], size):
        chosen = order[at : at + size]
        yield x[chosen], y[chosen]


def train():
    model = Net([6, 16, 16, 3])
    optimizer = optim.Adam(learning_rate=1e-2)
    x = mx.random.normal((64, 6))
    y = mx.argmax(x[:, :3], axis=1)
    step = nn.value_and_grad(model, lambda model, x, y: nn.losses.cross_entropy(model(x), y, reduction="mean"))
    losses = []
    for epoch in range(2):
        for batch, target in batches(x, y, 16):
            loss, gradients = step(model, batch, target)
            optimizer.update(model, gradients)
            mx.eval(model.parameters(), optimizer.state)
            losses.append(loss)
    mx.eval(losses)
    name("losses[6]", losses[6])
    name("x", x)
    name("optimizer._state['layers'][2]['weight']['v']", optimizer.state["layers"][2]["weight"]["v"])
    rest(model, batch)


def diffuse():
    model = Net([4, 8, 4])
    mx.eval(model.parameters())
    latents = mx.random.normal((2, 4))
    for t in range(50):
        noise = model(latents)
        latents = latents - 0.02 * noise + 0.01 * mx.random.normal(latents.shape)
    rest(model, latents)


def lm():
    package = types.ModuleType("mlx_lm")  # its __init__ wants what fetches models
    package.__path__ = importlib.util.find_spec("mlx_lm").submodule_search_locations
    sys.modules["mlx_lm"] = package
    from mlx_lm.models.cache import KVCache
    from mlx_lm.models.llama import Model, ModelArgs

    model = Model(ModelArgs("llama", 32, 2, 64, 4, 1e-5, 50, num_key_value_heads=2, tie_word_embeddings=False))
    nn.quantize(model, group_size=32, bits=4, class_predicate=lambda path, part: path.endswith("down_proj"))
    mx.eval(model.parameters())
    cache = [KVCache() for _ in model.layers]
    tokens = mx.array([[3, 1, 4, 1, 5]])
    for step in range(4):
        logits = model(tokens, cache=cache)[:, -1]
        tokens = mx.argmax(logits, axis=-1, keepdims=True)
        mx.eval(tokens)
    following = mx.softmax(model(tokens, cache=cache), axis=-1)
    mx.eval(cache[1].keys)
    name("cache[1].keys", cache[1].keys)
    name("tokens", tokens)
    rest(model, following)


globals()[kind]()
