"""Every n-th element."""
from typing import Iterable, Union

from popxl._build import describe, one
from popxl.tensor import Tensor


def subsample(t: Tensor, strides: Union[int, Iterable[int]]) -> Tensor:
    """Every n-th element along each axis, from the first.

    Args:
        t: the tensor.
        strides: of the first axis, or one for each of the first ones; the others have 1.

    Raises:
        ValueError: more strides than axes.
    """
    if not isinstance(t, Tensor):
        raise TypeError(f"subsample: {describe(t)} is not a tensor.")
    strides = [strides] if isinstance(strides, int) else [int(s) for s in strides]
    if len(strides) > t.rank:
        raise ValueError(f"subsample: {len(strides)} strides for a tensor of rank {t.rank}.")
    return one("subsample", [t], {"strides": strides + [1] * (t.rank - len(strides))})


__all__ = ["subsample"]
