#!/usr/bin/python3
"""A small model of whisper's kind, with random weights, in the file format of whisper.cpp's
models/convert-pt-to-ggml.py: what it says means nothing, how it is computed is as ever.

make_whisper.py FILE [TENSOR]    TENSOR: a bias or the weight of a norm whose first element is NaN
"""
import struct
import sys

import numpy as np

MELS, FFT, AUDIO, TEXT, STATE, HEADS, LAYERS, VOCABULARY = 8, 201, 32, 32, 64, 1, 2, 96
rng = np.random.default_rng(8)


def block(name, cross):
    """One layer: two linear ones behind a norm, and attention, in the decoder also to what was heard."""
    yield name + "mlp_ln", None
    yield name + "mlp.0", (4 * STATE, STATE)
    yield name + "mlp.2", (STATE, 4 * STATE)
    for attention in ["attn", "cross_attn"] if cross else ["attn"]:
        yield name + attention + "_ln", None
        for part in ["query", "key", "value", "out"]:
            yield f"{name}{attention}.{part}", (STATE, STATE)


def tensors():
    """Name and shape, as NumPy has it."""
    yield "encoder.positional_embedding", (AUDIO, STATE)
    yield "decoder.positional_embedding", (TEXT, STATE)
    yield "decoder.token_embedding.weight", (VOCABULARY, STATE)
    for name, inputs in ("encoder.conv1", MELS), ("encoder.conv2", STATE):
        yield name + ".weight", (STATE, inputs, 3)
        yield name + ".bias", (STATE, 1)
    parts = [("encoder.ln_post", None), ("decoder.ln", None)]
    for i in range(LAYERS):
        parts += block(f"encoder.blocks.{i}.", False)
        parts += block(f"decoder.blocks.{i}.", True)
    for name, shape in parts:
        yield name + ".weight", shape or (STATE,)
        if not name.endswith(".key"):
            yield name + ".bias", (shape[0] if shape else STATE,)


def write(f):
    f.write(struct.pack("<I11i", 0x67676D6C, VOCABULARY, AUDIO, STATE, HEADS, LAYERS,
                        TEXT, STATE, HEADS, LAYERS, MELS, 1))
    f.write(struct.pack("<2i", MELS, FFT))
    f.write(rng.uniform(0, 0.05, (MELS, FFT)).astype("<f4").tobytes())
    f.write(struct.pack("<i", VOCABULARY))
    for i in range(VOCABULARY):
        word = b"w%d" % i
        f.write(struct.pack("<I", len(word)) + word)
    for name, shape in tensors():
        is_half = len(shape) > 1 and "positional" not in name and not name.endswith(".bias")
        around = 1 if len(shape) == 1 and name.endswith("weight") else 0
        values = (around + rng.normal(0, 0.1, shape)).astype("<f2" if is_half else "<f4")
        if [name] == sys.argv[2:]:
            values.flat[0] = np.nan
        f.write(struct.pack("<3i", len(shape), len(name), is_half))
        f.write(struct.pack(f"<{len(shape)}i", *reversed(shape)) + name.encode() + values.tobytes())


with open(sys.argv[1], "wb") as f:
    write(f)
