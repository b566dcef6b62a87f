"""Pooling."""
from typing import Literal, Optional, Tuple

from popxl._build import describe, one
from popxl.ops.conv import PadType, check_pad
from popxl.ops.utils import ints
from popxl.tensor import Tensor


def receptive_attributes(strides, pads, out_pads, dilations, in_dilations, auto_pad, ceil_mode):
    """Arguments of a pool as a dict; what is None is left out."""
    given = {"stride": ints(strides), "padding": ints(pads), "out_pads": ints(out_pads), "dilation": ints(dilations), "in_dilations": ints(in_dilations),
             "auto_pad": auto_pad, "ceil_mode": ceil_mode}
    return {name: value for name, value in given.items() if value is not None}


def _attributes(t, kernel_size, stride, padding, out_pads, dilation, in_dilations, auto_pad, ceil_mode, what):
    if not isinstance(t, Tensor):
        raise TypeError(f"{what}: {describe(t)} is not a tensor.")
    check_pad(auto_pad, what)
    n = len(kernel_size)
    attributes = receptive_attributes(stride or (1,) * n, padding or (0,) * (2 * n), out_pads or (0,) * (2 * n), dilation or (1,) * n,
                                      in_dilations or (1,) * n, auto_pad, ceil_mode)
    return {"kernel_size": ints(kernel_size), **attributes}


def average_pool(t: Tensor, kernel_size: Tuple[int], stride: Optional[Tuple[int]] = None, padding: Optional[Tuple[int]] = None,
                 out_pads: Optional[Tuple[int]] = None, dilation: Optional[Tuple[int]] = None, in_dilations: Optional[Tuple[int]] = None,
                 auto_pad: Optional[PadType] = "not_set", ceil_mode: bool = False) -> Tensor:
    """The mean of each window. Padding does not count.

    Args:
        t: (batch, channels, *space), one to three dimensions of space.
        kernel_size: of a window.
        stride, dilation: one for each dimension of space; None: 1.
        padding: before each dimension, then after each; None: 0.
        out_pads: elements more (or, negative, less) of the result, before and after each dimension.
        in_dilations: of t.
        auto_pad: "same_upper", "same_lower" and "valid" choose the padding.
        ceil_mode: whether windows that reach beyond the end count.

    Raises:
        ValueError: another auto_pad.
    """
    attributes = _attributes(t, kernel_size, stride, padding, out_pads, dilation, in_dilations, auto_pad, ceil_mode, "average_pool")
    return one("average_pool", [t], attributes)


def max_pool(t: Tensor, kernel_size: Tuple[int], stride: Optional[Tuple[int]] = None, padding: Optional[Tuple[int]] = None,
             out_pads: Optional[Tuple[int]] = None, dilation: Optional[Tuple[int]] = None, in_dilations: Optional[Tuple[int]] = None,
             auto_pad: Optional[PadType] = "not_set", ceil_mode: bool = False, storage_order: Literal["row", "column"] = "row") -> Tensor:
    """The largest element of each window. Arguments as in `average_pool`; `storage_order` changes nothing.

    Raises:
        ValueError: another auto_pad or storage_order.
    """
    if storage_order not in ("row", "column"):
        raise ValueError(f"max_pool: storage_order is 'row' or 'column', not {storage_order!r}.")
    attributes = _attributes(t, kernel_size, stride, padding, out_pads, dilation, in_dilations, auto_pad, ceil_mode, "max_pool")
    return one("max_pool", [t], {**attributes, "storage_order": storage_order})


__all__ = ["average_pool", "max_pool"]
