"""Shapes without dimensions of one element."""
from typing import List, Optional

from popxl.ops.reshape import reshape
from popxl.ops.utils import axes_of, check_tensor
from popxl.tensor import Tensor


def squeeze(t: Tensor, axes: Optional[List[int]] = None) -> Tensor:
    """A tensor without some dimensions of one element.

    Args:
        t: the tensor.
        axes: which ones; None: all of them.

    Raises:
        ValueError: an axis is given twice, out of range, or of more than one element.
    """
    check_tensor(t, "squeeze")
    if axes is None:
        axes = [i for i, d in enumerate(t.shape) if d == 1]
    chosen = axes_of(t, axes, "squeeze")
    if len(set(chosen)) != len(chosen):
        raise ValueError(f"squeeze: an axis is given twice in {axes}.")
    for axis, given in zip(chosen, axes if hasattr(axes, "__iter__") else [axes]):
        if not 0 <= axis < t.rank:
            raise ValueError(f"squeeze: there is no axis {given} in the shape {t.shape}.")
        if t.shape[axis] != 1:
            raise ValueError(f"squeeze: axis {given} of the shape {t.shape} has {t.shape[axis]} elements, not one.")
    return reshape(t, [d for i, d in enumerate(t.shape) if i not in chosen])


__all__ = ["squeeze"]
