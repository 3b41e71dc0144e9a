# What plain `print p` and an IDE's variables show of a tensor: its name, dtype and shape, then its values. For a gdb with Python;
# nothing loads it by itself: `source` it after lazybones.gdb. What it shows the plugin tells.
import ctypes
import json
import gdb

LARGE = 8192  # bytes
PAGE = 1000  # elements that are shown together: who opens a tensor of a billion opens pages of pages
IN_C = {"bool": "bool", "float32": "float", "float64": "double", "int8": "signed char", "uint8": "unsigned char", "int16": "short",
        "uint16": "unsigned short", "int32": "int", "uint32": "unsigned int", "int64": "long", "uint64": "unsigned long"}
READER = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_size_t)
# There, newer gdbs ask a variable for its text, too, before they open it: it cannot be told from what is printed.
IS_MI = bool(gdb.convenience_variable("_lb_mi"))
plugin = ctypes.CDLL(next(line.split()[-1] for line in open("/proc/self/maps") if line.rstrip().endswith("lazybones-gdb.so")))

@READER
def read(address, to, n):
    try:
        ctypes.memmove(to, bytes(gdb.selected_inferior().read_memory(address, n)), n)
    except (gdb.error, OverflowError):
        return 0
    return 1

def tell(record):
    """What the plugin says of a record, or None: it is no tensor's."""
    told = ctypes.create_string_buffer(1 << 14)
    found = plugin.lazybones_tell(read, ctypes.c_uint64(record), told, ctypes.c_size_t(len(told)))
    return json.loads(told.value) if found else None

def opened(address, kind):
    """What is there; of much a pointer, since gdb reads what it shows."""
    pointer = gdb.Value(address).cast(kind.pointer())
    return pointer if kind.sizeof > LARGE else pointer.dereference()

given = None  # the address of the child that was given last, until the next is asked for: of what is printed, it is printed now

def one_by_one(children):
    global given
    try:
        for name, given, kind in children:
            yield name, opened(given, kind)
    finally:
        given = None

class Line:
    """A handle: its one line, which gdb tells a front end of what has no children."""

    def __init__(self, told):
        self.told = told

    def to_string(self):
        t = self.told
        return f"{t['name'] or '#%d' % t['id']}: {t['dtype']} {tuple(t['shape'])}, {t['state']}"

class Record(Line):
    """What it leads to, *p: its values, too."""

    is_printed = False  # all at once, with its children, which a front end opens one by one

    def to_string(self):
        self.is_printed = not IS_MI
        return super().to_string()

    def children(self):
        t, most = self.told, gdb.parameter("print elements")
        if t["state"] != "ready" or t["layout"] != "row" or t["dtype"] not in IN_C or not t["size"]:
            return
        kind, some = gdb.lookup_type(IN_C[t["dtype"]]), self.is_printed and most and t["size"] > most
        for n in [most] if some else reversed(t["shape"]):
            kind = kind.array(n - 1)
        yield from one_by_one([("first" if some else "values", int(t["data"], 16), kind)])

class Pages:
    """A pointer to an array that is too long to be listed: its elements in groups, arrays of that kind again."""

    is_printed = False

    def __init__(self, pointer, kind):
        self.at, self.element, (self.low, self.high) = int(pointer), kind.target(), kind.range()

    def to_string(self):
        self.is_printed = not IS_MI
        return f"{self.at:#x}"

    def children(self):
        return iter(()) if self.is_printed or self.at == given else one_by_one(self.groups())

    def groups(self):
        step = 1
        while (self.high - self.low) // step >= PAGE:
            step *= PAGE
        for low in range(self.low, self.high + 1, step):
            high = min(low + step - 1, self.high)
            kind = self.element if step == 1 else self.element.array(low, high)
            name = str(low) if step == 1 else f"{low}..{high}"
            yield name, self.at + (low - self.low) * self.element.sizeof, kind

def lazybones_look_up(value):
    kind = value.type.strip_typedefs()
    if kind.code == gdb.TYPE_CODE_STRUCT and kind.name == "lb_tensor" and value.address is not None:
        return Record(told) if (told := tell(int(value.address))) else None
    kind = kind.target().strip_typedefs() if kind.code == gdb.TYPE_CODE_PTR and int(value) else None
    if kind and kind.code == gdb.TYPE_CODE_ARRAY and kind.sizeof > LARGE:
        return Pages(value, kind)
    told = tell(int(value)) if kind and kind.name == "lb_tensor" else None
    return Line(told) if told else None

gdb.pretty_printers[:] = [lazybones_look_up] + [
    p for p in gdb.pretty_printers if getattr(p, "__name__", "") != lazybones_look_up.__name__]
