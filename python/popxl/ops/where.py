"""Choice, element by element."""
from popxl import dtypes
from popxl._build import describe, one
from popxl.ops.utils import cast_if_needed
from popxl.tensor import Tensor


def where(condition: Tensor, lhs: Tensor, rhs: Tensor) -> Tensor:
    """lhs where the condition holds, rhs elsewhere, with NumPy's broadcasting.

    Args:
        condition: bool; what is not bool is compared with zero.
        lhs, rhs: of one element type.
    """
    if not isinstance(condition, Tensor):
        raise TypeError(f"where: {describe(condition)} is not a tensor.")
    return one("where", [cast_if_needed(condition, dtypes.bool), lhs, rhs], {})


__all__ = ["where"]
