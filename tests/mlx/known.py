"""What is meant to be otherwise than in MLX 0.32.4, and why: ours is computed by NumPy elsewhere (tests/unit), or is more."""

import math
import re

import numpy as np

from draw import BOOL, HALVES, INTEGERS, UNSIGNED

# refused there, computed here: dtypes, groups, empty tensors, views
REFUSED = r"Not supported|not yet support|only support|Can only handle|Cannot \w+ reduce zero size|empty array|cannot be empty" \
    r"|row contiguous arrays only|start_axis must be|Does not support empty|cannot create std::vector|Cannot infer the shape" \
    r"|Spatial dimensions of input after padding|Complex type not supported|Only real floating point types are supported" \
    r"|\[linalg::pinv\] Arrays must have type|Does not yet support given type"

# of complex numbers there is no order here, but in comparisons and extremes
ORDERED = ("sort", "argsort", "cummax", "cummin", "logsumexp", "logaddexp", "floor_divide", "softmax", "median", "topk", "partition",
           "argpartition", "logcumsumexp", "unique", "searchsorted")
# what is of real numbers here alone; runtime/README.md has the reasons
REAL_HERE = ("block_masked_mm", "gelu_tanh")
ALONE = ("subtract", "power", "floor_divide", "remainder", "negative", "divmod")


def known(name, how, case, wrong, said):
    dtypes = [x.dtype for x in case.inputs]
    if wrong.startswith("taken") and re.search(REFUSED, wrong, re.I):
        return "MLX has no such"
    if "taken" in wrong and "nvfp4" in said and "Cannot reshape array" in wrong:
        return "MLX takes whole words of 4 groups only"
    if "refused" in wrong and "complex64" in dtypes and name in ORDERED:
        return "complex numbers have no order"
    if "refused" in wrong and "complex64" in dtypes and name in REAL_HERE:
        return "of real numbers here"
    if name in ("matrix_norm", "vector_norm") and "dtype float32, MLX has complex64" in wrong:
        return "a norm is real"
    if name == "hadamard_transform" and "dtype complex64, MLX has float32" in wrong:
        return "MLX drops the imaginary parts"
    if "complex64" in dtypes and any(np.any(np.isinf(x.a)) for x in case.inputs):
        if name in ("isclose", "allclose"):
            return "what is infinite is close to its like alone, as in NumPy: in MLX to nothing, or, as the bound is infinite, to all"
        if name in ("divide", "reciprocal", "rsqrt"):
            return "quotients of infinities follow NumPy, as products do: MLX's are C++'s"
    if name == "full" and "MLX has int32" in wrong:
        return "creation in a dtype that is not a number's"
    if name in ALONE and set(dtypes) <= {"bool", "weak"}:
        return "bools are computed as int32"
    if name in ("remainder", "floor_divide", "divmod") and ("bool" in dtypes or not np.all(case.inputs[1].a)):
        return "by 0"
    if name in ("all", "any", "sum", "prod", "mean", "max", "min") and 0 in case.inputs[0].shape:
        return "MLX leaves what is of nothing as memory was"
    no_number = re.search(r"at \([^)]*\) (nan|\(nan\+nanj\)), MLX has", wrong)
    if name in ("var", "std") and " differ" in wrong and (no_number or dtypes[0] == "float64"):
        if still(case, how, wrong, said):
            return "nothing deviates, but from a mean that is rounded: in doubles also here"
        if how == "backward" and no_number and int(re.search(r"ddof=(\d)", said).group(1)) >= of_one(case, said):
            return "no derivative of what is divided by 0: NaN, where MLX's tangents may be infinite"
    if name == "layer_norm" and how == "backward" and case.inputs[0].shape[-1] == 2:
        there = re.search(r"at \([^)]*\) -?0\.0, MLX has (-?[0-9.e+-]+);", wrong)
        if there and abs(float(there[1])) < 64 * np.finfo(np.float32).eps:
            return "of two numbers it is 0 where both weigh the same: MLX's is the rounding of terms that cancel"
    if name == "softmax" and "out of range" in wrong and 0 in case.inputs[0].shape:
        return "MLX looks at no axis of what is empty"
    if name == "softmax" and dtypes[0] in INTEGERS + BOOL:
        return "MLX's softmax of integers over several axes gives integers"
    if name == "slice" and how == "backward" and "jvp" in said and of_numpy(case, wrong, said):
        return "MLX slices tangents by bounds that it has counted from the end already, and again if they are before the beginning"
    if name == "broadcast_to" and how == "backward" and re.search(r"at \([^)]*\) (-?0\.0|0j), MLX", wrong) and to_nothing(said):
        return "MLX leaves what is of nothing as memory was"
    if name == "irfft" and how == "backward" and "jvp" in said:
        return "MLX's tangents forget that the length was odd"
    if name == "to_fp8" and dtypes[0] == "float64":
        return "MLX reads doubles as if they were floats"
    if name in ("sum", "prod") and "dtype" in wrong and ("axes=[]" in said or case.inputs[0].shape == ()):
        return "MLX leaves the dtype of what it need not sum"
    if name in ("isclose", "allclose") and dtypes != ["bool", "bool"] and set(dtypes) <= set(INTEGERS + BOOL) and wraps(case):
        return "MLX's differences of integers wrap"
    if "named twice" in wrong and (name in ("ifftshift", "fftshift") or 0 in case.inputs[0].shape):
        return "an axis that is named twice"
    if name.startswith("conv_transpose") and thin(case, said):
        return "MLX cuts the result wrongly where the padding is wider than the kernel"
    if name.startswith("conv_transpose") and how == "backward" and re.search(r"extra=\[[^]]*[1-9]", said):
        return "MLX's gradients of what is padded at the end have another shape than the input"
    if name == "concatenate" and len(case.inputs) == 1 and "out of range" in wrong:
        return "MLX looks at no axis of a single tensor"
    if name == "segmented_mm" and dtypes[0] in ("float16", "bfloat16"):
        return "MLX's sums of halves go on from one segment to the next"
    if name in ("cummax", "cummin") and dtypes[0] in ("float16", "bfloat16"):
        return "MLX drops NaN in halves"
    if name == "hadamard_transform" and how == "backward":
        return "MLX multiplies by the matrix, not its transpose, which is another one of 20 and 28"
    if name == "addmm" and how == "backward" and "jvp" in said:
        return "MLX's tangent of c is without the factor"
    if name in ("power", "cumprod") and how == "backward" and "complex64" in dtypes:
        return "MLX multiplies by the derivative, not by its conjugate"
    if name == "power" and how == "backward" and dtypes[0] in HALVES and re.search(r"MLX has (-?inf|nan);", wrong) and not no_number:
        return "MLX's b a^(b - 1) is beyond a half's range, before it is multiplied by what comes back"
    if name == "arctan2" and how == "backward" and set(dtypes) & set(HALVES) and re.search(r"MLX has (-?inf|nan);", wrong) and not no_number:
        return "MLX's a^2 + b^2 is below a half's range, or beyond it"
    if name in ("max", "min") and how == "backward" and "jvp" in said:
        return "MLX adds the tangents of all that tie"
    if name == "flatten" and "out of range" in wrong:
        return "MLX takes an axis beyond the last for that"
    if name == "power" and dtypes[0] in INTEGERS + BOOL and np.any(np.asarray(case.inputs[1].a) < 0):
        return "a power that is no whole number"
    if name == "power" and "complex64" in dtypes and not np.all(case.inputs[0].a):
        return "0 to a complex power is NaN, as NumPy has it"
    if name == "linspace" and re.search(r"dtype=(u?int|bool)", said):
        return "MLX's steps are floats before they are cut"
    if name == "logsumexp" and dtypes[0] == "bool":
        return "MLX's sum of exponentials of bools is another one"
    if name == "addmm" and 0 in case.inputs[1].shape or name == "layer_norm" and 0 in case.inputs[0].shape:
        return "MLX leaves what is of nothing as memory was"
    return None


def thin(case, said):
    """Whether the padding is wider than the kernel reaches, along some axis."""
    number = {k: [int(n) for n in v.strip("[]").split(",")] for k, v in re.findall(r"(padding|dilation)=(\[[^]]*\])", said)}
    taps = case.inputs[1].shape[1:-1]
    return any(p > g * (t - 1) for p, g, t in zip(number["padding"], number["dilation"], taps))


def of_numpy(case, wrong, said):
    """Whether the shape that is another than MLX's is that of NumPy's slice."""
    index = eval(re.search(r"index=(\(.*?\)) \w+\(", said).group(1), {"slice": slice, "None": None, "Ellipsis": Ellipsis})
    return wrong.startswith("shape %s, MLX" % (case.inputs[0].a[index].shape,))


def axes_of(said):
    axes = eval(re.search(r"axes=(None|\[[^]]*\])", said).group(1))
    return None if axes is None else tuple(axes)


def of_one(case, said):
    """How many elements make one of the result."""
    shape, axes = case.inputs[0].shape, axes_of(said)
    return math.prod(shape if axes is None else (shape[k] for k in axes))


def still(case, how, wrong, said):
    """Whether the numbers of which the differing one was made are all the same."""
    at = tuple(int(n) for n in re.search(r"at \(([\d, ]*)\)", wrong).group(1).split(",") if n.strip())
    a = case.inputs[0].a
    if how == "over_batch":
        a, at = np.flip(a) if at[0] % 2 else a, at[1:]
    axes = axes_of(said)
    keep = "keep=True" in said or "mode=vjp" in said
    same = a.max(axis=axes, keepdims=keep) == a.min(axis=axes, keepdims=keep)
    return bool((np.broadcast_to(same, a.shape) if "mode=vjp" in said else np.asarray(same))[at])


def wraps(case):
    """Whether some difference of the two has no place in their dtype, or some size has none."""
    common = np.result_type(*(x.a.dtype for x in case.inputs))
    if common.kind != "i":
        return True
    if not all(x.a.size for x in case.inputs):
        return False
    (low, high), (least, most) = ((int(x.a.min()), int(x.a.max())) for x in case.inputs)
    return max(high - least, most - low, -least) > np.iinfo(common).max


def to_nothing(said):
    return 0 in [int(n) for n in re.search(r"to=\[([\d,]*)\]", said).group(1).split(",") if n]
