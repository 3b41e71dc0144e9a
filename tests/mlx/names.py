"""Each function of MLX's modules has its place in the pages of the runtime: it is called so here, or the table beside MLX's names it.

    names.py PAGE HEADER

Of one that MLX has under two names, one is enough."""

import re
import sys

import mlx.core as mx

MODULES = [(mx, "lb_"), (mx.random, "lb_random_"), (mx.linalg, "lb_"), (mx.fft, "lb_"), (mx.fast, "lb_")]


def table_of(page):
    """The names in code of the table's rows; … stands for any letters."""
    rows = [line for line in page[page.index("\n### Beside MLX's"):].split("\n## ")[0].split("\n") if line.startswith("|")]
    code = " ".join(re.findall(r"`([^`]*)`", " ".join(rows)))
    names = {name for name in re.findall(r"[a-z_0-9…]+", code) if name != "…"}
    return re.compile("|".join(name.replace("…", r"\w*") for name in names))


def functions(module):
    """By what is called: its names. A class counts that is called as if it were a function, as its name says."""
    names = {}
    for name in dir(module):
        what = getattr(module, name)
        if callable(what) and not name.startswith("_") and name == name.lower():
            names.setdefault(id(what), []).append(name)
    return names.values()


def main():
    page, header = (open(path, encoding="utf-8").read() for path in sys.argv[1:3])
    ours = set(re.findall(r"\b(lb_[a-z_0-9]+)\(", header))
    table = table_of(page)
    n = failed = 0
    for module, prefix in MODULES:
        for names in functions(module):
            n += 1
            if not any(prefix + name in ours or table.fullmatch(name) for name in names):
                failed += 1
                print("not ok - %s.%s is neither %s%s() nor in the table of %s" %
                      (module.__name__, names[0], prefix, names[0], sys.argv[1]))
    if n < 300:
        failed += 1
        print("not ok - MLX %s has %d functions only: fewer than there should be" % (mx.__version__, n))
    print("%d functions of MLX, of which %d have no place" % (n, failed))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
