#!/usr/bin/python3
"""Small models of the architectures that examples/llama reads, and what they should write, worked out with NumPy.

make_kinds.py FOLDER            writes FOLDER/NAME.gguf, NAME.npy and NAME.greedy for each name in KINDS
make_kinds.py --names           the names
make_kinds.py --texts           texts to encode, one a line
make_kinds.py --tokens NAME     the tokens of each
make_kinds.py --changed FILE NAME KEY VALUE    writes a file in which a key has another value, or None
"""
import ast
import math
import os
import re
import sys
import unicodedata

import numpy as np

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, here)
sys.path.insert(0, os.path.join(here, "..", "unit"))
import files  # noqa: E402
import make_llama  # noqa: E402

WIDTH, HIDDEN, VOCABULARY, EPSILON = 64, 128, 512, 1e-6
PROMPT, GREEDY = make_llama.PROMPT, make_llama.GREEDY
STRING, NUMBER, REAL, FLAG = 8, 4, 6, 7
rng = np.random.default_rng(31)

KINDS = {  # what is not the same in all; `more`: keys of the file
    "llama": dict(pairs="neighbours", pre="llama-bpe", divisors=True, tied=True),
    "llama-linear": dict(arch="llama", pairs="neighbours", scale=1 / 4,
                         more=[("rope.scaling.type", STRING, "linear"), ("rope.scaling.factor", REAL, 4.0)]),
    "qwen2": dict(pre="qwen2", biases=True, base=1e6),
    "qwen2-yarn": dict(arch="qwen2", pre="qwen2", biases=True, scale=1 / 4, yarn=16,
                       more=[("rope.scaling.type", STRING, "yarn"), ("rope.scaling.factor", REAL, 4.0),
                             ("rope.scaling.original_context_length", NUMBER, 16)]),
    "qwen3": dict(pre="qwen2", query_norms=True, size=24, tied=True),
    "gemma": dict(gemma=True, tied=True, kv_heads=1, size=24),
    "gemma2": dict(gemma=True, tied=True, output_norms=True, layers=3, window=4, every=2, cap=2.0, logit_cap=3.0,
                   more=[("attention.sliding_window", NUMBER, 4), ("attn_logit_softcapping", REAL, 2.0),
                         ("final_logit_softcapping", REAL, 3.0)]),
    "gemma3": dict(gemma=True, tied=True, output_norms=True, query_norms=True, layers=7, window=5, every=6, base=1e6,
                   scale=1 / 8, local_base=1e4,
                   more=[("attention.sliding_window", NUMBER, 5), ("rope.scaling.type", STRING, "linear"),
                         ("rope.scaling.factor", REAL, 8.0)]),
}


class Kind:
    arch, pairs, pre, divisors, tied, biases = None, "halves", None, False, False, False
    scale, yarn, base, local_base = 1, 0, 1e4, None
    query_norms, output_norms, gemma = False, False, False
    heads, kv_heads, size, layers = 4, 2, 16, 2
    window, every, cap, logit_cap = 0, 1, 0, 0
    more = ()

    def __init__(self, name):
        self.name = name
        vars(self).update(KINDS[name])
        self.arch = self.arch or name


# ---- the weights, by GGUF's names ----

def weights(kind):
    def matrix(rows, columns, size=1.0):
        return (rng.standard_normal((rows, columns)) * size / math.sqrt(columns)).astype("f4")

    def vector(n, middle=1.0):
        return (middle + 0.2 * rng.standard_normal(n)).astype("f4")
    queries, keys = kind.heads * kind.size, kind.kv_heads * kind.size
    w = {"token_embd.weight": matrix(VOCABULARY, WIDTH, 0.5 / 8 if kind.gemma else 0.5),
         "output_norm.weight": vector(WIDTH)}
    if not kind.tied:
        w["output.weight"] = matrix(VOCABULARY, WIDTH)
    if kind.divisors:
        w["rope_freqs.weight"] = np.linspace(1, 8, kind.size // 2).astype("f4")
    for i in range(kind.layers):
        at = "blk.%d." % i
        w.update({at + "attn_norm.weight": vector(WIDTH), at + "ffn_norm.weight": vector(WIDTH),
                  at + "attn_q.weight": matrix(queries, WIDTH, 1.5), at + "attn_k.weight": matrix(keys, WIDTH, 1.5),
                  at + "attn_v.weight": matrix(keys, WIDTH), at + "attn_output.weight": matrix(WIDTH, queries),
                  at + "ffn_gate.weight": matrix(HIDDEN, WIDTH), at + "ffn_up.weight": matrix(HIDDEN, WIDTH),
                  at + "ffn_down.weight": matrix(WIDTH, HIDDEN)})
        if kind.biases:
            w.update({at + "attn_q.bias": vector(queries, 0), at + "attn_k.bias": vector(keys, 0),
                      at + "attn_v.bias": vector(keys, 0)})
        if kind.query_norms:
            w.update({at + "attn_q_norm.weight": vector(kind.size), at + "attn_k_norm.weight": vector(kind.size)})
        if kind.output_norms:
            w.update({at + "post_attention_norm.weight": vector(WIDTH), at + "post_ffw_norm.weight": vector(WIDTH)})
    return w


# ---- the forward pass: one position, one head at a time ----

def norm(x, weight):
    return x if weight is None else x / np.sqrt((x * x).mean(-1, keepdims=True) + EPSILON) * weight


def turn(kind, w, x, position, is_local):
    pairs = kind.size // 2
    base, scale = (kind.local_base, 1) if is_local and kind.local_base else (kind.base, kind.scale)
    out, length = np.empty(kind.size), 1.0
    for i in range(pairs):
        speed = base ** (-i / pairs)
        if kind.yarn:
            def turns_to_pair(turns):
                return kind.size * math.log(kind.yarn / (turns * 2 * math.pi)) / (2 * math.log(base))
            low, high = max(0, math.floor(turns_to_pair(32))), min(kind.size - 1, math.ceil(turns_to_pair(1)))
            part = min(1, max(0, (i - low) / max(0.001, high - low)))
            speed = speed * scale * part + speed * (1 - part)
            length = 1 + 0.1 * math.log(1 / scale)
        else:
            speed *= scale
        if kind.divisors:
            speed /= w["rope_freqs.weight"][i]
        a, b = (2 * i, 2 * i + 1) if kind.pairs == "neighbours" else (i, i + pairs)
        c, s = math.cos(position * speed) * length, math.sin(position * speed) * length
        out[a], out[b] = x[a] * c - x[b] * s, x[a] * s + x[b] * c
    return out


def attend(kind, w, i, x):
    def part(name):
        y = x @ w["blk.%d.attn_%s.weight" % (i, name)].T.astype("f8")
        return (y + w.get("blk.%d.attn_%s.bias" % (i, name), 0)).reshape(len(x), -1, kind.size)
    is_local = bool(kind.window) and (i + 1) % kind.every != 0
    q, k, v = part("q"), part("k"), part("v")
    for name, y in (("q", q), ("k", k)):
        y[:] = norm(y, w.get("blk.%d.attn_%s_norm.weight" % (i, name)))
        for position in range(len(x)):
            for head in range(y.shape[1]):
                y[position, head] = turn(kind, w, y[position, head], position, is_local)
    out = np.zeros((len(x), kind.heads, kind.size))
    for at in range(len(x)):
        first = max(0, at - kind.window + 1) if is_local else 0
        for head in range(kind.heads):
            keys = k[first:at + 1, head * kind.kv_heads // kind.heads]
            scores = keys @ q[at, head] / math.sqrt(kind.size)
            if kind.cap:
                scores = kind.cap * np.tanh(scores / kind.cap)
            scores = np.exp(scores - scores.max())
            out[at, head] = scores / scores.sum() @ v[first:at + 1, head * kind.kv_heads // kind.heads]
    return out.reshape(len(x), -1) @ w["blk.%d.attn_output.weight" % i].T


def activate(kind, x):
    if kind.gemma:
        return x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3))) / 2
    return x / (1 + np.exp(-x))


def forward(kind, w, ids):
    x = w["token_embd.weight"][ids].astype("f8")
    if kind.gemma:
        x *= math.sqrt(WIDTH)
    for i in range(kind.layers):
        at = "blk.%d." % i
        y = attend(kind, w, i, norm(x, w[at + "attn_norm.weight"]))
        x = x + norm(y, w.get(at + "post_attention_norm.weight"))
        y = norm(x, w[at + "ffn_norm.weight"])
        y = activate(kind, y @ w[at + "ffn_gate.weight"].T) * (y @ w[at + "ffn_up.weight"].T)
        x = x + norm(y @ w[at + "ffn_down.weight"].T, w.get(at + "post_ffw_norm.weight"))
    logits = norm(x, w["output_norm.weight"]) @ w.get("output.weight", w["token_embd.weight"]).T
    return kind.logit_cap * np.tanh(logits / kind.logit_cap) if kind.logit_cap else logits


# ---- tokenizers: their merges are learnt without words, so that a wrong split of words shows ----

TEXT = ("The year's 1234567 birds don't sing;   they'll  WE'RE here  (maybe)... 12345 x123\n\n  new lines\r\n\n and tabs\t\t"
        "end  \u00e9t\u00e9 \u65e5\u672c\u8a9e hello world, hello world! {a: [1, 22, 333]} I'M we've \u00fcber  a\n b ")
FOREIGN = ["x\u00b2\u00bdy", "\u2462\u2163a", "\u0967\u0968\u0969\u096a\u0967", "\u0939\u093f\u0928\u094d\u0926\u0940",
           "\u0e20\u0e32\u0e29\u0e32\u0e44\u0e17\u0e22\u0e48\u0e32", "\u0628\u0650\u0633", "\u24b6b", "a\u202fb"]
TEXT += " ".join(FOREIGN) + "(" + ")(".join(FOREIGN) + ")"  # each in two places, so that its parts are merged first
OWN = "<own>"  # a token that is found in a text as it is
TEXTS = ["hello world", "", "Hello, the WORLD's 123 12345  \u00e9 \u65e5\u672c!  ", OWN,
         "a%sb%s c %s%s  x<own" % (OWN, OWN, OWN, OWN), "  a  b   world  ", "I'M WE'LL we'll don't 'tis 's",
         "1 12 123 1234 12345678", "...((( {a: [1, 22, 333]} x_y _z", "tab\tand  \t spaces \u3000x\u00a0y",
         "\u00e9t\u00e9 \u00fcber \u00dcBER na\u00efve e\u0301", "\r carriage\r\r x", "\U0001f600 emoji \u2764\ufe0f",
         "<filler1><|begin|>", " ", "   ", "    four", "\u2581mark \u2581\u2581"] + TEXT.split("\n")


def learn(symbols, n):
    """n pairs, the most frequent first."""
    pairs = []
    while len(pairs) < n and len(symbols) > 1:
        counts = {}
        for pair in zip(symbols, symbols[1:]):
            counts[pair] = counts.get(pair, 0) + 1
        best = max(counts, key=lambda pair: (counts[pair], pair))
        pairs.append(best)
        symbols = merge(symbols, best)
    return pairs


def merge(symbols, pair):
    out, i = [], 0
    while i < len(symbols):
        both = tuple(symbols[i:i + 2]) == pair
        out.append("".join(pair) if both else symbols[i])
        i += 2 if both else 1
    return out


LETTERS = make_llama.letters()
MERGES = learn([LETTERS[b] for b in TEXT.encode()], 250)
SPACE = "\u2581"
PIECES = sorted(set(TEXT.replace(" ", SPACE))) + ["".join(p) for p in learn(list(TEXT.replace(" ", SPACE)), 120)]


def byte_tokens():
    tokens = ["<|begin|>", "<|end|>", OWN] + [LETTERS[b] for b in range(256)] + ["".join(m) for m in MERGES]
    return tokens + ["<filler%d>" % i for i in range(VOCABULARY - len(tokens))]


def piece_tokens():
    tokens = ["<unk>", "<s>", "</s>", OWN] + ["<0x%02X>" % i for i in range(256)] + list(dict.fromkeys(PIECES))
    return tokens + ["<filler%d>" % i for i in range(VOCABULARY - len(tokens))]


def encode(kind, text):
    tokens = byte_tokens() if kind.pre else piece_tokens()
    ids = {t: i for i, t in enumerate(tokens)}
    out = [] if kind.pre == "qwen2" else [0 if kind.pre else 1]
    for i, part in enumerate(text.split(OWN)):
        out += [ids[OWN]] if i else []
        if kind.pre:
            for word in words(kind, part):
                out += encode_word(kind, ids, word)
        elif part:
            out += encode_pieces(ids, ("" if kind.gemma else " ") + part)
    return out


def words(kind, text):
    def those(category):
        found = sorted(c for c in set(text) if unicodedata.category(c)[0] == category)
        return "[%s]" % "".join(map(re.escape, found)) if found else "(?!)"
    letter, number = those("L"), those("N")
    other = "(?!%s|%s)" % (letter, number)
    return re.findall("(?i:'s|'t|'re|'ve|'m|'ll|'d)|(?:%s[^\r\n])?%s+|%s%s| ?(?:%s\\S)+[\r\n]*|"
                      "\\s*[\r\n]+|\\s+(?!\\S)|\\s+" % (other, letter, number, {"llama-bpe": "{1,3}", "qwen2": ""}[kind.pre], other), text)


def encode_word(kind, ids, word):
    symbols = [LETTERS[b] for b in word.encode()]
    if kind.pre == "llama-bpe" and "".join(symbols) in ids:
        return [ids["".join(symbols)]]
    for pair in MERGES:
        symbols = merge(symbols, pair)
    return [ids[s] for s in symbols]


def encode_pieces(ids, text):
    symbols = list(text.replace(" ", SPACE))
    order = {t: i for i, t in enumerate(piece_tokens()) if len(t) > 1 and i >= 260}
    while True:
        pairs = [(order[a + b], i) for i, (a, b) in enumerate(zip(symbols, symbols[1:])) if a + b in order]
        if not pairs:
            break
        i = min(pairs)[1]
        symbols[i:i + 2] = ["".join(symbols[i:i + 2])]
    out = []
    for s in symbols:
        out += [ids[s]] if s in ids else [4 + b for b in s.encode()]
    return out


def tokenizer(kind):
    if kind.pre:
        tokens = byte_tokens()
        return [("model", STRING, "gpt2"), ("pre", STRING, kind.pre), ("tokens", STRING, tokens),
                ("token_type", 5, [3, 3, 4] + [1] * (len(tokens) - 3)),
                ("merges", STRING, ["%s %s" % m for m in MERGES]), ("bos_token_id", NUMBER, 0),
                ("eos_token_id", NUMBER, 1)]
    tokens = piece_tokens()
    return [("model", STRING, "llama"), ("tokens", STRING, tokens),
            ("token_type", 5, [2, 3, 3, 4] + [6] * 256 + [1] * (len(tokens) - 260)),
            ("scores", REAL, [0.0] * 260 + [-float(i) for i in range(len(tokens) - 260)]),
            ("bos_token_id", NUMBER, 1), ("eos_token_id", NUMBER, 2)] + (
                [("add_space_prefix", FLAG, False)] if kind.gemma else [])


# ---- files ----

def metadata(kind):
    sizes = [("block_count", NUMBER, kind.layers), ("embedding_length", NUMBER, WIDTH), ("context_length", NUMBER, 64),
             ("feed_forward_length", NUMBER, HIDDEN), ("attention.head_count", NUMBER, kind.heads),
             ("attention.head_count_kv", NUMBER, kind.kv_heads), ("attention.key_length", NUMBER, kind.size),
             ("attention.value_length", NUMBER, kind.size), ("rope.freq_base", REAL, kind.base),
             ("attention.layer_norm_rms_epsilon", REAL, EPSILON)]
    yield "general.architecture", STRING, kind.arch
    for key, how, x in sizes + list(kind.more):
        yield kind.arch + "." + key, how, x
    for key, how, x in tokenizer(kind):
        yield "tokenizer.ggml." + key, how, x


def write(path, kind, w, changed=None, new=None):
    """The value under one key may be another, or a list; None: there is none."""
    gguf = files.Gguf()
    for key, how, x in metadata(kind):
        x = new if key == changed else x
        if x is not None:
            gguf.metadata.append((files.array if isinstance(x, list) else files.pair)(key, how, x))
    for there, x in w.items():
        gguf.tensor(there, 0, x.shape, x.tobytes())
    with open(path, "wb") as f:
        f.write(gguf.bytes())


def write_all(folder):
    os.makedirs(folder, exist_ok=True)
    for name in KINDS:
        kind, at = Kind(name), os.path.join(folder, name)
        w = weights(kind)
        write(at + ".gguf", kind, w)
        np.save(at + ".npy", forward(kind, w, PROMPT))
        ids = list(PROMPT)
        for _ in range(GREEDY):
            ids.append(int(forward(kind, w, ids)[-1].argmax()))
        with open(at + ".greedy", "w") as f:
            f.write(", ".join(map(str, ids[len(PROMPT):])) + "\n")


if __name__ == "__main__":
    if sys.argv[1] == "--names":
        print(*KINDS)
    elif sys.argv[1] == "--texts":
        print(*TEXTS, sep="\n")
    elif sys.argv[1] == "--tokens":
        for line in TEXTS:
            print(*encode(Kind(sys.argv[2]), line))
    elif sys.argv[1] == "--changed":
        kind = Kind(sys.argv[3])
        write(sys.argv[2], kind, weights(kind), sys.argv[4], ast.literal_eval(sys.argv[5]))
    else:
        write_all(sys.argv[1])
