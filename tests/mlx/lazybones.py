"""liblazybones by ctypes. Arguments go by what they are: an int as an integer, a float as a double, a list or tuple of ints as an
lb_list, a Tensor or None as a pointer, a Structure by value. (So on the 64-bit machines that Lazybones is for.)"""

import ctypes as c

import numpy as np

DTYPES = ["bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32",
          "float64", "complex64"]
NUMPY = [np.uint16 if name == "bfloat16" else np.dtype(name) for name in DTYPES]


class Refused(Exception):
    """What the runtime's error says."""


class List(c.Structure):
    _fields_ = [("n", c.c_int), ("v", c.POINTER(c.c_int64))]


class Scope(c.Structure):
    _fields_ = [("mark", c.c_void_p), ("open", c.c_int)]


class Index(c.Structure):
    _fields_ = [("start", c.c_int64), ("stop", c.c_int64), ("step", c.c_int64), ("kind", c.c_int)]


class Quant(c.Structure):
    _fields_ = [("mode", c.c_int), ("bits", c.c_int), ("group", c.c_int), ("activations", c.c_int)]


class Quantized(c.Structure):
    _fields_ = [(name, c.c_void_p) for name in ("w", "scales", "biases", "global_scale")]


class Conv(c.Structure):
    _fields_ = [("stride", c.c_int64 * 2), ("padding", c.c_int64 * 2), ("dilation", c.c_int64 * 2), ("groups", c.c_int64)]


class Conv3d(c.Structure):
    _fields_ = [("stride", c.c_int64 * 3), ("padding", c.c_int64 * 3), ("dilation", c.c_int64 * 3), ("groups", c.c_int64)]


class StftOptions(c.Structure):
    _fields_ = [("n", c.c_int64), ("hop", c.c_int64), ("window", c.c_int64), ("uncentred", c.c_bool), ("ends", c.c_int),
                ("norm", c.c_int), ("two_sided", c.c_bool)]


class Uniques(c.Structure):
    _fields_ = [(name, c.c_void_p) for name in ("values", "indices", "inverse", "counts")]


FUNCTION = c.CFUNCTYPE(c.c_bool, c.c_void_p, c.c_int, c.POINTER(c.c_void_p), c.c_int, c.POINTER(c.c_void_p))
END = 2**63 - 1
ALL = None  # as axes: LB_ALL_AXES


class Tensor:
    def __init__(self, pointer):
        self.pointer = pointer


class Axes:
    """An lb_list that may be LB_ALL_AXES."""

    def __init__(self, axes):
        self.axes = axes


def plain(x):
    if isinstance(x, bool):
        return c.c_int(x)
    if isinstance(x, (int, np.integer)):
        return c.c_int64(int(x))
    if isinstance(x, (float, np.floating)):
        return c.c_double(float(x))
    if x is None:
        return c.c_void_p(None)
    if isinstance(x, Tensor):
        return c.c_void_p(x.pointer)
    if isinstance(x, Axes):
        return List(-1, None) if x.axes is ALL else plain(x.axes)
    if isinstance(x, (list, tuple)):
        return List(len(x), (c.c_int64 * max(len(x), 1))(*x))
    return x


class Library:
    def __init__(self, path):
        self.so = c.CDLL(path)
        self.so.lb_error_message.restype = c.c_char_p
        self.so.lb_ok.restype = c.c_bool
        self.so.lb_scope_begin.restype = Scope
        self.so.lb_shape.restype = c.POINTER(c.c_int64)
        self.so.lb_nbytes.restype = c.c_int64
        for name in ("lb_rank", "lb_nbytes", "lb_shape", "lb_dtype_of"):
            getattr(self.so, name).argtypes = [c.c_void_p]

    def refuse(self):
        message = self.so.lb_error_message().decode(errors="replace")
        self.so.lb_clear_error()
        raise Refused(message or "NULL without an error")

    def call(self, name, restype, *args):
        function = getattr(self.so, "lb_" + name)
        function.restype = restype
        ret = function(*map(plain, args))
        if not self.so.lb_ok():
            self.refuse()
        return ret

    def __getattr__(self, name):
        """Of one result."""
        def call(*args):
            pointer = self.call(name, c.c_void_p, *args)
            return Tensor(pointer) if pointer else self.refuse()
        return call

    def refused_zero(self):
        """Where 0 means something else here."""
        raise Refused("0 is the default")

    def several(self, name, n, *args):
        """Of n results, each by a pointer of its own at the end."""
        out = [c.c_void_p() for _ in range(n)]
        if not self.call(name, c.c_bool, *args, *map(c.byref, out)):
            self.refuse()
        return [Tensor(x.value) for x in out]

    def array(self, name, n, *args):
        """Of n results, by an array at the end."""
        out = (c.c_void_p * n)()
        if not self.call(name, c.c_bool, *args, out):
            self.refuse()
        return [Tensor(x) for x in out]

    def pointers(self, tensors):
        return (c.c_void_p * max(len(tensors), 1))(*(x and x.pointer for x in tensors))

    def dtype(self, x):
        return DTYPES[self.so.lb_dtype_of(x.pointer)]

    def shape(self, x):
        rank = self.so.lb_rank(x.pointer)
        shape = self.so.lb_shape(x.pointer)
        return tuple(shape[i] for i in range(rank))

    def bytes(self, x):
        """The elements, row-major."""
        n = self.so.lb_nbytes(x.pointer)
        to = c.create_string_buffer(max(n, 1))
        self.call("copy_out", c.c_bool, x, to, n)
        return to.raw[:n]

    def tensor(self, raw, shape, dtype):
        return self.from_data(c.c_char_p(raw), len(raw), shape, DTYPES.index(dtype))

    def function(self, f, n_out):
        """f of Tensors, that gives a list of them, as an lb_function; what it refuses is refused."""
        def call(_, n_in, given, n, out):
            try:
                made = f(*(Tensor(given[i]) for i in range(n_in)))
            except Refused as e:
                self.caught = str(e)
                return False
            for i in range(n_out):
                out[i] = made[i].pointer
            return True
        return FUNCTION(call)

    def transformed(self, name, *args):
        """A call of something that takes functions, whose own refusal counts."""
        self.caught = None
        try:
            if not self.call(name, c.c_bool, *args):
                self.refuse()
        except Refused as e:
            raise Refused(self.caught or str(e)) from None
