"""Tensors one after another."""
from typing import Iterable

from popxl._build import one
from popxl.ops.utils import handle_negative_axis, tensors_of
from popxl.tensor import Tensor


def _concat(ts, axis, in_place):
    ts = tensors_of(ts, "concat")
    if len({t.dtype for t in ts}) > 1:
        raise TypeError(f"All inputs to a concat operation must have the same type: {', '.join(f'{t.name} is {t.dtype}' for t in ts)}.")
    if not ts:
        raise ValueError("concat needs a tensor at least.")
    return one("concat", ts, {"axis": handle_negative_axis(ts[0], axis, "concat")}, in_place)


def concat(ts: Iterable[Tensor], axis: int = 0) -> Tensor:
    """Tensors one after another along an axis; the other dimensions are equal.

    Args:
        ts: tensors of one element type.
        axis: along which axis.

    Raises:
        TypeError: different element types.
    """
    return _concat(ts, axis, False)


def concat_(ts: Iterable[Tensor], axis: int = 0) -> Tensor:
    """The same as `concat`, as a view: changes of it are changes of the tensors."""
    return _concat(ts, axis, True)


__all__ = ["concat", "concat_"]
