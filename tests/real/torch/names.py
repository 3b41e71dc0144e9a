"""python3 names.py TRUTH: a model, its optimiser, tensors in dicts and lists, and functions that hold some while they wait. It
writes into the file TRUTH by which paths they are reached, says `resting`, and waits until its input ends."""

import collections
import dataclasses
import sys
import threading

import numpy
import torch

import truth

torch.manual_seed(0)
torch.set_num_threads(1)
waits = False


class Block(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc1 = torch.nn.Linear(width, 2 * width)
        self.fc2 = torch.nn.Linear(2 * width, width)
        self.register_buffer("scale", torch.ones(width))

    def forward(self, x):
        hidden = self.fc1(x)
        if waits:
            truth.name("hidden", hidden)
            truth.path("self.fc1.weight", self.fc1.weight)
            rest(lambda: hidden)
        return self.fc2(hidden.relu()) * self.scale


class Net(torch.nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.layers = torch.nn.ModuleList([Block(width) for _ in range(depth)])
        self.heads = torch.nn.ParameterList([torch.nn.Parameter(torch.randn(width)) for _ in range(2)])
        self.towers = torch.nn.ModuleDict({"enc": Block(2), "a-b": torch.nn.Sequential(
            collections.OrderedDict(up=torch.nn.Linear(2, 3), act=torch.nn.ReLU(), down=torch.nn.Linear(3, 4)))})
        self.scales = torch.nn.ParameterDict({"of x": torch.ones(7)})

    def forward(self, x):
        for layer in self.layers:
            x = x + layer(x)
        return x * self.heads[0] + self.heads[1]


class Trainer:
    def __init__(self, model):
        self.parts = (model, [torch.full((5,), 3.0)])
        self.trainer = self


def rest(look):
    taken = look()
    truth.path("taken", taken)
    shadow = taken  # not what train() calls so
    truth.path("shadow", shadow)
    ready.wait()
    truth.rest()


def work(number):
    """A thread of its own."""
    mine = torch.full((number,), float(number))
    truth.path(f"threads[{number - 2}].result[0]", mine)
    threading.current_thread().result = [mine]
    ready.wait()
    done.wait()


model = Net(8, 3)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
batch = {"input_ids": torch.arange(12) + 0, 7: torch.ones(3), "it's": torch.zeros(2), ("a", 1): torch.ones(1)}
batch["größe"] = torch.ones(6)
batch['it\'s "both"'] = torch.ones(21)
cache = [[torch.ones(i + 1) * j for j in range(2)] for i in range(4)]
trainer = Trainer(model)
for turn in range(3):
    loss = model(torch.randn(5, 8)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
many = {str(i): i for i in range(5000)}
many["last"] = torch.ones(9)
encoded = collections.UserDict(input_ids=torch.ones(15))
Output = collections.namedtuple("Output", ["loss", "logits"])


@dataclasses.dataclass
class Sample:
    x: torch.Tensor
    rest: dict


output = Output(torch.ones(16), [torch.ones(17)])
sample = Sample(torch.ones(18), {"masks": (torch.ones(19),)})
shared = type("Shared", (), {})
first, second = shared(), shared()
first.a, first.b, second.b = 1, torch.ones(10), torch.ones(11)
second.__dict__["c"] = torch.ones(12)

truth.module("model", model, optimizer)
state = model.state_dict()
numpy.savez(sys.argv[1] + ".npz", **{name: tensor.numpy() for name, tensor in state.items()})
truth.tell("model", len(state), sum(tensor.numel() for tensor in state.values()))
del state
truth.path("model.layers[1].fc1.weight", model.layers[1].fc1.weight)
truth.path('model.towers["enc"].fc1.weight', model.towers["enc"].fc1.weight)
truth.path("model.towers['a-b'][0].bias", model.towers["a-b"][0].bias)
truth.path("model.towers['a-b'][-1].bias", model.towers["a-b"][-1].bias)
truth.path('model.scales["of x"]', model.scales["of x"])
truth.path("trainer.parts[0].layers[-1].fc2.bias", model.layers[2].fc2.bias)
truth.path("optimizer.param_groups[0]['params'][0]", next(model.parameters()))
truth.path("model.layers[0].fc1.weight.grad", model.layers[0].fc1.weight.grad)
truth.path('batch["input_ids"]', batch["input_ids"])
truth.path('cache[-1][1]', cache[3][1])
for key in ("input_ids", 7, "größe", 'it\'s "both"'):
    truth.name(f"batch[{key!r}]", batch[key])
truth.name('batch["it\'s"]', batch["it's"])
for i in range(4):
    for j in range(2):
        truth.name(f"cache[{i}][{j}]", cache[i][j])
truth.name("trainer.parts[1][0]", trainer.parts[1][0])
truth.name("loss", loss)
truth.name("many['last']", many["last"])
truth.name("first.b", first.b)
truth.name("encoded['input_ids']", encoded["input_ids"])
truth.path("encoded.data['input_ids']", encoded["input_ids"])
truth.path("output.loss", output.loss)
truth.path("output.logits[-1]", output.logits[0])
truth.name("output[0]", output.loss)
truth.name("sample.x", sample.x)
truth.name("sample.rest['masks'][0]", sample.rest["masks"][0])
truth.name("second.b", second.b)
truth.name("second.c", second.c)
far = {"at": [torch.ones(20)]}
near = far["at"][0]
truth.paths(near, "near", "far['at'][0]")

ready, done = threading.Barrier(3), threading.Event()
threads = [threading.Thread(target=work, args=(number,), daemon=True) for number in (2, 3)]
for thread in threads:
    thread.start()
waits = True


def train():
    held = torch.full((13,), 2.0)
    truth.name("held", held)
    shadow = torch.full((14,), 2.0)
    truth.name("shadow", shadow)
    parts = {"of": [(held,), sample, collections.UserDict(inner=shadow)], 3: output}
    truth.variables(held=held, shadow=shadow)
    truth.variables(**{"parts['of'][0][0]": held, "parts['of'][1].x": sample.x, "parts['of'][2]['inner']": shadow})
    truth.variables(**{"parts['of'][1].rest['masks'][0]": sample.rest["masks"][0], "parts[3][0]": output.loss})
    several = [held] * 100
    row, kind = 2, "input_ids"
    truth.path("cache[row][1]", cache[2][1])  # a variable of the module's, by the function's own
    truth.path("batch[kind]", batch["input_ids"])
    model(torch.randn(5, 8))


train()
