"""Sums and extremes of scattered values."""
from typing import Literal, Optional

from popxl._build import describe, one
from popxl.ops.utils import handle_negative_axis
from popxl.tensor import Tensor

ScatterReductionType = Literal["sum", "min", "max", "none"]
_REDUCTIONS = ("sum", "min", "max", "none")


def _scatter(name, data, indices, reduction, initial_values, axis, axis_size, enable_index_broadcast, available_memory_proportion, **more):
    if not isinstance(data, Tensor):
        raise TypeError(f"{name}: {describe(data)} is not a tensor.")
    if reduction not in _REDUCTIONS:
        raise ValueError(f"{name}: reduction is one of {', '.join(_REDUCTIONS)}, not {reduction!r}.")
    if axis_size is None:
        if initial_values is None:
            raise ValueError(f"{name}: axis_size or initial_values must be given.")
        axis_size = initial_values.shape[handle_negative_axis(initial_values, axis, name)]
    operands = [data, indices] + ([] if initial_values is None else [initial_values])
    return one(name, operands, {"reduction": reduction, "axis": handle_negative_axis(data, axis, name), "axis_size": axis_size,
                                "enable_index_broadcast": bool(enable_index_broadcast), "available_memory_proportion": available_memory_proportion, **more})


def scatter_reduce(data: Tensor, indices: Tensor, reduction: ScatterReductionType, initial_values: Optional[Tensor] = None, axis: int = 0,
                   axis_size: Optional[int] = None, enable_index_broadcast: int = True, available_memory_proportion: Optional[float] = None) -> Tensor:
    """What falls on the same place along an axis is summed, or the least or largest of it remains.

    Args:
        data: the values.
        indices: integers: where each value falls along the axis; of data's shape, or broadcast to it.
        reduction: "sum", "min", "max", or "none": one of them remains.
        initial_values: what was there before; None: nothing: zeros remain where nothing falls.
        axis: along which axis.
        axis_size: the length of that axis of the result; None: that of initial_values.
        enable_index_broadcast: whether indices of fewer dimensions are repeated along the others.
        available_memory_proportion: of a tile's memory, from 0 to 1.

    Raises:
        ValueError: another reduction, or neither initial_values nor axis_size.
    """
    return _scatter("scatter_reduce", data, indices, reduction, initial_values, axis, axis_size, enable_index_broadcast, available_memory_proportion)


def grouped_scatter_reduce(data: Tensor, indices: Tensor, reduction: ScatterReductionType, initial_values: Optional[Tensor] = None, axis: int = 0,
                           axis_size: Optional[int] = None, group_size: int = 1, enable_index_broadcast: bool = True,
                           available_memory_proportion: Optional[float] = None) -> Tensor:
    """`scatter_reduce` of `group_size` groups at once, which are the leading dimension of all tensors; the axis is one of the others."""
    return _scatter("grouped_scatter_reduce", data, indices, reduction, initial_values, axis, axis_size, enable_index_broadcast,
                    available_memory_proportion, group_size=group_size)


__all__ = ["scatter_reduce"]
