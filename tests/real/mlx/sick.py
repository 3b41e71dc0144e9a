"""python3 sick.py list | NAME sick|well: programs that are sick, and their healthy twins, as tests/doctor plays them."""

import sys

import mlx.core as mx
import mlx.nn as nn

mx.set_default_device(mx.cpu)
kept = {}


def growing_state(sick):
    a, x = mx.ones((64, 3)), mx.zeros((64, 3))
    mx.eval(a, x)
    for _ in range(600):
        x = mx.tanh(x) * a + mx.sin(x)
        if not sick:
            mx.eval(x)
    kept["x"] = x


def losses_with_graphs(sick):
    w = kept["w"] = mx.ones((256, 256))
    mx.eval(w)
    losses = kept["losses"] = []
    for i in range(30):
        x = mx.full((64, 256), i)
        mx.eval(x)
        loss = mx.mean(mx.square(x @ w))
        losses.append(loss if sick else loss.item())


def mixed_halves(sick):
    x = mx.ones((64, 64)).astype(mx.float16)
    kept["y"] = x * mx.ones((64, 64)).astype(mx.bfloat16 if sick else mx.float16)


def softmax_by_hand(sick):
    x = mx.ones((64, 64)).astype(mx.float16)
    kept["y"] = (mx.softmax(x.astype(mx.float32), axis=-1).astype(mx.float16) if sick
                 else mx.softmax(x, axis=-1, precise=True))


def heads_by_reshape(sick):
    q = mx.ones((2, 10, 64))
    kept["q"] = q.reshape(2, 4, 10, 16) if sick else q.reshape(2, 10, 4, 16).transpose(0, 2, 1, 3)


def groups_by_copies(sick):
    k = mx.ones((1, 1024, 256))
    kept["k"] = mx.concatenate([k] * 4) if sick else mx.broadcast_to(k, (4, 1024, 256))


def log_of_negative(sick):
    x = kept["x"] = mx.array([1.0, -1.0 if sick else 2.0])
    kept["ones"] = mx.ones((3, 4))
    kept["y"] = mx.log(x)
    mx.eval(kept["y"])


def scales_of_another(sick):
    layer = kept["layer"] = nn.QuantizedLinear(192, 16)
    if sick:
        layer.scales = nn.QuantizedLinear(320, 16).scales
    mx.eval(layer.parameters())


def layers(sick):
    """A deep model, built and not yet evaluated."""
    kept["layers"] = [nn.Linear(16, 16) for _ in range(200)]
    x = mx.ones((4, 16))
    for layer in kept["layers"]:
        x = nn.relu(layer(x))
    kept["x"] = x


scenes = {growing_state: "L1", losses_with_graphs: "L7a", mixed_halves: "L5b", softmax_by_hand: "L11",
          heads_by_reshape: "L9b", groups_by_copies: "L9c", log_of_negative: "N1", scales_of_another: "Q1",
          layers: "none"}
if sys.argv[1] == "list":
    for scene, rule in scenes.items():
        print(scene.__name__, rule)
else:
    {scene.__name__: scene for scene in scenes}[sys.argv[1]](sys.argv[2] == "sick")
    print("ready", flush=True)
    sys.stdin.read()
