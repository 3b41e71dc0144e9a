"""What a program knows of its own tensors, as words in lines of the file that its first argument names: for check.py,
names_check.py and autograd.py, which ask Lazybones for the same."""

import gc
import sys

import torch

file = open(sys.argv[1], "w")


def tell(*words):
    print(*words, sep="\t", file=file)


def name(path, tensor):
    """What the tensor is called."""
    tell("name", tensor.data_ptr(), path)


def path(path, tensor):
    """One of the ways to it."""
    tell("path", tensor.data_ptr(), path)


def paths(tensor, *paths):
    """Several ways to it, the shortest first."""
    tell("several", tensor.data_ptr(), *paths)


def variables(**tensors):
    """What the caller's variables hold, as a stack has them."""
    for what, tensor in tensors.items():
        tell("variable", sys._getframe().f_back.f_code.co_name, what, tensor.data_ptr(), tuple(tensor.shape))


def module(variable, module, optimizer=None, held_by="optimizer"):
    """Each parameter and buffer by its name behind the variable that holds the module, with its gradient, and its state
    behind the variable that holds the optimizer."""
    for key, tensor in list(module.named_parameters()) + list(module.named_buffers()):
        name(f"{variable}.{key}", tensor)
        if tensor.grad is not None:
            name(f"{variable}.{key}.grad", tensor.grad)
        for what, state in (optimizer.state.get(tensor, {}) if optimizer else {}).items():
            if isinstance(state, torch.Tensor):
                name(f"{held_by}.state[{variable}.{key}][{what!r}]", state)


def listed():
    """Each tensor that Python knows, as a list has it."""
    for tensor in gc.get_objects():
        if issubclass(type(tensor), torch.Tensor):  # isinstance() would ask a weak reference, too
            dtype = str(tensor.dtype).replace("torch.", "")
            has_none = tensor.is_meta or type(tensor).__name__ == "FakeTensor"
            print("tensor", dtype, tuple(tensor.shape), "opaque" if has_none else "ready", file=file)


def stack(frame):
    """The functions that run, from this frame out."""
    while frame:
        code = frame.f_code
        tell("frame", f"{code.co_qualname} at {code.co_filename}:{frame.f_lineno}")
        frame = frame.f_back


def rest():
    """Waits until the input ends; who calls this calls nothing else."""
    stack(sys._getframe().f_back)
    listed()
    file.close()
    print("resting", flush=True)
    sys.stdin.read()
