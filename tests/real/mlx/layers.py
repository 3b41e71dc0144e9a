"""python3 layers.py: what every layer, activation and loss of mlx.nn is about to compute, and gradients of some. As lazy.py."""

import mlx.core as mx
import mlx.nn as nn
from answers import tell

mx.set_default_device(mx.cpu)
mx.random.seed(0)
cases, kept = {}, []
x = mx.random.normal((2, 12, 8))
line, image, volume = (mx.random.normal((2, *[6] * n, 4)) for n in (1, 2, 3))
words = mx.array([[1, 5, 2], [0, 5, 5]])
near, targets = mx.random.uniform(shape=(5, 4)), mx.random.uniform(shape=(5, 4))
classes = mx.array([3, 0, 1, 2, 2])
mx.eval(x, line, image, volume, words, near, targets, classes)


def add(name, layer, *inputs):
    """Its parameters have values; what it computes has none."""
    if isinstance(layer, nn.Module):
        mx.eval(layer.parameters())
        kept.append(layer)
    out = layer(*inputs)
    cases[name] = out[0] if isinstance(out, (tuple, list)) else out


for name in (
    "ReLU ReLU6 ELU CELU SELU SiLU GELU Mish Sigmoid LogSigmoid Softplus Softsign Softmin Softmax LogSoftmax Tanh Step Hardswish Softshrink "
    "HardShrink HardTanh LeakyReLU PReLU ReLU2 GLU RMSNorm LayerNorm InstanceNorm GroupNorm BatchNorm Identity Dropout Dropout2d Linear Bilinear "
    "Embedding QuantizedLinear QuantizedEmbedding RNN LSTM GRU MultiHeadAttention TransformerEncoder Transformer RoPE ALiBi "
    "SinusoidalPositionalEncoding Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d MaxPool1d MaxPool2d MaxPool3d AvgPool1d "
    "AvgPool2d AvgPool3d Upsample Upsample_linear Upsample_cubic"
).split():
    kind, _, mode = name.partition("_")
    if not hasattr(nn, kind):
        continue
    make = getattr(nn, kind)
    if kind in ("RMSNorm", "LayerNorm", "InstanceNorm", "BatchNorm"):
        add(name, make(8), x)
    elif kind == "GroupNorm":
        add(name, make(2, 8), x)
    elif kind in ("Dropout2d",):
        add(name, make(0.4), image)
    elif kind == "Linear":
        add(name, make(8, 5), x)
    elif kind == "Bilinear":
        add(name, make(8, 8, 3), x, x + 1)
    elif kind == "Embedding":
        add(name, make(7, 4), words)
    elif kind == "QuantizedLinear":
        add(name, make(64, 8), mx.random.normal((2, 64)))
    elif kind == "QuantizedEmbedding":
        add(name, make(7, 64), words)
    elif kind in ("RNN", "LSTM", "GRU"):
        add(name, make(8, 4), x[:, :3])
    elif kind == "MultiHeadAttention":
        add(name, make(8, 2), x, x, x)
    elif kind == "TransformerEncoder":
        add(name, make(1, 8, 2, 16), x, None)
    elif kind == "Transformer":
        add(name, make(8, 2, 1, 1, 16), x, x, None, None, None)
    elif kind == "RoPE":
        add(name, make(8), x)
    elif kind == "ALiBi":
        add(name, lambda scores: nn.ALiBi()(scores), mx.random.normal((1, 2, 4, 4)))
    elif kind == "SinusoidalPositionalEncoding":
        add(name, make(8), mx.arange(5))
    elif kind.startswith("Conv"):
        n = int(kind[-2])
        add(name, make(4, 3, 3, stride=2, padding=1), [line, image, volume][n - 1])
    elif "Pool" in kind:
        n = int(kind[-2])
        add(name, make(3, 2, 1), [line, image, volume][n - 1])
    elif kind == "Upsample":
        add(name, make(1.5, mode or "nearest"), image)
    else:
        add(name, make(), x)
for name in "binary_cross_entropy l1_loss mse_loss smooth_l1_loss log_cosh_loss huber_loss kl_div_loss hinge_loss".split():
    add(name, getattr(nn.losses, name), near, targets)
add("cross_entropy", nn.losses.cross_entropy, near, classes)
add("cross_entropy_smoothed", lambda a, b: nn.losses.cross_entropy(a, b, label_smoothing=0.1), near, classes)
add("nll_loss", nn.losses.nll_loss, near, classes)
add("gaussian_nll_loss", nn.losses.gaussian_nll_loss, near, targets, near + 1)
add("triplet_loss", nn.losses.triplet_loss, near, targets, near + 0.5)
add("cosine_similarity_loss", nn.losses.cosine_similarity_loss, near, targets)
add("margin_ranking_loss", nn.losses.margin_ranking_loss, near, targets, mx.sign(near - 0.5))


def gradient(name, layer, *inputs):
    mx.eval(layer.parameters())
    kept.append(layer)
    found = nn.value_and_grad(layer, lambda *given: (layer(*given) ** 2).mean())(*inputs)[1]
    cases["gradient of " + name] = found["weight"]


gradient("Embedding", nn.Embedding(7, 4), words)
gradient("Linear", nn.Linear(8, 5), x)
gradient("LayerNorm", nn.LayerNorm(8), x)
gradient("RMSNorm", nn.RMSNorm(8), x)
gradient("Conv1d", nn.Conv1d(4, 3, 3, padding=1), line)
gradient("Conv2d", nn.Conv2d(4, 3, 3, stride=2), image)
asked = list(cases.values())
tell(cases, [], 0)
