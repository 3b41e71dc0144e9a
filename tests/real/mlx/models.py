"""python3 models.py [WORD…]: what models of mlx-lm and mlx-whisper are about to compute, all or those with such words in their names: tiny ones
with random weights, a prompt and a token behind it, lazily to the end. As lazy.py."""

import importlib
import os
import sys
import types

import mlx.core as mx
import mlx.nn as nn
from answers import tell

# their packages import what fetches models, and makes text of tokens, which is not needed here
for name in ("mlx_lm", "mlx_whisper"):
    package = types.ModuleType(name)
    package.__path__ = [os.path.join(path, name) for path in sys.path]
    sys.modules[name] = package
sys.modules["numpy"] = types.SimpleNamespace(ndarray=None)
sys.modules["mlx_whisper.decoding"] = types.SimpleNamespace(decode=None, detect_language=None)
cache = importlib.import_module("mlx_lm.models.cache")
whisper = importlib.import_module("mlx_whisper.whisper")

mx.set_default_device(mx.cpu)
mx.random.seed(0)
cases, kept = {}, []
sizes = {
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "intermediate_size": 96,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 32,
    "rms_norm_eps": 1e-6,
    "vocab_size": 160,
    "max_position_embeddings": 64,
    "tie_word_embeddings": True,
    "rope_theta": 10000.0,
    # gemma
    "query_pre_attn_scalar": 32,
    "sliding_window": 4,
    "sliding_window_pattern": 2,
    # experts
    "num_experts": 4,
    "num_experts_per_tok": 2,
    "decoder_sparse_step": 1,
    "mlp_only_layers": [],
    "moe_intermediate_size": 64,
    "norm_topk_prob": True,
}
prompt, behind = mx.array([[3, 1, 4, 1, 5, 9]]), mx.array([[2]])
dtypes = {"float32": mx.float32, "float16": mx.float16, "bfloat16": mx.bfloat16}
mx.eval(prompt, behind)


def model_of(kind, dtype, quantise=None, **more):
    module = importlib.import_module("mlx_lm.models." + kind)
    model = module.Model(module.ModelArgs.from_dict({"model_type": kind, **sizes, **more}))
    model.set_dtype(dtypes[dtype])
    if quantise:
        nn.quantize(model, **quantise)
    mx.eval(model.parameters())
    kept.append(model)
    return model


def run(name, kind, dtype, quantise=None, caches=None, **more):
    """The prompt, and a token behind it, of which the prompt's cache is not evaluated either."""
    model = model_of(kind, dtype, quantise, **more)
    state = caches() if caches else cache.make_prompt_cache(model)
    cases[f"{name}, {dtype}: prompt"] = model(prompt, cache=state)[:, -1]
    cases[f"{name}, {dtype}: state"] = model.model(behind, cache=state)
    cases[f"{name}, {dtype}: logits"] = logits = model(behind, cache=state)
    cases[f"{name}, {dtype}: token"] = mx.argmax(logits, axis=-1)
    keys = state[-1].keys
    cases[f"{name}, {dtype}: keys"] = (keys[0] if isinstance(keys, (list, tuple)) else keys)[..., :8, :]


def hear(dtype):
    encoder = whisper.AudioEncoder(16, 10, 64, 2, 2, dtypes[dtype])
    decoder = whisper.TextDecoder(100, 16, 64, 2, 2, dtypes[dtype])
    for model in (encoder, decoder):
        model.set_dtype(dtypes[dtype])
        mx.eval(model.parameters())
        kept.append(model)
    sound = mx.random.normal((1, 20, 16)).astype(dtypes[dtype])
    mx.eval(sound)
    heard = encoder(sound)
    logits, state, cross = decoder(prompt, heard)
    cases[f"whisper, {dtype}: heard"] = heard
    cases[f"whisper, {dtype}: logits"] = logits
    cases[f"whisper, {dtype}: next"] = decoder(behind, heard, state)[0]
    cases[f"whisper, {dtype}: looked"] = cross[-1]


def small(bits):
    return lambda: [cache.QuantizedKVCache(group_size=32, bits=bits) for _ in range(2)]


def rotating():
    return [cache.RotatingKVCache(max_size=5, keep=1) for _ in range(2)]


todo = []
for dtype in dtypes:
    for kind in ("llama", "qwen2", "qwen3", "gemma", "gemma2", "gemma3_text", "qwen3_moe"):
        if kind != "qwen3_moe" or dtype == "float32":  # MLX has no such product of halves on CPUs
            todo.append((kind, dtype, kind, {}))
    for bits in (2, 3, 4, 5, 6, 8):
        todo.append((f"llama of {bits} bits", dtype, "llama", {"quantise": {"group_size": 32, "bits": bits}}))
    for mode in ("mxfp4", "mxfp8", "nvfp4"):
        how = {"mode": mode, "group_size": None, "bits": None}
        todo.append((f"llama of {mode}", dtype, "llama", {"quantise": how}))
    todo.append(("llama, rotating", dtype, "llama", {"caches": rotating}))
    for bits in (4, 8):
        todo.append((f"llama, cache of {bits} bits", dtype, "llama", {"caches": small(bits)}))
    todo.append(("whisper", dtype, None, None))
for name, dtype, kind, more in todo:
    if sys.argv[1:] and not any(word in f"{name}, {dtype}" for word in sys.argv[1:]):
        continue
    if kind:
        run(name, kind, dtype, **more)
    else:
        hear(dtype)
asked = list(cases.values())
tell(cases, [], 0)
