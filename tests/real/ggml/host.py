"""python3 host.py FOLDER MODEL: a llama server within Python, of the xllamacpp in that folder. It completes a prompt, says
`resting`, and waits until its input ends."""

import importlib.util
import os
import sys

spec = importlib.util.spec_from_file_location(
    "xllamacpp", os.path.join(sys.argv[1], "__init__.py"), submodule_search_locations=[sys.argv[1]]
)
xllamacpp = importlib.util.module_from_spec(spec)
sys.modules["xllamacpp"] = xllamacpp
spec.loader.exec_module(xllamacpp)

params = xllamacpp.CommonParams()
params.model.path = sys.argv[2]
params.n_ctx, params.n_parallel, params.n_batch, params.n_ubatch = 256, 2, 64, 64
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
params.warmup = False
server = xllamacpp.Server(params)
server.handle_completions({"prompt": "hello world", "max_tokens": 6, "temperature": 0})
print("resting", flush=True)
sys.stdin.read()
os._exit(0)
