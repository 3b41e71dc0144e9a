"""Asks for each text what it is computed to, and NumPy for the same text.

    check.py LAZYBONES SUBJECT ARRAYS
"""
import json
import subprocess
import sys

import numpy as np

lazybones, subject, path = sys.argv[1:]
passed = failed = 0
random = np.random.default_rng(7)
q = random.standard_normal((3, 4)).astype(np.float32)
arrays = {
    "q": q,
    "k": random.standard_normal((3, 4)).astype(np.float32),
    "z": random.standard_normal((2, 3, 5)).astype(np.float32),
    "i": random.integers(-9, 9, (3, 4)).astype(np.int32),
    "u": random.integers(0, 200, (4,)).astype(np.uint8),
    "mask": random.standard_normal((3, 4)) > 0,
    "h": random.standard_normal((3, 4)).astype(np.float16),
    "one": np.array(1.5, dtype=np.float32),
    "empty": np.zeros((0, 4), dtype=np.float32),
    "order": np.array([2, 0, 2, 1], dtype=np.int32),
    "odd": np.array([1, np.nan, -np.inf, np.inf, -0.0, -2], dtype=np.float32),
    "left": random.standard_normal((16, 16)).astype(np.float32),
    "right": random.standard_normal((16, 16)).astype(np.float32),
}
np.savez(path, **arrays)

# The same in both.
SAME = """
q + k; q - 1; 2 * q; q / 3; q // 0.5; q % 0.7; q ** 2; -q; +q; 1 - q - k; 2 ** 3 * q; -q ** 2; (-q) ** 2; q - -k; q*k+q/k
i + 1; i * i; i / 4; i // 4; i % 4; -i; i - 2.5; i + u; u + 1; u * 2; u // 3; ~i; ~mask; i & 3; i | 4; i ^ 7; i << 2; i >> 1
q > k; q >= 0; q < k; q <= 0.5; i == 3; i != 3; i > -100000000000; (q > 0) & (k > 0); (q > 0) | mask; mask ^ (q > 0); ~(q > 0)
u > -1; u < 1000; u == 300
q.T; q.T @ k; q @ k.T; q[0] @ k[1]; q @ k[0]; q[:, 0] @ q; z @ z.swapaxes(1, 2); z @ z[0].T; q.shape; q.ndim; q.size; q.nbytes
z.mT; z.T.shape; q.T.T
q[0]; q[-1]; q[1:]; q[:, 1]; q[::2, ::-1]; q[..., 0]; q[None].shape; q[:, None] * k[None]; z[1, :, 2:4]; z[..., None].shape; q[0, 1]
q[q.shape[0] - 1:]; q[order[1]:order[3]]; q[:, order[0]:]; z[order[3]:, ::order[0]]; z[order[3]: :order[3], 7 % 4 - 2, order[0]:4]
(q * 2)[order[3]:, -5 % 4:]; q[q.ndim - 5:, i.size // 6:]; z[..., minimum(2, 3):maximum(3, 4)]; i[order[order[3]]:]
z[-1, ..., ::-2]; (q + k)[0]; (q * 2)[:, 1:3][0]; (q > 0)[1]
q[q > 0]; q[mask]; q[~mask] * 2; z[z > 1]; z[:, :, 0][z[:, :, 0] > 0]; q[q.sum(axis=1) > 0]; i[i % 2 == 0]; q[q > 100]; q[mask].sum()
(q * 2)[q * 2 > k]; q[mask & (q > 0)]
q[order]; q[:, order]; z[0, :, order].T if 0 else z[:, :, order]; z[1, order]; q[order[0:2]]; u[order] + 1; z[..., order]
sum(q); mean(q); max(q); min(q); std(q); var(q); prod(q); q.sum(0); q.sum(axis=1); q.sum(axis=-1, keepdims=True); q.mean(axis=(0, 1))
z.sum(axis=(0, 2)); z.max(axis=1); z.min(axis=-1); z.std(axis=2); z.var(axis=0, ddof=1); i.sum(); i.max(); i.min(); i.prod(axis=1); mask.sum()
mask.any(); mask.all(); mask.any(axis=0); mask.all(axis=1); q.argmax(); q.argmax(axis=1); q.argmin(axis=0); i.argmin(); i.mean(); u.mean()
abs(q); abs(i); exp(q); log(abs(q)); sqrt(abs(q)); sin(q); cos(q); tanh(q); tan(q); arctan(q); arcsin(q / 9); arccos(q / 9); sinh(q); cosh(q); arcsinh(q); arccosh(1 + abs(q)); arctanh(q / 9); expm1(q); log1p(abs(q)); log2(abs(q)); log10(abs(q)); arctan2(q, k); arctan2(1, q); square(q); floor(q); ceil(q); round(q); sign(q); sign(i)
negative(q); absolute(q); maximum(q, k); minimum(q, 0); power(abs(q), 0.5); where(q > 0, q, k); where(mask, 1, 0); where(mask, q, 0)
clip(q, -0.5, 0.5); q.clip(-1, 1); clip(i, -2, 3); clip(q, None, 0.25); isnan(odd); isposinf(odd); isneginf(odd); floor_divide(q, 0.5); floor_divide(i, 3); i // -2; u // 3; 7 // 2 * q; invert(i); invert(mask); ~u; isinf(odd); isfinite(odd); count_nonzero(i); count_nonzero(mask, axis=1)
odd > 0; sign(odd); maximum(odd, 0); odd[isfinite(odd)]; odd == odd
np.abs(q); np.exp(q).sum(); np.linalg.norm(q); norm(q, axis=1); np.maximum(q, k); np.float32(2) * q if 0 else q
sort(q, axis=0); q[order].T; sort(i, axis=-1); argsort(q, axis=1); cumsum(q); cumsum(q, axis=1); cumsum(i, axis=0); flip(q); flip(q, axis=1)
q.reshape(2, 6); q.reshape(-1); q.reshape((4, 3)); (q + 1).reshape(6, -1); q.flatten(); q.ravel(); z.transpose(2, 0, 1); z.transpose(); q.transpose(1, 0)
swapaxes(z, 0, 2); z[:1].squeeze(); z[:1].squeeze(axis=0); expand_dims(q, 1).shape; expand_dims(q, axis=-1).shape; squeeze(q[:1] * 2)
q.astype('float16'); i.astype(float32) / 2; q.astype(int32); (q > 0).astype(float32).mean(); q.astype(np.float64); u.astype(int64) - 300
allclose(q, q + 0.0); allclose(q, k); allclose(q, q + 1e-3, rtol=0, atol=0.01); array_equal(q, q.T.T); array_equal(q, k); allclose(odd, odd)
q[one > 1].shape; q[one > 2].shape; one * 2; one + one; one.sum(); exp(one); one.shape; one.reshape(1); one > 1; empty + 1; empty.sum(); empty.shape; empty.T * 2; empty.sum(axis=0); empty[empty > 0]
h * 2; h + h; h + q; h.sum(axis=0); h @ h.T; h > 0; abs(h); h / 2; norm(h)
q*inf > 0; q + nan; pi * q; q * True; (q - q.mean()) / q.std(); ((q - q.mean(axis=-1, keepdims=True)) ** 2).mean(); 1 / (1 + exp(-q)); q / norm(q)
abs(q - k).max(); (q @ k.T)[0, 1]; 3; q.sum() > 0; matmul(q, k.T); dot(q, k.T); logical_not(mask); logical_and(mask, q > 0); logical_or(mask, q > 0)
2 ** -1 * q; 1e-3 * q; .5 * q; 5. * q; 0x10 * i; q  +\tk
"""
TWO = {"layers.0.out + 1": "np.tanh(2 * q).T + 1", "twice - q": "2 * q - q", "twice[0] * 2": "4 * q[0]",
       "'twice' @ k.T": "2 * q @ k.T", "twice[twice > 0]": "(2 * q)[q > 0]", "layers.0.out.T - tanh(twice)": "0 * q",
       "softmax(q, axis=-1)": "np.exp(q) / np.exp(q).sum(axis=-1, keepdims=True)", "softmax(q, 0)": "np.exp(q) / np.exp(q).sum(axis=0)",
       "logsumexp(q)": "np.log(np.exp(q).sum())", "sigmoid(q)": "1 / (1 + np.exp(-q))", "relu(q)": "np.maximum(q, 0)",
       "q.max(dim=1)": "q.max(axis=1)", "q.abs().max()": "abs(q).max()", "z.permute(1, 0, 2)": "z.transpose(1, 0, 2)",
       "torch.abs(q)": "abs(q)", "q.float()": "q", "q.view(-1)": "q.reshape(-1)", "z.transpose(0, 1)": "z.swapaxes(0, 1)",
       "q.unsqueeze(0)": "q[None]", "q.t()": "q.T", "max(q, k)": "np.maximum(q, k)", "q.detach().cpu().numpy() + 1": "q + 1",
       "logaddexp(q, k)": "np.logaddexp(q, k)", "rsqrt(abs(q))": "1 / np.sqrt(abs(q))", "q.bfloat16().float().shape": "q.shape",
       "q[0].sum().item()": "q[0].sum()", "erf(one)": "np.float32(0.9661051)", "q.T[order[0]]": "q.T[2]", "clamp(q, min=0)": "np.maximum(q, 0)"}
# Each with what is said, and the byte that the caret stands under (-1: none).
WRONG = {
    "q +": ("missing at the end", 3), "q + (k": ("')' is missing", 6), "q k": ("did you mean q, k?", -1), "(q) k": ("operator is missing", 4), "q + * k": ("C's expressions", 4),
    "q + z": ("do not broadcast", 2), "q @ k": ("do not go together", 2), "q + nothing": ("no tensor 'nothing'", 4), "q.mena()": ("did you mean 'mean'", 2),
    "q.max(axis=2)": ("axis 2 of a tensor of 2 axes", 11), "q[q]": ("an index is a whole number", 2), "q[mask, 0]": ("a mask stands alone", 2),
    "q < k < 1": ("not chained", 6), "q > 0 and k > 0": ("combined by & and |", 6), "q.reshape(5, -1)": ("do not fill", 0), "q.astype(floot)": ("is no dtype", 9),
    "q.foo * 2": ("no attribute", 2), "abs(q, k)": ("2 arguments, where it takes 1", 3), "q.sum(axis='x')": ("no tensor 'x'", 11), "q[5] + 1": ("out of range", 2),
    "q[mask[0]]": ("a mask of (4,) for a tensor of (3, 4)", 2), "~q": ("not defined for float32", 0), "q & 1": ("not defined for float32", 2), "1 + 2": ("names no tensor", -1),
    "u + 1000": ("no value of uint8", 2), "q.sum(axes=1)": ("no argument 'axes'", 6), "where(q > 0, q)": ("2 arguments, where it takes 3", 5), "q[0, 1, 2] * 1": ("3 indices for 2 axes", 8),
    "q.T.foo()": ("there is no function 'foo'", 4), "abs * 2": ("brackets are missing", 0), "empty.max()": ("is empty", -1), "q[order, order]": ("one index is a tensor", 9),
    "(1, 2) + q": ("a list is no tensor", 0), "q[1.5]": ("whole number", 2), "q ** ": ("missing at the end", 5), "1q + 2": ("malformed", 0), "q + 99999999999999999999": ("2^53", 4),
    "((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((q))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))) + 1": ("more than 64", 64),
}


def judge(good, what):
    global passed, failed
    passed += good
    failed += not good
    if not good:
        print("FAILED: " + what)


def ask(pid, text):
    answer = subprocess.run([lazybones, "pid", str(pid), "print", "--json", "--full", "--", text], stdout=subprocess.PIPE, timeout=60,
                            check=False)
    return json.loads(answer.stdout)


def words():
    names = {name: getattr(np, name) for name in
             """sum mean max min std var prod abs exp log sqrt sin cos tanh tan arctan arcsin arccos sinh cosh arcsinh arccosh arctanh expm1
             log1p log2 log10 arctan2 isposinf isneginf floor_divide invert square floor ceil round sign negative absolute maximum
             minimum power where clip isnan isinf isfinite count_nonzero sort argsort cumsum flip swapaxes expand_dims squeeze allclose
             array_equal inf nan pi matmul dot logical_not logical_and logical_or float32 int32 int64""".split()}
    names["norm"] = lambda x, axis=None: np.linalg.norm(x.astype(np.float32), axis=axis)
    names["np"] = np
    return {**names, **arrays}


def numbers(values):
    """As Python has them: what JSON has no number for is a word there."""
    if isinstance(values, list):
        return [numbers(value) for value in values]
    return {"nan": np.nan, "inf": np.inf, "-inf": -np.inf}.get(values, values) if isinstance(values, str) else values


def compare(pid, text, reference):
    scope = words()
    if "mT" in reference:
        expected = arrays["z"].swapaxes(-1, -2)
    elif reference.startswith("allclose(odd"):
        expected = np.array(False)
    else:
        with np.errstate(all="ignore"):
            expected = np.asarray(eval(reference, scope))  # pylint: disable=eval-used
    told = ask(pid, text)
    if "values" not in told:
        judge(False, f"{text}: {told}")
        return
    shape = told.get("slice_shape", told["shape"])
    got = np.array(numbers(told["values"]), dtype=np.float64 if told["dtype"] != "bool" else bool)
    if expected.size == 0 or got.size == 0:
        got = np.zeros(shape)
    is_half = "float16" in (told["dtype"], str(expected.dtype)) or "h" in text.split()
    tolerance = 4e-3 if is_half else 2e-5
    same = list(expected.shape) == shape and got.size == expected.size and np.allclose(got.reshape(shape), expected.astype(np.float64), rtol=tolerance,
                                                                 atol=tolerance / 10, equal_nan=True)
    kinds = {"b": "bool", "i": "int", "u": "uint", "f": "float"}
    # by MLX: means of integers are float32, numbers beside a tensor take its dtype, an index is uint32
    kind = kinds[expected.dtype.kind]
    is_kind = told["dtype"].replace("bfloat", "float").startswith(kind) or (kind == "int" and told["dtype"].startswith("uint"))
    judge(same and (is_kind or expected.size == 0), f"{text}: {told['dtype']} {told['shape']} {told['values']}, not {expected.dtype} {expected}")


def refuse(pid, text, what, at):
    told = ask(pid, text).get("error", "")
    lines = told.split("\n")
    caret = lines[2].index("^") - 4 if len(lines) == 3 else -1
    judge(what in told and caret == at, f"{text}: {told!r}, not '{what}' at {at}")


with subprocess.Popen([subject, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
    assert process.stdout.readline() == "ready\n"
    for line in SAME.strip().split("\n"):
        for one in line.split("; "):
            text = one.split(" if 0 else ")[-1].replace("\\t", "\t")
            if text != "3":
                compare(process.pid, text, text)
    for text, reference in TWO.items():
        compare(process.pid, text, reference)
    for text, (what, at) in WRONG.items():
        refuse(process.pid, text, what, at)
    # what a difference means where the operands of a product have changed places
    for reference, explained in (arrays["right"] @ arrays["left"], True), (arrays["left"] @ arrays["right"].T, False):
        np.save(path + ".npy", reference)
        answer = subprocess.run([lazybones, "pid", str(process.pid), "diff", "product", path + ".npy", "--json"], stdout=subprocess.PIPE,
                                timeout=60, check=False)
        found = [x["text"] for x in json.loads(answer.stdout)["explanations"]["found"]]
        expected = ["the second is the first's product with its operands exchanged: right @ left, not left @ right"]
        judge(found == (expected if explained else []), f"a product: {found}")
    process.stdin.close()
print(f"{passed} passed, {failed} failed, 0 skipped")
sys.exit(failed > 0)
