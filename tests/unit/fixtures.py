#!/usr/bin/python3
"""Writes the expected results of every operation, computed by NumPy: fixtures.py [FOLDER]

The generator is seeded: the same files come out each time. test_ops reads them.
"""

import sys
import warnings

sys.dont_write_bytecode = True

from cases import chains, creation, elementwise, movement, products, reductions  # noqa: E402
from cases.suite import Suite  # noqa: E402


def main():
    warnings.simplefilter("ignore", RuntimeWarning)
    suite = Suite(sys.argv[1] if len(sys.argv) > 1 else "build/tests/fixtures", seed=20240607)
    for module in (elementwise, reductions, movement, products, creation, chains):
        before = len(suite.lines)
        module.write(suite)
        print("%-12s %5d cases" % (module.__name__.split(".")[1], len(suite.lines) - before))
    suite.close()
    print("%-12s %5d cases, %d arrays" % ("all", len(suite.lines), len(suite.files)))


main()
