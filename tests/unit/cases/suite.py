"""Writes cases: a manifest with one line a case, and its arrays as .npy files.

A line is words: the case's name, the operation, then key=value in any order:
  in=FILE          an input; bfloat16:FILE holds its bits as uint16
  in=weak:2.5      a weak float scalar; weakint:3 an int one; in=null no tensor
  out=FILE         the expected result
  tol=KIND:A:B     exact; value (0 equals -0); ulp:N:FLOOR; close:RELATIVE:ABSOLUTE
  shape= axes= strides= index= dtype= …  what the operation is given besides
  view=OFFSET      the result must share the first input's buffer, from that element
  vstrides=        its strides, in elements
Arrays that are the same are written once.
"""

import os

import numpy as np

from .reference import Tensor, Weak


def listed(values):
    return ",".join(str(v) for v in values)


class Suite:
    def __init__(self, folder, seed):
        self.folder = folder
        self.rng = np.random.default_rng(seed)
        self.lines = []
        self.names = set()
        self.files = {}
        os.makedirs(folder, exist_ok=True)

    def write(self, tensor):
        stored = tensor.stored()
        key = (tensor.dtype, stored.shape, stored.tobytes())
        if key not in self.files:
            name = "%05d.npy" % len(self.files)
            np.save(os.path.join(self.folder, name), stored)
            self.files[key] = name
        name = self.files[key]
        return "bfloat16:" + name if tensor.dtype == "bfloat16" else name

    def word(self, value):
        if value is None:
            return "null"
        if isinstance(value, Weak):
            tag = "weak" if isinstance(value.value, float) else "weakint"
            return "%s:%r" % (tag, value.value)
        return self.write(value)

    def case(self, name, op, inputs, expected, tol="exact", **args):
        assert isinstance(expected, Tensor), name
        assert " " not in name and name not in self.names, name
        self.names.add(name)
        words = [name, op] + ["in=" + self.word(x) for x in inputs]
        words += ["out=" + self.write(expected), "tol=" + tol]
        for key, value in args.items():
            if isinstance(value, (list, tuple)):
                value = listed(value)
            words.append("%s=%s" % (key, value))
        self.lines.append(" ".join(words))

    def close(self):
        with open(os.path.join(self.folder, "manifest"), "w") as manifest:
            manifest.write("\n".join(self.lines) + "\n")
