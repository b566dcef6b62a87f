"""Zeros at random, in a pattern that is repeated."""
from typing import Iterable

from popxl._build import one
from popxl.ops.random_seed import check_seed
from popxl.ops.utils import ints
from popxl.tensor import Tensor


def shaped_dropout(t: Tensor, seed_tensor: Tensor, shape: Iterable[int], ratio: float) -> Tensor:
    """`dropout` with a mask of a shape that broadcasts to that of `t`.

    Args:
        t: the tensor.
        seed_tensor: uint32, (2).
        shape: of the mask.
        ratio: the probability of a zero.

    Raises:
        ValueError: no seed.
    """
    check_seed(seed_tensor, "shaped_dropout")
    return one("shaped_dropout", [t, seed_tensor], {"shape": ints(shape, "shaped_dropout: the shape"), "ratio": float(ratio)})


__all__ = ["shaped_dropout"]
