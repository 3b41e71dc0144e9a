#!/usr/bin/python3
"""Writes what NumPy says of every operation: fixtures.py [FOLDER [SEED]]

The generator is seeded: the same files come out each time. test_ops reads them.
"""

import sys
import warnings

sys.dont_write_bytecode = True

from cases import (chains, composed, creation, elementwise, gradients, large, linalg, models,  # noqa: E402
                   movement, products, quant, reductions, steps, transforms, updates)
from cases.suite import Suite  # noqa: E402


def main():
    warnings.simplefilter("ignore", RuntimeWarning)
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 20240607
    suite = Suite(sys.argv[1] if len(sys.argv) > 1 else "build/tests/fixtures", seed)
    for module in (elementwise, reductions, movement, products, creation, chains, large,
                   models, quant, updates, gradients, steps, composed, linalg, transforms):
        before = len(suite.lines)
        module.write(suite)
        print("%-12s %5d cases" % (module.__name__.split(".")[1], len(suite.lines) - before))
    suite.close()
    print("%-12s %5d cases, %d arrays" % ("all", len(suite.lines), len(suite.files)))


main()
