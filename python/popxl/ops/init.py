"""Tensors without operands."""
from typing import Iterable, Literal, Optional, Union

from popxl import dtypes
from popxl._build import one
from popxl.ops.utils import ints
from popxl.tensor import Tensor


def init(shape: Iterable[int], dtype: dtypes.dtype, name: Optional[str] = None, init_type: Union[Literal["zero"], Literal["undef"]] = "zero",
         meta_shape: Optional[Iterable[int]] = None) -> Tensor:
    """A tensor of zeros, or one whose contents nobody knows.

    Args:
        shape, dtype: of the tensor.
        name: of the tensor.
        init_type: "zero" or "undef".
        meta_shape: the shape of the whole tensor, where this is one replica's shard.

    Raises:
        ValueError: another init_type.
    """
    if init_type not in ("zero", "undef"):
        raise ValueError(f"init: init_type is 'zero' or 'undef', not {init_type!r}.")
    attributes = {"shape": ints(shape, "init: the shape"), "dtype": dtypes.dtype.as_dtype(dtype)._index, "init_type": init_type, "meta_shape": ints(meta_shape) or None}
    return one("init", [], attributes, output_name=name)


__all__ = ["init"]
