"""python3 lazy.py: lazy arrays, one an operation or so, for peek.py (answers.py)."""

import mlx.core as mx
import mlx.nn as nn
from answers import tell

mx.set_default_device(mx.cpu)
mx.random.seed(0)
newest = hasattr(mx, "to_fp8")
newer = hasattr(mx, "float64")  # from 0.22 on
a = mx.random.normal((2, 3, 4))
b = mx.random.uniform(shape=(3, 4)) + 0.5
i = mx.arange(-6, 6).reshape(3, 4)
u = mx.arange(12).reshape(3, 4).astype(mx.uint8) * 20
h = mx.random.normal((3, 8)).astype(mx.bfloat16)
f = mx.random.normal((3, 8)).astype(mx.float16)
t = i > 1
key = mx.array([2, 0, -1])
random_key = mx.random.key(7)
mx.eval(random_key)
table = mx.random.normal((10, 4))
norm = nn.RMSNorm(8)
layer = nn.LayerNorm(8)
dense = nn.Linear(4, 5)
attention = nn.MultiHeadAttention(8, 2)
rope = nn.RoPE(4)
x = mx.random.normal((2, 5, 8))
nan = mx.array([1.0, float("nan"), 3.0, float("inf")])
words = mx.arange(12).reshape(3, 4).astype(mx.uint32) * 0x12345678
cache = mx.zeros((2, 6, 3))
grid = mx.random.normal((2, 7, 6, 4))
kernel = mx.random.normal((6, 3, 2, 4))
matrix = mx.random.normal((8, 128))
states = mx.random.normal((3, 128))
experts = mx.random.normal((3, 8, 128))
chosen = mx.array([[2, 0], [1, 1]])
mx.eval(words, cache, grid, kernel, matrix, states, experts, chosen)
gated = mx.compile(lambda v, w: (nn.silu(v) * w, mx.exp(v) - 1))


def quantised(w, **how):
    parts = mx.quantize(w, **how)
    mx.eval(*parts)
    return parts


quarter = quantised(matrix, group_size=32, bits=4)
eighth = quantised(matrix, group_size=64, bits=8)
third = quantised(matrix, group_size=64, bits=3)
across = quantised(matrix.reshape(16, 64)[:, :32], group_size=32, bits=4)
stack = quantised(experts, group_size=64, bits=4)


def written_over(x, place, value):
    x = x * 1
    x[place] = value
    return x


mx.eval(a, b, i, u, h, f, t, key, table, norm, layer, dense, attention, x, nan)

cases = {
    # the same bits
    "to_int": a.astype(mx.int32),
    "to_half": a.astype(mx.bfloat16),
    "to_bool": i.astype(mx.bool_),
    "transposed": a.transpose(2, 0, 1),
    "reshaped": a.transpose(2, 0, 1).reshape(4, 6),
    "flat": mx.flatten(a, 1),
    "expanded": mx.expand_dims(a, (0, 2)).squeeze(0),
    "sliced": a[:, 1:, ::2],
    "backwards": a[::-1, ::-2, 1],
    "nothing": a[:, 2:2],
    "spread": mx.broadcast_to(b[:, None], (3, 2, 4)),
    "filled": mx.full((2, 3), 7),
    "joined": mx.concatenate([a, a * 1], axis=1),
    "stacked": mx.stack([b, b.T.reshape(3, 4)], axis=-1),
    "padded": mx.pad(a, [(0, 0), (1, 2), (3, 0)], constant_values=-1),
    "second": mx.split(a, [1, 3], axis=2)[1],
    "last": mx.split(a, [1, 3], axis=2)[2],
    "stopped": mx.stop_gradient(a),
    "dense": mx.contiguous(b.T) if hasattr(mx, "contiguous") else b.T,
    "rows": table[key],
    "embedded": mx.take(a, mx.array([[2, 1], [0, 0]]), axis=1),
    "pairs": a[key % 2, :, mx.array([[0, 1, 3]])],
    "cached": written_over(cache, (..., slice(1, 4), slice(None)), a[:, :, :3]),
    "cached_backwards": written_over(cache, (1, slice(5, 0, -2), slice(0, 2)), a[0, :, 1:3]),
    "quarters": mx.quantize(matrix, group_size=32, bits=4)[0],
    "scales": mx.quantize(matrix, group_size=64, bits=8)[1],
    "biases": mx.quantize(matrix, group_size=64, bits=3)[2],
    "to_left": mx.left_shift(words, mx.array([0, 1, 4, 31], mx.uint32)),
    "to_right": mx.right_shift(words, 5),
    "to_right_signed": mx.right_shift(i, 1),
    "counted_far": mx.arange(20000001, 20000009),
    "counted_bytes": mx.arange(250, 255, 2).astype(mx.uint8),
    "counted": mx.arange(3, 30, 4),
    "counted_down": mx.arange(5.0, -5.0, -2.0),
    "upper": mx.where(t, i, -i),
    "sums": i + u,
    "products": i * i - 3,
    "bytes": u + u,
    "rest": i % 5,
    "most": mx.maximum(i, 2),
    "squares": mx.square(i),
    "less": a[0] < b,
    "same": mx.equal(i, i.T.reshape(3, 4)),
    "nan_is_nan": mx.array_equal(nan, nan, equal_nan=True),
    "not": mx.logical_not(t),
    "both": mx.logical_and(t, i < 4),
    "truths": mx.bitwise_and(t, i < 4) if hasattr(mx, "bitwise_and") else t,
    "any": mx.any(t, axis=1),
    "all": mx.all(i < 9),
    "sum_int": i.sum(axis=0),
    "sum_bool": t.sum(),
    "product_int": (i[:, :2] + 7).prod(axis=(0, 1), keepdims=True),
    "max": a.max(axis=(0, 2)),
    "min": i.min(),
    "argmax_int": mx.argmax(i * i, axis=1),
    "argmin_int": mx.argmin(i * i, axis=0, keepdims=True),
    "argmax": mx.argmax(a, axis=-1),
    "argmin_nan": mx.argmin(nan),
    "argmax_nan_first": mx.argmax(nan[1:]),
    "sorted": mx.sort(a, axis=1),
    "order": mx.argsort(-a, axis=-1),
    "sign": mx.sign(a) + mx.sign(b),
    "cumsum_int": mx.cumsum(i, axis=1, reverse=True, inclusive=False),
    "rounded": mx.round(a * 3),
    "floor": mx.floor(a * 3),
    "ceil": mx.ceil(i),
    "random_bits": mx.random.split(random_key, 5),
    "random_uniform": mx.random.uniform(shape=(3, 5), key=random_key),
    "random_half": mx.random.uniform(low=-1, high=2, shape=(7,), dtype=mx.float16, key=random_key),
    "random_sequence": mx.random.uniform(shape=(4,)),
    "random_sequence_on": mx.random.randint(0, 1000, (11,)),
    "random_truth": mx.random.bernoulli(0.3, (3, 4)),
    "random_choice": mx.random.categorical(a),
    "permutation": mx.random.permutation(13),
    "permuted_rows": mx.random.permutation(b),
    "topk": mx.topk(a, 2, axis=-1),
    "partition": mx.partition(table, 3, axis=0),
    "argpartition": mx.argpartition(table.reshape(-1), 11),
    "argpartition_ties": mx.argpartition(mx.floor(table).reshape(-1), -7),
    "bits_and": mx.bitwise_and(words, 0x0FF0F) if hasattr(mx, "bitwise_and") else words,
    "bits_or": mx.bitwise_or(i, 5) if hasattr(mx, "bitwise_or") else i,
    "bits_xor": mx.bitwise_xor(u, 77) if hasattr(mx, "bitwise_xor") else u,
    "bits_viewed": mx.view(a, mx.uint16),
    "remainder_by_none": mx.remainder(i, i) if newest else i,  # older ones die of it
    "running_product": mx.cumprod(i, axis=1),
    "running_least": mx.cummin(i, axis=0, reverse=True, inclusive=False),
    "running_greatest": mx.cummax(a, axis=2),
    "running_truths": mx.cumsum(t, axis=1),
    # floats
    "random_normal": mx.random.normal((3, 4), key=random_key),
    "random_gumbel": mx.random.gumbel((3, 4)),
    "random_truncated": mx.random.truncated_normal(-1.0, 1.0, (3, 4)),
    "random_laplace": mx.random.laplace((3, 4)) if hasattr(mx.random, "laplace") else a,
    "running_float_product": mx.cumprod(b, axis=0),
    "exp": mx.exp(a),
    "log": mx.log(b),
    "log2": mx.log2(b),
    "log10": mx.log10(b.astype(mx.float16)),
    "root": mx.sqrt(b),
    "inverse_root": mx.rsqrt(b),
    "sine": mx.sin(a) * mx.cos(a),
    "sigmoid": mx.sigmoid(a),
    "tanh": mx.tanh(f),
    "erf": mx.erf(a),
    "abs": mx.abs(-a),
    "quotient": a / b,
    "power": b**1.5,
    "remainder": mx.remainder(a, b),
    "smaller": mx.minimum(a, nan),
    "logaddexp": mx.logaddexp(a, b),
    "halves": h * h + h / 2,
    "sum": a.sum(axis=-1),
    "mean": a.mean(axis=1, keepdims=True),
    "variance": a.var(axis=2),
    "cumsum": mx.cumsum(b, axis=0),
    "softmax": mx.softmax(a, axis=-1),
    "expm1": mx.expm1(a * 1e-3),
    "log1p": mx.log1p(b * 1e-4),
    "hyperbolic": mx.sinh(a) + mx.cosh(b),
    "tan": mx.tan(b),
    "erfinv": mx.erfinv(mx.tanh(a) * 0.999),
    "silu": nn.silu(a),
    "gelu_of_halves": nn.gelu(f),
    "elu": nn.elu(a),
    "compiled": gated(a, b)[0],
    "compiled_second": gated(a, b)[1],
    "dequantised": mx.dequantize(*quarter, group_size=32, bits=4),
    "quantised_product": mx.quantized_matmul(states, *quarter, group_size=32, bits=4),
    "quantised_eighths": mx.quantized_matmul(states[:, None], *eighth, group_size=64, bits=8),
    "quantised_thirds": mx.quantized_matmul(states, *third, group_size=64, bits=3),
    "quantised_across": mx.quantized_matmul(states[:, :16], *across, transpose=False, group_size=32, bits=4),
    "quantised_experts": mx.gather_qmm(
        states[:, None, None], *stack, rhs_indices=mx.broadcast_to(chosen[:1], (3, 2)), group_size=64, bits=4
    ),
    "experts": mx.gather_mm(states[:2, None, None], experts.swapaxes(1, 2), rhs_indices=chosen),
    "along_time": mx.conv1d(x, mx.ones((3, 3, 8)), stride=2, padding=1),
    "across_image": mx.conv2d(grid, kernel, padding=(2, 0), dilation=(2, 1)),
    "by_channel": mx.conv2d(grid, kernel[:4, ..., :1], groups=4),
    "loss": nn.losses.cross_entropy(a, mx.array([[1, 0, 3], [2, 2, 0]]), reduction="mean"),
    "softmax_inner": mx.softmax(a, axis=1),
    "logsumexp": mx.logsumexp(a, axis=-1),
    "matmul": a @ b.T,
    "vector": b @ b[0],
    "addmm": mx.addmm(b[:, :3], b, b.T, alpha=0.5, beta=2.0),
    "linear": dense(a),
    "rms_norm": norm(x),
    "layer_norm": layer(x),
    "rope": rope(x.reshape(2, 5, 2, 4).transpose(0, 2, 1, 3), offset=3),
    "attention": attention(x, x, x, mask=nn.MultiHeadAttention.create_additive_causal_mask(5)),
}
if newer:
    cases["along"] = mx.take_along_axis(a, mx.array([[[1], [0], [3]]]), axis=2)
    cases["unflattened"] = mx.unflatten(a, 2, (2, 2))
    cases["double"] = a.astype(mx.float64) / mx.array(3, mx.float64)
    cases["halves_product"] = h @ h.T
    cases["put"] = mx.put_along_axis(a, mx.array([[[1], [0], [3]]]), mx.array(7.0), axis=2)
if hasattr(mx, "slice"):
    cases["dynamic"] = mx.slice(a, mx.array([1, 2]), (1, 2), (2, 2, 2))
if newest:
    steps = mx.concatenate([mx.arange(-40, 40) / 7, mx.array([0.0, 448, 449, 464, 465, 1e9, 0.0019, 0.00097, 0.001, -3e-5])])
    cases["to_fp8"], cases["to_fp8_half"] = mx.to_fp8(steps), mx.to_fp8(steps.astype(mx.bfloat16))
for mode in ["mxfp4", "mxfp8", "nvfp4"] if newest else []:
    parts = quantised(matrix, mode=mode)
    cases[mode] = mx.quantized_matmul(states, *parts, mode=mode)
refused = {
    "fraction": mx.arange(0, 1, 0.1),
    "inverse": mx.linalg.inv(mx.eye(3) * 2, stream=mx.cpu),
}
sound = mx.sin(mx.arange(2 * 60).reshape(2, 60) * 0.3) + mx.arange(60) * 0.01
spectrum = mx.fft.fft(sound)
mx.eval(sound, spectrum)
cases["spectrum"] = mx.abs(mx.fft.rfft(sound))
cases["spectrum_real"] = mx.real(mx.fft.rfft(sound, axis=0))
cases["spectrum_imaginary"] = mx.imag(mx.fft.rfft(sound, n=37))
cases["spectrum_back"] = mx.fft.irfft(mx.fft.rfft(sound))
cases["spectrum_back_odd"] = mx.fft.irfft(mx.fft.rfft(sound, n=37), n=37)
cases["spectrum_of_complex"] = mx.real(mx.fft.ifft(spectrum[:, :45] * spectrum[:, 15:]))
# as mlx_whisper.audio.log_mel_spectrogram() has it
voice = mx.sin(mx.arange(4800) * 0.05) * 0.3
frames = mx.as_strided(voice, ((4800 - 400 + 160) // 160, 400), (160, 1)) * (0.5 - 0.5 * mx.cos(mx.arange(400) * 0.0157))
mel = mx.log(mx.maximum(mx.square(mx.abs(mx.fft.rfft(frames)))[:-1] @ mx.abs(mx.sin(mx.arange(201 * 8).reshape(201, 8))), 1e-10))
cases["mel"] = (mx.maximum(mel, mel.max() - 8.0) + 4.0) / 4.0
cases["complex_sum"] = mx.abs(spectrum - sound * 2)
cases["endless"] = mx.abs(mx.array([complex("inf+nanj"), complex("nan"), 3 + 4j, complex("-infj")]))
cases["spectrum_of_picture"] = mx.abs(mx.fft.fft2(grid[0, :, :, 0]))
cases["spectrum_of_several"] = mx.imag(mx.fft.rfftn(grid, axes=(1, 3, 2)))
cases["spectrum_of_several_back"] = mx.fft.irfftn(mx.fft.rfftn(grid, axes=(1, 2)), axes=(1, 2))
wide = mx.array([-3.0, -1.0, -0.7, -1e-7, 0.0, 0.3, 0.9999, 1.0, 2.5, 1e30, float("inf"), float("nan")])
across = mx.array([1.0, -1.0, 0.0, 3.0, 0.0, -2.0, 0.5, float("-inf"), 1.0, -1e-30, float("inf"), 1.0])
for name in "arctan arcsin arccos arcsinh arccosh arctanh".split():
    cases[name] = getattr(mx, name)(wide)
cases["arctan2"] = mx.arctan2(wide, across)
cases["arctan_half"] = mx.arctan(f)
cases["quotient_whole"], cases["quotient_rest"] = mx.divmod(a * 5, b)
cases["quotient_int"], cases["quotient_rest_int"] = mx.divmod(i * 7, mx.array([2, -3, 5, -4]))
cases["windows"] = mx.as_strided(a, (3, 4, 2), (2, 5, 1), 1)
if newer:
    cases["turned"] = mx.conv_general(grid, kernel, padding=([2, 1], [3, 0]), input_dilation=(2, 3), flip=True)
if hasattr(a, "at"):
    cases["added_at"] = table.at[mx.array([1, 3, 1]), 2:].add(mx.ones((3, 2)))
    cases["added_at_pairs"] = a.at[mx.array([1, 0, 1]), :, mx.array([3, 0, 3])].add(mx.arange(9).reshape(3, 3).astype(mx.float32))
    for name in "minimum maximum multiply".split():
        cases[name + "_at"] = getattr(table.at[mx.array([1, 3, 1])], name)(mx.arange(12).reshape(3, 4) / 8 - 0.5)
        cases[name + "_at_int"] = getattr(i.at[mx.array([2, 0, 2]), 1:], name)(mx.arange(9).reshape(3, 3) - 4)
    cases["put_at"] = written_over(table, mx.array([7, 2]), mx.array([[1.0, 2, 3, 4], [5, 6, 7, 8]]))
if newest:
    cases["sort_of_nan"] = mx.sort(nan)
    cases["partition_of_nan"] = mx.partition(nan, 2)
    cases["argpartition_of_nan"] = mx.argpartition(mx.where(table.reshape(-1) > 0.5, float("nan"), table.reshape(-1)), 11)
else:  # its order has no meaning
    refused["sort_of_nan"] = mx.sort(nan)
    refused["order_of_nan"] = mx.argsort(nan)
    refused["partition_of_nan"] = mx.partition(nan, 2)
    refused["argpartition_of_nan"] = mx.argpartition(nan, 1)
asked = list(cases.values()) + list(refused.values())
tell(cases, refused, list(cases).index("random_normal"))
