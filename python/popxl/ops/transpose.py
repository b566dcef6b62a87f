"""Axes in another order."""
from typing import Optional, Tuple

from popxl._build import one
from popxl.ops.utils import check_tensor, ints
from popxl.tensor import Tensor


def _permutation(t, permutation):
    check_tensor(t, "transpose")
    if permutation is None:
        return list(reversed(range(t.rank)))
    permutation = tuple(ints(permutation, "transpose: permutation"))
    if any(not 0 <= p < t.rank for p in permutation):
        raise ValueError(f"Values in permutation must be less than the rank of the tensor: {permutation} for a tensor of rank {t.rank}.")
    return list(permutation)


def transpose(t: Tensor, permutation: Optional[Tuple[int, ...]] = None) -> Tensor:
    """A tensor with its axes in another order.

    Args:
        t: the tensor.
        permutation: for each axis of the result, which axis of `t` it is; None: all of them, last one first.

    Raises:
        ValueError: an axis that `t` does not have.
    """
    return one("transpose", [t], {"permutation": _permutation(t, permutation)})


def transpose_(t: Tensor, permutation: Optional[Tuple[int, ...]] = None) -> Tensor:
    """The same as `transpose`, as a view: changes of it are changes of `t`."""
    return one("transpose", [t], {"permutation": _permutation(t, permutation)}, True)


__all__ = ["transpose", "transpose_"]
