"""Logical or."""
from popxl import dtypes
from popxl._build import describe, one
from popxl.ops.utils import cast_if_needed
from popxl.tensor import Tensor


def logical_or(lhs: Tensor, rhs: Tensor) -> Tensor:
    """`lhs or rhs`, element by element, with NumPy's broadcasting; the result is bool. What is not bool is compared with zero."""
    for t in (lhs, rhs):
        if not isinstance(t, Tensor):
            raise TypeError(f"logical_or: {describe(t)} is not a tensor.")
    return one("logical_or", [cast_if_needed(lhs, dtypes.bool), cast_if_needed(rhs, dtypes.bool)], {})


__all__ = ["logical_or"]
