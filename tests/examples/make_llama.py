#!/usr/bin/python3
"""Small models of the llama architecture, and what they should write, worked out with NumPy.

make_llama.py FOLDER            writes FOLDER/NAME.gguf, FOLDER/hf, FOLDER/mlx, and for each NAME
                                NAME.npy, the logits of PROMPT, and NAME.greedy, what follows
make_llama.py --logits GOT EXPECTED TOLERANCE    compares, relative to the largest
make_llama.py --tokens NAME TEXT                 the tokens of a text
"""
import json
import os
import re
import struct
import sys

import numpy as np

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "..", "unit"))
import files  # noqa: E402

WIDTH, LAYERS, HEADS, KV_HEADS, HIDDEN, VOCABULARY = 256, 2, 4, 2, 512, 384
SIZE = WIDTH // HEADS
EPSILON, BASE = 1e-5, 10000.0
PROMPT = [1, 77, 300, 12, 5, 350, 351, 200, 40]
GREEDY = 12
rng = np.random.default_rng(20)

SHAPES = {"q": (HEADS * SIZE, WIDTH), "k": (KV_HEADS * SIZE, WIDTH), "v": (KV_HEADS * SIZE, WIDTH),
          "o": (WIDTH, HEADS * SIZE), "gate": (HIDDEN, WIDTH), "up": (HIDDEN, WIDTH),
          "down": (WIDTH, HIDDEN)}
GGUF = {"q": "attn_q", "k": "attn_k", "v": "attn_v", "o": "attn_output", "gate": "ffn_gate",
        "up": "ffn_up", "down": "ffn_down"}
HF = {"q": "self_attn.q_proj", "k": "self_attn.k_proj", "v": "self_attn.v_proj",
      "o": "self_attn.o_proj", "gate": "mlp.gate_proj", "up": "mlp.up_proj",
      "down": "mlp.down_proj"}


# ---- the model ----

def norm(x, weight):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + EPSILON) * weight


def rope(x, traditional):
    """x (heads, positions, SIZE)"""
    i = np.arange(SIZE // 2)
    angle = np.arange(x.shape[1])[:, None] * BASE ** (-2 * i / SIZE)
    a, b = (x[..., ::2], x[..., 1::2]) if traditional else (x[..., :SIZE // 2], x[..., SIZE // 2:])
    turned = a * np.cos(angle) - b * np.sin(angle), a * np.sin(angle) + b * np.cos(angle)
    return np.stack(turned, -1).reshape(x.shape) if traditional else np.concatenate(turned, -1)


def attend(x, layer, traditional):
    def heads(name):
        return (x @ layer[name].T).reshape(len(x), -1, SIZE).transpose(1, 0, 2)
    group = HEADS // KV_HEADS
    q = rope(heads("q"), traditional)
    k = np.repeat(rope(heads("k"), traditional), group, 0)
    v = np.repeat(heads("v"), group, 0)
    scores = q @ k.transpose(0, 2, 1) / np.sqrt(SIZE)
    scores[:, np.triu(np.ones((len(x), len(x)), bool), 1)] = -np.inf
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    return (weights @ v).transpose(1, 0, 2).reshape(len(x), -1) @ layer["o"].T


def forward(model, ids, traditional):
    x = model["embedding"][ids].astype("f8")
    for layer in model["layers"]:
        x = x + attend(norm(x, layer["norm1"]), layer, traditional)
        y = norm(x, layer["norm2"])
        gate = y @ layer["gate"].T
        x = x + (gate / (1 + np.exp(-gate)) * (y @ layer["up"].T)) @ layer["down"].T
    return norm(x, model["norm"]) @ model.get("output", model["embedding"]).T


def expect(folder, name, model, traditional):
    np.save(os.path.join(folder, name + ".npy"), forward(model, PROMPT, traditional))
    ids = list(PROMPT)
    for _ in range(GREEDY):
        ids.append(int(forward(model, ids, traditional)[-1].argmax()))
    with open(os.path.join(folder, name + ".greedy"), "w") as f:
        f.write(", ".join(map(str, ids[len(PROMPT):])) + "\n")


def build(matrix, tied=False):
    """A model whose matrices are matrix(name, shape)."""
    def vector():
        return (1 + 0.1 * rng.standard_normal(WIDTH)).astype("f4")
    model = {"embedding": matrix("embedding", (VOCABULARY, WIDTH)), "norm": vector()}
    if not tied:
        model["output"] = matrix("output", (VOCABULARY, WIDTH))
    model["layers"] = []
    for i in range(LAYERS):
        layer = {part: matrix((i, part), shape) for part, shape in SHAPES.items()}
        layer.update(norm1=vector(), norm2=vector())
        model["layers"].append(layer)
    return model


def floats(shape):
    return (rng.standard_normal(shape) / np.sqrt(shape[1])).astype("f4")


# ---- tokenizers ----

PIECES = [" ", "e", "l", "o", "h", "w", "r", "d", "t", "he", "ll", "llo", " he", "lo", " hello",
          " w", "or", "ld", " wor", " world", "th", " the", "er", "\u00e9", "in", "a", "n", "i"]


def score_pieces():
    """SentencePiece's: specials, bytes, pieces whose score falls with their place, fillers."""
    tokens = ["<unk>", "<s>", "</s>"] + ["<0x%02X>" % i for i in range(256)]
    tokens += [p.replace(" ", "\u2581") for p in PIECES]
    tokens += ["<filler%d>" % i for i in range(VOCABULARY - len(tokens))]
    types = [2, 3, 3] + [6] * 256 + [1] * (VOCABULARY - 259)
    scores = [0.0] * 259 + [-float(len(PIECES) - i) if len(p) > 1 else -1000.0
                            for i, p in enumerate(PIECES)]
    scores += [-2000.0] * (VOCABULARY - len(scores))
    return tokens, types, scores


def letters():
    """GPT-2's letters for bytes."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [b for b in range(256) if b not in printable]
    return {**{b: chr(b) for b in printable}, **{b: chr(256 + i) for i, b in enumerate(others)}}


MERGES = [("h", "e"), ("l", "l"), ("ll", "o"), ("he", "llo"), ("\u0120", "w"), ("o", "r"),
          ("\u0120w", "or"), ("l", "d"), ("\u0120wor", "ld"), ("\u0120", "hello"), ("1", "2"),
          ("12", "3"), ("\u00c3", "\u00a9")]


def byte_pairs():
    tokens = ["<|begin|>", "<|end|>"] + [letters()[b] for b in range(256)]
    tokens += [a + b for a, b in MERGES]
    return tokens + ["<filler%d>" % i for i in range(VOCABULARY - len(tokens))]


def encode_scores(text):
    tokens, types, scores = score_pieces()
    ids = {t: i for i, t in enumerate(tokens) if types[i] == 1}
    symbols = list(("\u2581" + text.replace(" ", "\u2581")) if text else "")
    while True:
        pairs = [(-scores[ids[a + b]], i) for i, (a, b) in enumerate(zip(symbols, symbols[1:]))
                 if a + b in ids]
        if not pairs:
            break
        i = min(pairs)[1]
        symbols[i:i + 2] = [symbols[i] + symbols[i + 1]]
    out = [1]
    for s in symbols:
        out += [ids[s]] if s in ids else [3 + b for b in s.encode()]
    return out


WORDS = re.compile(r"'s|'t|'re|'ve|'m|'ll|'d| ?[^\W\d_]+| ?\d+| ?(?:[^\s\w]|_)+|\s+(?!\S)|\s+")


def encode_pairs(text, bos):
    ids = {t: i for i, t in enumerate(byte_pairs())}
    ranks = {pair: i for i, pair in enumerate(MERGES)}
    out = list(bos)
    for word in WORDS.findall(text):
        symbols = [letters()[b] for b in word.encode()]
        while True:
            pairs = [(ranks[p], i) for i, p in enumerate(zip(symbols, symbols[1:])) if p in ranks]
            if not pairs:
                break
            i = min(pairs)[1]
            symbols[i:i + 2] = [symbols[i] + symbols[i + 1]]
        out += [ids[s] for s in symbols]
    return out


# ---- files ----

def gguf_metadata(byte_level):
    number, real, flag, string = 4, 6, 7, 8
    pairs = [("general.architecture", string, "llama"), ("llama.block_count", number, LAYERS),
             ("llama.embedding_length", number, WIDTH),
             ("llama.feed_forward_length", number, HIDDEN),
             ("llama.attention.head_count", number, HEADS),
             ("llama.attention.head_count_kv", number, KV_HEADS),
             ("llama.attention.layer_norm_rms_epsilon", real, EPSILON),
             ("llama.rope.freq_base", real, BASE), ("llama.context_length", number, 64)]
    if byte_level:
        pairs += [("tokenizer.ggml.model", string, "gpt2"), ("tokenizer.ggml.bos_token_id", number, 0),
                  ("tokenizer.ggml.eos_token_id", number, 1), ("tokenizer.ggml.add_bos_token", flag, False)]
        arrays = [files.array("tokenizer.ggml.tokens", 8, byte_pairs()),
                  files.array("tokenizer.ggml.merges", 8, ["%s %s" % m for m in MERGES])]
    else:
        tokens, types, scores = score_pieces()
        pairs += [("tokenizer.ggml.model", string, "llama"), ("tokenizer.ggml.bos_token_id", number, 1),
                  ("tokenizer.ggml.eos_token_id", number, 2)]
        arrays = [files.array("tokenizer.ggml.tokens", 8, tokens),
                  files.array("tokenizer.ggml.token_type", 5, types),
                  files.array("tokenizer.ggml.scores", 6, scores)]
    return [files.pair(*p) for p in pairs] + arrays


def blocks_of(kind, shape):
    """Random blocks, scaled to have the size of weights; and their values."""
    _, elements, size, places, decode = files.BLOCKS[kind]
    n = int(np.prod(shape)) // elements
    blocks = rng.integers(0, 256, (n, size), dtype="u1")
    deviation = 1 / np.sqrt(shape[1])
    steps = {"Q4_0": 0.2, "Q4_1": 0.2, "Q5_0": 0.1, "Q5_1": 0.1, "Q8_0": 0.013, "Q4_K": 0.004, "Q5_K": 0.002,
             "Q6_K": 0.0007}
    for at in places:
        step = deviation * steps[kind] * (1 + 0.2 * rng.random((n, 1)))
        if at == 2:  # the least, or its step
            step *= (7.5 if kind[1] == "4" else 15.5) * (-1 if kind.endswith("_1") else 1)
        blocks[:, at:at + 2] = step.astype("<f2").view("u1").reshape(n, 2)
    if kind == "MXFP4":
        blocks[:, 0] = rng.integers(121, 124, n)
    values = decode(blocks).reshape(shape).astype("f4")
    return blocks.tobytes(), values


def stored(kind, shape, x=None):
    """Number of the type, bytes, values"""
    x = floats(shape) if x is None else x
    if kind == "F32":
        return 0, x.tobytes(), x
    if kind == "F16":
        return 1, x.astype("f2").tobytes(), x.astype("f2").astype("f4")
    if kind == "BF16":
        bits = files.bfloat16(x)
        return 30, bits.tobytes(), (bits.astype("u4") << 16).view("f4").reshape(shape)
    return (files.BLOCKS[kind][0], *blocks_of(kind, shape))


def write_gguf(folder, name, kinds, byte_level=False, tied=False, given=None):
    """kinds: of the matrices, in turn"""
    gguf = files.Gguf()
    gguf.metadata = gguf_metadata(byte_level)
    count = 0

    def matrix(key, shape):
        nonlocal count
        kind = kinds[count % len(kinds)]
        count += 1
        number, content, x = stored(kind, shape, given and given(key))
        there = {"embedding": "token_embd", "output": "output"}.get(
            key) or "blk.%d.%s" % (key[0], GGUF[key[1]])
        gguf.tensor(there + ".weight", number, shape, content)
        return x
    model = build(matrix, tied)
    vectors = {"output_norm": model["norm"]}
    for i, layer in enumerate(model["layers"]):
        vectors["blk.%d.attn_norm" % i], vectors["blk.%d.ffn_norm" % i] = layer["norm1"], layer["norm2"]
    for there, x in vectors.items():
        gguf.tensor(there + ".weight", 0, x.shape, x.tobytes())
    with open(os.path.join(folder, name + ".gguf"), "wb") as f:
        f.write(gguf.bytes())
    expect(folder, name, model, True)


def quantised(shape, group=64):
    """MLX's affine of 4 bits: words, scales, biases, values"""
    codes = rng.integers(0, 16, shape, dtype="u4")
    scales = (0.2 / np.sqrt(shape[1]) * (1 + rng.random((shape[0], shape[1] // group)))).astype("f2")
    biases = (-7.5 * scales).astype("f2")
    words = (codes.reshape(shape[0], -1, 8) << (4 * np.arange(8, dtype="u4"))).sum(-1, dtype="u4")
    values = codes * np.repeat(scales.astype("f4"), group, 1) + np.repeat(biases.astype("f4"), group, 1)
    return words, scales, biases, values


def write_folder(folder, name, quantise, tokenizer):
    tensors = {}

    def matrix(key, shape):
        there = {"embedding": "model.embed_tokens", "output": "lm_head"}.get(
            key) or "model.layers.%d.%s" % (key[0], HF[key[1]])
        if not quantise:
            tensors[there + ".weight"] = floats(shape)
            return tensors[there + ".weight"]
        words, scales, biases, values = quantised(shape)
        tensors.update({there + ".weight": words, there + ".scales": scales, there + ".biases": biases})
        return values
    model = build(matrix, tied=not quantise)
    tensors["model.norm.weight"] = model["norm"]
    for i, layer in enumerate(model["layers"]):
        at = "model.layers.%d." % i
        tensors[at + "input_layernorm.weight"] = layer["norm1"]
        tensors[at + "post_attention_layernorm.weight"] = layer["norm2"]
    path = os.path.join(folder, name)
    os.makedirs(path, exist_ok=True)
    names = sorted(tensors)
    for part in range(2):  # in two files
        header, data = {}, b""
        for there in names[part::2]:
            x = tensors[there]
            header[there] = {"dtype": {"f4": "F32", "f2": "F16", "u4": "U32"}[x.dtype.str[1:]],
                             "shape": x.shape, "data_offsets": [len(data), len(data) + x.nbytes]}
            data += x.tobytes()
        text = json.dumps(header).encode()
        text += b" " * (-len(text) % 8)
        with open(os.path.join(path, "model-%d.safetensors" % part), "wb") as f:
            f.write(files.safetensors(text, data))
    config = {"model_type": "llama", "hidden_size": WIDTH, "num_hidden_layers": LAYERS,
              "num_attention_heads": HEADS, "num_key_value_heads": KV_HEADS,
              "intermediate_size": HIDDEN, "vocab_size": VOCABULARY, "rms_norm_eps": EPSILON,
              "rope_theta": BASE, "max_position_embeddings": 64, "bos_token_id": 0 if not quantise else 1,
              "eos_token_id": [1] if not quantise else 2, "rope_scaling": None}
    if quantise:
        config["quantization"] = {"bits": 4, "group_size": 64}
    for file, content in (("config.json", config), ("tokenizer.json", tokenizer)):
        with open(os.path.join(path, file), "w") as f:
            json.dump(content, f)
    expect(folder, name, model, False)


def tokenizer_pairs():
    tokens = byte_pairs()
    return {"model": {"type": "BPE", "vocab": {t: i for i, t in enumerate(tokens) if i > 1},
                      "merges": ["%s %s" % m for m in MERGES]},
            "added_tokens": [{"id": i, "content": tokens[i], "special": True} for i in (0, 1)],
            "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False},
            "decoder": {"type": "ByteLevel"},
            "post_processor": {"type": "TemplateProcessing",
                               "single": [{"SpecialToken": {"id": tokens[0]}}]}}


def merges_of_pieces():
    """The merges by which pairs give the same as scores: every way to make a piece of two."""
    tokens, types, scores = score_pieces()
    ids = {t: i for i, t in enumerate(tokens) if types[i] == 1}
    whole = sorted((t for t in ids if len(t) > 1 and not t.startswith("<")), key=lambda t: -scores[ids[t]])
    return [[t[:i], t[i:]] for t in whole for i in range(1, len(t)) if t[:i] in ids and t[i:] in ids]


def tokenizer_pieces():
    tokens, types, _ = score_pieces()
    return {"model": {"type": "BPE", "byte_fallback": True,
                      "vocab": {t: i for i, t in enumerate(tokens)}, "merges": merges_of_pieces()},
            "normalizer": {"type": "Sequence", "normalizers": [
                {"type": "Prepend", "prepend": "\u2581"}, {"type": "Replace", "content": "\u2581"}]},
            "decoder": {"type": "ByteFallback"},
            "added_tokens": [{"id": i, "content": tokens[i], "special": True} for i in range(3)],
            "post_processor": {"type": "TemplateProcessing",
                               "single": [{"SpecialToken": {"id": "<s>"}}]}}


def write(folder):
    os.makedirs(folder, exist_ok=True)
    write_gguf(folder, "F32", ["F32"])
    write_gguf(folder, "F16", ["F16"], byte_level=True, tied=True)
    for kind in ("BF16", "Q4_0", "Q4_1", "Q8_0", "Q4_K", "Q6_K", "MXFP4"):
        write_gguf(folder, kind, [kind])
    write_gguf(folder, "mixed", ["Q4_K", "Q6_K", "Q8_0", "F32", "Q4_0"], tied=True)
    write_folder(folder, "hf", False, tokenizer_pairs())
    write_folder(folder, "mlx", True, tokenizer_pieces())
    for kind in ("Q5_0", "Q5_1", "Q5_K"):
        write_gguf(folder, kind, [kind])


def compare(got, expected, tolerance):
    got, expected = (np.load(x) if x.endswith(".npy") else np.loadtxt(x) for x in (got, expected))
    if got.shape != expected.shape:
        sys.exit("shape %s, not %s" % (got.shape, expected.shape))
    off = np.abs(got - expected).max() / np.abs(expected).max()
    print("off by %.3g of the largest" % off)
    if not off <= float(tolerance):
        sys.exit("more than %s" % tolerance)


def tokens(name, text):
    if name == "F16":
        return encode_pairs(text, [])
    if name == "hf":
        return encode_pairs(text, [0])
    return encode_scores(text)


if __name__ == "__main__":
    if sys.argv[1] == "--logits":
        compare(*sys.argv[2:])
    elif sys.argv[1] == "--tokens":
        print(*tokens(*sys.argv[2:]))
    else:
        write(sys.argv[1])
