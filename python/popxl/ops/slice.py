"""Parts of tensors."""
import builtins
from typing import List, Optional, Tuple, Union

from popxl._build import describe, one
from popxl.ops.utils import handle_negative_axis
from popxl.tensor import Tensor

_Positions = Optional[Union[int, List[Optional[int]]]]
_END, _BEFORE = 2**31 - 1, -(2**31 - 1)


def process_args(start: _Positions = None, stop: _Positions = None, step: _Positions = None,
                 axis: Optional[Union[int, List[int]]] = None) -> Tuple[List[int], List[int], List[int], List[int]]:
    """Lists of equal lengths of start, stop, step and axis; what was left out is what Python's slices take for it.

    Raises ValueError for lists of different lengths.
    """
    given = [x for x in (start, stop, step, axis) if isinstance(x, (list, tuple))]
    length = len(given[0]) if given else 1
    if any(len(x) != length for x in given):
        raise ValueError(f"slice: start, stop, step and axis are lists of different lengths: {start}, {stop}, {step}, {axis}.")

    def listed(x):
        return list(x) if isinstance(x, (list, tuple)) else [x] * length

    if axis is None:
        axis = builtins.list(range(length))
    steps = [1 if s is None else int(s) for s in listed(step)]
    starts = [(0 if by > 0 else _END) if s is None else int(s) for s, by in zip(listed(start), steps)]
    stops = [(_END if by > 0 else _BEFORE) if s is None else int(s) for s, by in zip(listed(stop), steps)]
    return starts, stops, steps, listed(axis)


def _slice(t, start, stop, step, axis, in_place):
    if not isinstance(t, Tensor):
        raise TypeError(f"slice: {describe(t)} is not a tensor.")
    if start is None and stop is None and step is None:
        return t
    starts, stops, steps, axes = process_args(start, stop, step, axis)
    attributes = {"start": starts, "stop": stops, "step": steps, "axis": [handle_negative_axis(t, a, "slice") for a in axes]}
    return one("slice", [t], attributes, in_place)


def slice(t: Tensor, start: _Positions = None, stop: _Positions = None, step: _Positions = None, axis: Optional[Union[int, List[int]]] = None) -> Tensor:
    """A part of a tensor, as t[start:stop:step] along some axes.

    Args:
        t: the tensor.
        start, stop: positions, negative ones counted from the end; None: as far as there are elements.
        step: 1 or -1.
        axis: the axes of these; None: the first ones. Each argument is a number or a list with one for each axis.

    Raises:
        ValueError: lists of different lengths.
        popart.popart_exception: another step. (`subsample` takes others.)
    """
    return _slice(t, start, stop, step, axis, False)


def slice_(t: Tensor, start: _Positions = None, stop: _Positions = None, step: _Positions = None, axis: Optional[Union[int, List[int]]] = None) -> Tensor:
    """The same as `slice`, as a view: changes of it are changes of `t`."""
    return _slice(t, start, stop, step, axis, True)


__all__ = ["slice", "slice_"]
