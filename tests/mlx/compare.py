"""Random calls of each operation, in MLX and in Lazybones: dtype, shape and values are the same, and what one refuses the other
does.

    compare.py LIBRARY [--seed N] [--seconds S] [--only OPERATION,…] [--case N] [--complex] [-v]

A case is a function of the seed and its number; --case runs one again and says all of it. Works through the operations in turn.
What is meant to be otherwise is in known.py, with its reason. Cases run in a process of their own, and go on after one that it died of.
"""

import argparse
import ctypes as c
import faulthandler
import os
import signal
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True

import mlx.core as mx  # noqa: E402
import numpy as np  # noqa: E402

from draw import COMPLEX, EPSILON, FLOATS, LEAST, Draw, exact  # noqa: E402
from known import known  # noqa: E402
from lazybones import Library, Refused, Tensor  # noqa: E402
from operations import OPERATIONS  # noqa: E402


def listed(x):
    return list(x) if isinstance(x, (list, tuple)) else [x]


def mlx_elements(m):
    name = str(m.dtype).replace("mlx.core.", "")
    name = "bool" if name in ("bool_", "bool") else name
    a = np.array(m.view(mx.uint16) if name == "bfloat16" else m)
    return name, tuple(m.shape), exact(np.ascontiguousarray(a).tobytes(), name, m.shape)


def our_elements(lb, l):
    name, shape = lb.dtype(l), lb.shape(l)
    return name, shape, exact(lb.bytes(l), name, shape)


def off(got, wanted, dtype, ulp, floor):
    """Where they differ: a mask."""
    if dtype not in FLOATS + COMPLEX:
        return got != wanted
    with np.errstate(all="ignore"):
        if dtype in COMPLEX:
            # of complex numbers that are not finite only that is compared
            finite = np.isfinite(got) & np.isfinite(wanted)
            return np.where(finite, np.abs(got - wanted) > floor + (ulp + 1) * EPSILON[dtype] * np.abs(wanted),
                            np.isfinite(got) != np.isfinite(wanted))
        a, b = got.astype(np.float64), wanted.astype(np.float64)
        step = np.maximum(np.abs(b), LEAST[dtype]) * EPSILON[dtype]
        near = np.abs(a - b) <= ulp * step + floor
        # next to overflow
        top = np.isinf(a) != np.isinf(b)
        most = {"float16": 65504.0, "bfloat16": 3.3895e38, "float32": 3.4028235e38, "float64": 1.797e308}[dtype]
        near |= top & (ulp > 0) & (np.minimum(np.abs(a), np.abs(b)) >= most * (1 - (ulp + 1) * EPSILON[dtype]) - floor)
        return ~(near | (a == b) | (np.isnan(a) & np.isnan(b)))


def difference(lb, mlx, ours, ulp, floor):
    """What is different, or None."""
    if len(mlx) != len(ours):
        return "%d results, MLX has %d" % (len(ours), len(mlx))
    for m, l in zip(mlx, ours):
        dtype, shape, wanted = mlx_elements(m)
        got_dtype, got_shape, got = our_elements(lb, l)
        if got_dtype != dtype:
            return "dtype %s, MLX has %s" % (got_dtype, dtype)
        if got_shape != shape:
            return "shape %s, MLX has %s" % (got_shape, shape)
        wrong = off(got, wanted, dtype, ulp, floor)
        if np.any(wrong):
            at = tuple(int(i) for i in np.argwhere(wrong)[0])
            return "at %s %r, MLX has %r; %d of %d differ" % (at, got[at], wanted[at], np.count_nonzero(wrong), wrong.size)
    return None


class Skip(Exception):
    pass


def run_mlx(f, *args):
    """Its results, evaluated, or why it refused."""
    try:
        y = listed(f(*args))
        mx.eval(y)
        return y, None
    except (ValueError, RuntimeError, IndexError, TypeError, OverflowError, NotImplementedError) as e:
        return None, str(e).split("\n")[0] or type(e).__name__


def run_ours(lb, f, *args):
    try:
        y = listed(f(*args))
        for x in y:
            lb.bytes(x)
        return y, None
    except Refused as e:
        return None, str(e)


def floating(case):
    return [i for i, x in enumerate(case.inputs) if x.dtype in FLOATS + COMPLEX]


def plain(lb, d, case):
    return ((lambda: case.mlx(*(x.m for x in case.inputs))),
            (lambda: case.ours(*(x.l for x in case.inputs))), case.ulp, case.floor_at([x.a for x in case.inputs]))


def backward(lb, d, case):
    """Its gradients by its floating inputs, or, forwards, its derivative."""
    wrt = floating(case)
    value, refused = run_mlx(case.mlx, *(x.m for x in case.inputs))
    if not wrt or refused or any(str(y.dtype).split(".")[-1] not in FLOATS + COMPLEX for y in value):
        raise Skip
    forward = d.chance(0.3)

    def with_inputs(all_of, given):
        all_of = list(all_of)
        for i, x in zip(wrt, given):
            all_of[i] = x
        return all_of
    of_mlx = lambda *given: listed(case.mlx(*with_inputs([x.m for x in case.inputs], given)))
    of_ours = lambda *given: listed(case.ours(*with_inputs([x.l for x in case.inputs], given)))
    inputs = [case.inputs[i] for i in wrt]
    directions = [d.tensor(x.shape, x.dtype, "tame") for x in inputs] if forward else \
        [d.tensor(tuple(y.shape), str(y.dtype).split(".")[-1], "tame") for y in value]
    n = len(inputs)

    def mlx():
        return (mx.jvp if forward else mx.vjp)(of_mlx, [x.m for x in inputs], [x.m for x in directions])[1]

    def ours():
        fn = lb.function(of_ours, len(value))
        out, made = (c.c_void_p * len(value))(), (c.c_void_p * max(n, len(value)))()
        if forward:
            lb.transformed("jvp", fn, None, n, lb.pointers([x.l for x in inputs]), lb.pointers([x.l for x in directions]),
                           len(value), out, made)
        else:
            lb.transformed("vjp", fn, None, n, lb.pointers([x.l for x in inputs]), len(value),
                           lb.pointers([x.l for x in directions]), out, made)
        return [Tensor(made[i]) for i in range(len(value) if forward else n)]
    d.say(mode="jvp" if forward else "vjp")
    return mlx, ours, 0, "relative"


def over_batch(lb, d, case):
    """The function over a batch of some of its inputs."""
    batched = [i for i, x in enumerate(case.inputs) if x.dtype != "weak" and len(x.shape) < 6 and d.chance(0.7)]
    if not batched:
        raise Skip
    n = d.int(1, 3)
    inputs, axes = list(case.inputs), [None] * len(case.inputs)
    for i in batched:
        x = inputs[i]
        axis = d.int(0, len(x.shape))
        of_floats = x.dtype in FLOATS + COMPLEX
        turned = np.flip(x.a) if of_floats and x.a.ndim else x.a
        a = np.stack([x.a if k % 2 == 0 else turned for k in range(n)], axis)
        if x.dtype == "bfloat16":
            raw = (np.ascontiguousarray(a).view(np.uint32) >> 16).astype(np.uint16).tobytes()
        else:
            raw = np.ascontiguousarray(a).tobytes()
        inputs[i], axes[i] = d.pair(raw, a.shape, x.dtype), axis
    if any(x.dtype == "weak" for x in inputs):
        raise Skip
    counted = {"n": 1}

    def mlx():
        """One after the other."""
        rows = []
        for k in range(n):
            given = [x.m if axis is None else x.m[(slice(None),) * axis + (k,)] for x, axis in zip(inputs, axes)]
            rows.append(listed(case.mlx(*given)))
        counted["n"] = len(rows[0])
        return [mx.stack(list(y)) for y in zip(*rows)]

    def ours():
        fn = lb.function(lambda *given: listed(case.ours(*given)), counted["n"])
        out = (c.c_void_p * counted["n"])()
        where = (c.c_int * len(axes))(*(-2**31 if k is None else k for k in axes))
        lb.transformed("vmap", fn, None, len(inputs), lb.pointers([x.l for x in inputs]), where, counted["n"], None, out)
        return [Tensor(x) for x in out]
    d.say(mode="vmap", in_axes=axes)
    rows = ([x.a if axis is None else np.take(x.a, k, axis) for x, axis in zip(inputs, axes)] for k in range(n))
    return mlx, ours, case.ulp + 4, np.stack([case.floor_at(x) for x in rows]) if callable(case.floor) else case.floor


def relative(mlx, dtypes):
    """What gradients may be off by: they are sums in another order."""
    worst = max((EPSILON.get(t, 0) for t in dtypes), default=0)
    size = max((np.abs(a[np.isfinite(a)]).max(initial=0) for _, _, a in map(mlx_elements, mlx)), default=0)
    return float(size) * worst * 256 + worst * 16


def run_case(lb, seed, number, names, tell):
    """The operation, and what is wrong, or None; or a Skip."""
    name = names[number % len(names)]
    d = Draw(lb, [seed, number])
    case = OPERATIONS[name](d)
    if case is None:
        raise Skip
    d.said.append(",".join("%s%s" % (x.dtype, str(x.shape).replace(" ", "")) for x in case.inputs))
    turn = d.rng.random()
    how = plain
    if turn < 0.25 and case.grads:
        how = backward
    elif 0.25 <= turn < 0.4 and case.inputs:
        how = over_batch
    mlx, ours, ulp, floor = how(lb, d, case)
    tell("MLX")
    wanted, refused = run_mlx(mlx)
    tell("ours")
    if refused and how is backward:
        raise Skip  # what MLX has no gradient of may have one here
    got, ours_refused = run_ours(lb, ours)
    wrong = None
    if refused and not ours_refused:
        wrong = "taken, which MLX refuses: " + refused
    elif ours_refused and not refused:
        wrong = "refused: %s" % ours_refused
    elif not refused:
        if isinstance(floor, str):
            floor = relative(wanted, [x.dtype for x in case.inputs])
        wrong = difference(lb, wanted, got, ulp, floor)
    if wrong:
        reason = known(name, how.__name__, case, wrong, " ".join(d.said))
        if reason:
            return name, None, reason
        wrong = "%s %s: %s" % (name, " ".join(d.said), wrong)
    return name, wrong, None


def work(lb, arguments, names):
    """Cases from --begin on, until the time is over and --least have come; a line for each that is worth one."""
    end = time.monotonic() + arguments.seconds
    late = time.monotonic() + arguments.patience
    number, enough = arguments.begin, arguments.begin + (arguments.least or 0)
    mx.disable_compile()  # it runs a C++ compiler for each new kernel of MLX's layers, which takes seconds
    counts = {"ran": 0, "skipped": 0, "known": 0}
    np.seterr(all="ignore")
    last = open(arguments.progress, "w")
    while time.monotonic() < end or number < enough and time.monotonic() < late or arguments.case is not None:

        def tell(where):
            last.seek(0)
            last.write("%-12d %-8s\n" % (number, where))
            last.flush()
        tell("drawing")
        scope = lb.so.lb_scope_begin()
        try:
            name, wrong, reason = run_case(lb, arguments.seed, number, names, tell)
            counts["ran"] += 1
            if reason:
                counts["known"] += 1
                if arguments.v:
                    print("known", name, reason, flush=True)
            if wrong:
                print("not ok - case %d: %s" % (number, wrong), flush=True)
        except Skip:
            counts["skipped"] += 1
        finally:
            lb.so.lb_scope_end(c.byref(scope))
            lb.so.lb_clear_error()
        number += 1
        if arguments.case is not None:
            break
    print("counted", counts["ran"], counts["skipped"], counts["known"], flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--only", default="")
    parser.add_argument("--case", type=int)
    parser.add_argument("--complex", action="store_true")  # all operands for whose dtype there is a choice
    parser.add_argument("--begin", type=int, default=0)
    parser.add_argument("--progress")
    parser.add_argument("--patience", type=float, default=0)  # seconds after which not even --least is waited for
    parser.add_argument("--least", type=int, help="cases without which nothing is proven; 2 of each operation")
    parser.add_argument("-v", action="store_true")
    arguments = parser.parse_args()
    faulthandler.enable(all_threads=True)
    Draw.only = "complex64" if arguments.complex else None
    names = arguments.only.split(",") if arguments.only else sorted(OPERATIONS)
    if arguments.case is not None and not arguments.progress:
        arguments.progress, arguments.begin = os.devnull, arguments.case
    if arguments.progress:
        work(Library(arguments.library), arguments, names)
        if arguments.case is not None:
            print("1 cases, of number %d" % arguments.case)
        return 0
    return supervise(arguments, names)


STUCK = 20  # seconds without progress
PATIENCE = 5  # times the seconds that were asked for, and a minute: then it is not worth going on for --least


def waiting_and_run(child):
    """Whether a thread of it would run, had it a processor, or a page that is swapped out, and what all have run, in ticks."""
    try:
        threads = "/proc/%d/task" % child.pid
        states = [open("%s/%s/stat" % (threads, t)).read().rsplit(")", 1)[1].split() for t in os.listdir(threads)]
    except OSError:
        return None
    return any(x[0] in "RD" for x in states), sum(int(x[11]) + int(x[12]) for x in states)


def watch(child, progress, stuck):
    """Aborts a child that hangs, so that it says where, and says so in `stuck`. The seconds are counted one by one: a machine that
    stands still, as where it swaps, has none, and a child that gets no time has none either."""
    last, still, used = None, 0.0, 0
    while child.poll() is None:
        time.sleep(0.5)
        now = open(progress).read() if os.path.exists(progress) else None
        before = used
        would_run, used = waiting_and_run(child) or (False, used)
        still += 0 if would_run and used == before else 0.5
        if now != last:
            last, still = now, 0.0
        elif still > STUCK:
            stuck.set()
            child.send_signal(signal.SIGABRT)
            return


def supervise(arguments, names):
    print("seed %d, %d operations, MLX %s, %g s" % (arguments.seed, len(names), mx.__version__, arguments.seconds), flush=True)
    begun = time.monotonic()
    end, late = begun + arguments.seconds, begun + PATIENCE * arguments.seconds + 60
    progress = "%s/progress-%d" % (os.environ.get("TMPDIR", "/tmp"), os.getpid())
    least = 2 * len(names) if arguments.least is None else arguments.least
    begin, failed, ran, skipped, as_known, hung = 0, 0, 0, 0, 0, 0
    while (left := end - time.monotonic()) > 0 or begin < least:
        patience = late - time.monotonic()
        if patience <= 0:
            break
        command = [sys.executable, __file__, arguments.library, "--seed", str(arguments.seed), "--seconds", str(left),
                   "--least", str(least - begin), "--patience", str(patience), "--begin", str(begin), "--progress", progress] \
            + (["--only", arguments.only] if arguments.only else []) + (["--complex"] if arguments.complex else []) \
            + (["-v"] if arguments.v else [])
        child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        stuck = threading.Event()
        threading.Thread(target=watch, args=(child, progress, stuck), daemon=True).start()
        for line in child.stdout:
            if line.startswith("counted"):
                a, b, k = map(int, line.split()[1:])
                ran, skipped, as_known = ran + a, skipped + b, as_known + k
                begin += a + b
            else:
                failed += line.startswith("not ok")
                print(line, end="", flush=True)
        if child.wait() == 0:
            break
        if not os.path.exists(progress):
            print("not ok - the process died before the first case (%d)" % child.returncode, flush=True)
            failed += 1
            break
        last, where = open(progress).read().split()
        last = int(last)
        ran += last - begin + 1
        # it waits now and then for what it has queued and forgotten: in another process it goes on. So may operands that it is to
        # compute, of which ours are lazy
        if where == "MLX" or where == "drawing" and stuck.is_set():
            hung += 1
            how = "hangs" if stuck.is_set() else "dies (%d)" % child.returncode
            print("# case %d: %s: MLX %s" % (last, names[last % len(names)], how), flush=True)
        else:
            failed += 1
            print("not ok - case %d: %s: the process died of it (%d)" % (last, names[last % len(names)], child.returncode),
                  flush=True)
        begin = last + 1
        os.unlink(progress)
    if os.path.exists(progress):
        os.unlink(progress)
    if begin < least:
        failed += 1
        print("not ok - %d cases in %.0f s, of which MLX hung in %d: fewer than %d prove nothing" %
              (begin, time.monotonic() - begun, hung, least), flush=True)
    print("%d cases, of which %d drew nothing to compare and %d are otherwise with a reason; %d differ" %
          (ran + skipped, skipped, as_known, failed))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
