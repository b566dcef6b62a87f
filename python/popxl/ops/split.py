"""Parts along an axis."""
from typing import List, Union

from popxl._build import describe, op
from popxl.ops.utils import handle_negative_axis, ints
from popxl.tensor import Tensor


def split(t: Tensor, splits: Union[int, List[int]], axis: int = 0) -> List[Tensor]:
    """Cuts a tensor along an axis.

    Args:
        t: the tensor.
        splits: how many equal parts, or the length of each part.
        axis: along which axis.

    Returns:
        a list of the parts.

    Raises:
        ValueError: what cannot be cut into equal parts, or an axis that t does not have.
        popart.popart_exception: lengths that do not add up.
    """
    if not isinstance(t, Tensor):
        raise TypeError(f"split: {describe(t)} is not a tensor.")
    axis = handle_negative_axis(t, axis, "split")
    if not 0 <= axis < t.rank:
        raise ValueError(f"split: there is no axis {axis} in the shape {t.shape}.")
    length = t.shape[axis]
    if isinstance(splits, int):
        if splits < 1 or length % splits != 0:
            raise ValueError(f"split: {length} elements along axis {axis} cannot be cut into {splits} equal parts.")
        splits = [length // splits] * splits
    return op("split", [t], {"splits": ints(splits, "split: splits"), "axis": axis})


__all__ = ["split"]
