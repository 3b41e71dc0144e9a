#!/usr/bin/python3
"""A small BERT, and what it makes of sentences, worked out with NumPy.

make_bert.py FOLDER                          writes the model there
make_bert.py --embeddings GOT SENTENCE...    compares a file with those of the sentences
make_bert.py --tokens SENTENCE               its tokens, of a sentence of plain words
"""
import json
import math
import os
import struct
import sys

import numpy as np

WIDTH, HIDDEN, LAYERS, HEADS, LONGEST = 48, 96, 2, 4, 12
EPSILON = 1e-12
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "cat", "##s", "sleep", "##ing", "a", "##b", "cafe", ".", ",",
         "!", "strasse", "\u65e5", "\u03c3\u03bf\u03c6\u03b7", "b", "\u1112", "##\u1161", "##\u11ab", "on"]


def shapes():
    yield "embeddings.word_embeddings.weight", (len(WORDS), WIDTH)
    yield "embeddings.position_embeddings.weight", (LONGEST, WIDTH)
    yield "embeddings.token_type_embeddings.weight", (2, WIDTH)
    yield from norm("embeddings.LayerNorm")
    for i in range(LAYERS):
        at = "encoder.layer.%d." % i
        for name in "query", "key", "value":
            yield from dense(at + "attention.self." + name, WIDTH, WIDTH)
        yield from dense(at + "attention.output.dense", WIDTH, WIDTH)
        yield from norm(at + "attention.output.LayerNorm")
        yield from dense(at + "intermediate.dense", HIDDEN, WIDTH)
        yield from dense(at + "output.dense", WIDTH, HIDDEN)
        yield from norm(at + "output.LayerNorm")


def dense(name, outputs, inputs):
    return (name + ".weight", (outputs, inputs)), (name + ".bias", (outputs,))


def norm(name):
    return (name + ".weight", (WIDTH,)), (name + ".bias", (WIDTH,))


def weights():
    rng = np.random.default_rng(8)
    return {name: rng.standard_normal(shape).astype("f4") for name, shape in shapes()}


def write(folder):
    os.makedirs(folder)
    header, data = {}, b""
    for name, x in weights().items():
        header[name] = {"dtype": "F32", "shape": x.shape, "data_offsets": [len(data), len(data) + x.nbytes]}
        data += x.tobytes()
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(os.path.join(folder, "model.safetensors"), "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + data)
    with open(os.path.join(folder, "vocab.txt"), "w", encoding="utf-8") as f:
        f.write("\n".join(WORDS) + "\n")
    with open(os.path.join(folder, "config.json"), "w") as f:
        json.dump({"model_type": "bert", "hidden_act": "gelu", "vocab_size": len(WORDS), "hidden_size": WIDTH,
                   "intermediate_size": HIDDEN, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS,
                   "max_position_embeddings": LONGEST, "layer_norm_eps": EPSILON}, f)


def tokens(sentence):
    """Of words that are pieces, or one piece and another behind it."""
    out = [WORDS.index("[CLS]")]
    for word in sentence.split():
        ends = [n for n in range(len(word), 0, -1) if word[:n] in WORDS and
                (n == len(word) or "##" + word[n:] in WORDS)]
        out += [WORDS.index(word[:ends[0]])] if ends else [WORDS.index("[UNK]")]
        if ends and ends[0] < len(word):
            out.append(WORDS.index("##" + word[ends[0]:]))
    return out + [WORDS.index("[SEP]")]


def embed(w, ids):
    """One sentence alone, which needs no mask."""
    def layer_norm(name, x):
        x = x - x.mean(-1, keepdims=True)
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + EPSILON) * w[name + ".weight"] + w[name + ".bias"]

    def apply(name, x):
        return x @ w[name + ".weight"].T.astype("f8") + w[name + ".bias"]

    def heads(name, x):
        return apply(name, x).reshape(len(ids), HEADS, -1).transpose(1, 0, 2)
    x = (w["embeddings.word_embeddings.weight"][ids].astype("f8") + w["embeddings.token_type_embeddings.weight"][0] +
         w["embeddings.position_embeddings.weight"][:len(ids)])
    x = layer_norm("embeddings.LayerNorm", x)
    for i in range(LAYERS):
        at = "encoder.layer.%d." % i
        q, k, v = (heads(at + "attention.self." + name, x) for name in ("query", "key", "value"))
        scores = np.exp(q @ k.transpose(0, 2, 1) / math.sqrt(WIDTH // HEADS))
        y = (scores / scores.sum(-1, keepdims=True) @ v).transpose(1, 0, 2).reshape(len(ids), -1)
        x = layer_norm(at + "attention.output.LayerNorm", x + apply(at + "attention.output.dense", y))
        y = apply(at + "intermediate.dense", x)
        y = y * (1 + np.vectorize(math.erf)(y / math.sqrt(2))) / 2
        x = layer_norm(at + "output.LayerNorm", x + apply(at + "output.dense", y))
    mean = x.mean(0)
    return mean / np.linalg.norm(mean)


def compare(got, sentences):
    w = weights()
    expected = np.array([embed(w, tokens(s)[:LONGEST - 1] + [3] if len(tokens(s)) > LONGEST else tokens(s))
                         for s in sentences])
    got = np.load(got)
    off = np.abs(got - expected).max(-1) if got.shape == expected.shape else [np.inf]
    print("off by", off)
    sys.exit(int(max(off) > 1e-5))


if __name__ == "__main__":
    if sys.argv[1] == "--embeddings":
        compare(sys.argv[2], sys.argv[3:])
    elif sys.argv[1] == "--tokens":
        print(*tokens(sys.argv[2]))
    else:
        write(sys.argv[1])
