"""Seeds from seeds."""
from typing import Tuple

from popxl import dtypes
from popxl._build import describe, one
from popxl.tensor import Tensor, constant


def check_seed(seed, what):
    if not isinstance(seed, Tensor):
        raise TypeError(f"{what}: {describe(seed)} is not a tensor.")
    if seed.dtype is not dtypes.uint32 or seed.shape != (2,):
        raise ValueError(f"{what}: a seed is a uint32 tensor of the shape (2,), not {seed!r}.")


def create_random_seed(seed: Tensor, modifier: Tensor) -> Tensor:
    """Another seed, from a seed and a number; the same for the same, when the program runs.

    Args:
        seed: uint32, (2).
        modifier: uint32 scalar.

    Raises:
        ValueError: no seed.
    """
    check_seed(seed, "create_random_seed")
    return one("create_random_seed", [seed, modifier], {})


def split_random_seed(seed: Tensor, n: int = 2) -> Tuple[Tensor, ...]:
    """n different seeds from one.

    Args:
        seed: uint32, (2).
        n: how many.

    Raises:
        ValueError: no seed.
    """
    check_seed(seed, "split_random_seed")
    return tuple(create_random_seed(seed, constant(i, dtypes.uint32, "modifier")) for i in range(n))


__all__ = ["split_random_seed"]
