"""python3 crowd.py: a program with MLX that has many of everything, and rests: 200,000 arrays in a list, a lazy graph of a million, a dict of
a million entries, and a ring of objects."""

import sys

import mlx.core as mx

mx.set_default_device(mx.cpu)


class Link:
    pass


many = [mx.array(float(i)) for i in range(200_000)]
state = mx.zeros((4,))
for _ in range(333_333):  # each step makes three
    state = state + 1.0
table = dict.fromkeys(range(1_000_000))
table["last"] = mx.ones((3,))
mx.eval(table["last"])
ring = links = Link()
for array in many[:1000]:
    links.next = Link()
    links = links.next
    links.array = array
links.next = ring
print("resting", flush=True)
sys.stdin.read()
