"""Logical not."""
from popxl import dtypes
from popxl._build import describe, one
from popxl.ops.utils import cast_if_needed
from popxl.tensor import Tensor


def logical_not(t: Tensor) -> Tensor:
    """`not t`, element by element; the result is bool. What is not bool is compared with zero."""
    if not isinstance(t, Tensor):
        raise TypeError(f"logical_not: {describe(t)} is not a tensor.")
    return one("logical_not", [cast_if_needed(t, dtypes.bool)], {})


__all__ = ["logical_not"]
