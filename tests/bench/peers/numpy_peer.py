#!/usr/bin/python3
"""The rows through NumPy, eager, where it has them: speaks as main.c does, whose data this makes, too. The program `ours`, which
tells the rows, is beside BIN's others: O=BUILD numpy_peer.py THREADS [cpu]"""
import os
import subprocess
import sys
import time

import numpy as np


def hashes(n, seed):
    """peer_hash(): Steele, Lea and Flood, 2014."""
    x = np.arange(n, dtype=np.uint64) + np.uint64((seed << 40) + 0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def data(shape, seed):
    bits = (hashes(int(np.prod(shape)), seed) >> np.uint64(32)).astype(np.uint32).view(np.int32)
    return (bits.astype(np.float32) * np.float32(2.0**-31)).reshape(shape)


def indices(n, most, seed):
    return (hashes(n, seed) % np.uint64(most)).astype(np.int64)


def softmax(x):
    y = np.exp(x - x.max(-1, keepdims=True))
    y /= y.sum(-1, keepdims=True)
    return y


def layer_norm(x, w, b):
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt(np.square(centred).mean(-1, keepdims=True) + np.float32(1e-5)) * w + b


def rms_norm(x, w):
    return x / np.sqrt(np.square(x).mean(-1, keepdims=True) + np.float32(1e-5)) * w


def chain(x, y):
    for _ in range(1000):
        x = x + y
    return x


def sums(x):
    for _ in range(1000):
        x = x.sum(-1, keepdims=True)
    return x


def singles(x, y):
    for _ in range(1000):
        z = x + y
    return z


def work_of(row):
    """A function and its inputs; None: NumPy has nothing for it."""
    kind, m, n, k = row["kind"], row["m"], row["n"], row["k"]
    if row["dtype"] != "F32":
        return None
    two = lambda shape: [data(shape, i) for i in range(2)]
    works = {
        "GRAPH": lambda: (chain, two((1, 4))),
        "SINGLE": lambda: (singles, two((1, 4))),
        "GRAPH_SUM": lambda: (sums, [data((4, 1), 0)]),
        "CHAIN": lambda: (lambda x, y, z: np.tanh(x * 2 + y) * z, [data((m, n), i) for i in range(3)]),
        "CHEAP": lambda: (lambda x, y, z: (x * 2 + y) * z, [data((m, n), i) for i in range(3)]),
        "MATMUL": lambda: (lambda x, w: x @ w.T, [data((m, k), 0), data((n, k), 1)]),
        "SOFTMAX": lambda: (softmax, [data((m, n), 0)]),
        "LAYER_NORM": lambda: (layer_norm, [data((m, n), 0), data((n,), 1), data((n,), 2)]),
        "RMS_NORM": lambda: (rms_norm, [data((m, n), 0), data((n,), 1)]),
        "CUMSUM": lambda: (lambda x: np.cumsum(x, k), [data((m, n), 0)]),
        "SORT": lambda: (lambda x: np.sort(x, -1), [data((m, n), 0)]),
        "ARGSORT": lambda: (lambda x: np.argsort(x, -1, kind="stable"), [data((m, n), 0)]),
        "TAKE": lambda: (lambda x, i: np.take(x, i, 0), [data((m, n), 0), indices(m, m, 1)]),
        "TAKE_ALONG": lambda: (lambda x, i: np.take_along_axis(x, i, -1),
                               [data((m, n), 0), indices(m * n, n, 1).reshape(m, n)]),
        "ARGMAX": lambda: (lambda x: x.argmax(-1), [data((m, n), 0)]),
        "ASTYPE": lambda: (lambda x: x.astype(np.float16), [data((m, n), 0)]),
        "TRANSPOSE": lambda: (lambda x: np.ascontiguousarray(x.T), [data((m, n), 0)]),
        "NORMAL": lambda: (lambda: np.random.default_rng(1).standard_normal((m, n), np.float32), []),
    }
    return works[kind]() if kind in works else None


def measure(run, clock):
    """As measure() of main.c."""
    began = clock()
    run()
    once = clock() - began
    times = int(1e-4 / (once + 1e-9)) + 1 if once < 1e-4 else 1
    best, began, n = float("inf"), clock(), 0
    while n == 0 or clock() - began < (0.5 if n < 3 else 0.15):
        at = clock()
        for _ in range(times):
            run()
        best = min(best, (clock() - at) / times)
        n += 1
    return best


def main():
    ours = os.path.join(os.environ.get("O", "build"), "bench", "peers", "ours")
    rows = {}
    for line in subprocess.run([ours, "--rows"], check=True, text=True, stdout=subprocess.PIPE).stdout.splitlines():
        name, *_, kind, dtype, m, n, k = line.split("\t")
        rows[name] = {"kind": kind, "dtype": dtype, "m": int(m), "n": int(n), "k": int(k)}
    clock = time.process_time if "cpu" in sys.argv else time.perf_counter
    opened = run = None
    for line in sys.stdin:
        name, *path = line.split()
        if name != opened:
            work = work_of(rows[name]) if name in rows else None
            run = (lambda f, inputs: lambda: f(*inputs))(*work) if work else None
            opened = name
        if not run:
            print(name, "-", flush=True)
        elif path:
            x = run()
            if rows[name]["kind"] == "NORMAL":
                x = np.array([x.mean(), x.var()])
            np.ascontiguousarray(x, np.float32).tofile(path[0])
            print(name, 0, flush=True)
        else:
            print(name, f"{measure(run, clock):.9g}", flush=True)


main()
