"""Logarithms."""
from popxl._build import describe, one
from popxl.tensor import Tensor


def log(t: Tensor) -> Tensor:
    """The natural logarithm, element by element."""
    return one("log", [t], {})


def log2(t: Tensor) -> Tensor:
    """The logarithm to the base 2, element by element: log(t) / log(2)."""
    if not isinstance(t, Tensor):
        raise TypeError(f"log2: {describe(t)} is not a tensor.")
    return one("div", [one("log", [t], {}, called="log2"), log(t._ensure_tensor(2))], {})


__all__ = ["log", "log2"]
