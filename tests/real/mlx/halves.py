"""python3 halves.py: what MLX computes in float16 and bfloat16, where it rounds at each step, or once: all of it to the last bit. As lazy.py."""

import mlx.core as mx
import mlx.nn as nn
from answers import tell

mx.set_default_device(mx.cpu)
mx.random.seed(3)
newest = hasattr(mx, "to_fp8")
newer = hasattr(mx, "float64")  # from 0.22 on; before, this was computed otherwise
cases, kept = {}, []


def ready(*arrays):
    mx.eval(*arrays)
    kept.append(arrays)
    return arrays


def some(*shape):
    return ready(mx.random.normal(shape).astype(dtype))[0]


for name, dtype in (("f16", mx.float16), ("bf16", mx.bfloat16)):
    x, narrow, matrix = some(2, 3, 128), some(2, 3, 40), some(40, 128)
    queries, keys = some(1, 4, 5, 32), some(1, 2, 5, 32)
    for bits in (2, 3, 4, 5, 6, 8) if newest else (2, 4, 8):
        how = {"group_size": 32, "bits": bits}
        parts = ready(*mx.quantize(matrix, **how))
        cases[f"{name} by rows of {bits} bits"] = mx.quantized_matmul(x, *parts, **how)
        cases[f"{name} by columns of {bits} bits"] = mx.quantized_matmul(narrow, *parts, transpose=False, **how)
        cases[f"{name} of {bits} bits"] = mx.dequantize(*parts, **how)
        for i, part in enumerate(mx.quantize(matrix, **how)) if newer else ():
            cases[f"{name} to {bits} bits, part {i}"] = part
    for mode in ("mxfp4", "mxfp8", "nvfp4") if newest else ():
        parts = ready(*mx.quantize(matrix, mode=mode))
        cases[f"{name} by rows of {mode}"] = mx.quantized_matmul(x, *parts, mode=mode)
        cases[f"{name} by columns of {mode}"] = mx.quantized_matmul(narrow, *parts, transpose=False, mode=mode)
        cases[f"{name} of {mode}"] = mx.dequantize(*parts, mode=mode, dtype=dtype)
    norms = nn.RMSNorm(128), nn.LayerNorm(128)
    for norm in norms:
        norm.set_dtype(dtype)
        ready(*norm.parameters().values())
    some_of_it = {
        "softmax": mx.softmax(x, axis=-1),
        "precise softmax": mx.softmax(x, axis=-1, precise=True),
        "logsumexp": mx.logsumexp(x, axis=-1),
        "cumsum": mx.cumsum(x, axis=1),
        "sum": x.sum(axis=-1),
        "sum of columns": x.sum(axis=0),
        "mean": x.mean(axis=-1),
        "product": x[..., :9].prod(axis=1),
        "rms_norm": norms[0](x),
        "layer_norm": norms[1](x),
        "silu": nn.silu(x),
        "gelu": nn.gelu(x),
        "tanh": mx.tanh(x),
        "rsqrt": mx.rsqrt(mx.abs(x)),
        "gated": mx.compile(lambda a, b: nn.silu(a) * b)(x, x),
        "rope": mx.fast.rope(queries, 32, traditional=False, base=1e4, scale=1.0, offset=2),
    }
    if newer:
        some_of_it["sigmoid"] = mx.sigmoid(x)
        some_of_it["logaddexp"] = mx.logaddexp(x, -x)
        some_of_it["matmul"] = x @ matrix.T
        some_of_it["attention"] = mx.fast.scaled_dot_product_attention(queries, keys, keys, scale=0.2)
    if newest:
        some_of_it["cumprod"] = mx.cumprod(x, axis=-1)
        some_of_it["remainder"] = mx.remainder(x, mx.array(1.5, dtype))
    cases.update({f"{name} {case}": array for case, array in some_of_it.items()})
asked = list(cases.values())
tell(cases, [], len(cases))
