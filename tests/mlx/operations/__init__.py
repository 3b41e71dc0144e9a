"""The operations of mlx.core, by the names that they have here."""

from . import creation, elementwise, linalg, models, moves, products, quantised, reductions, updates  # noqa: F401
from .case import OPERATIONS  # noqa: F401
