"""Random numbers: the same for the same seed."""
from typing import Tuple

from popxl import dtypes
from popxl._build import one
from popxl.ops.random_seed import check_seed
from popxl.ops.utils import ints
from popxl.tensor import Tensor


def random_uniform(seed_tensor: Tensor, shape: Tuple[int, ...], low: float = 0.0, high: float = 1.0, dtype: dtypes.dtype = dtypes.float32) -> Tensor:
    """Numbers between `low` and `high`, each as likely as the others.

    Args:
        seed_tensor: uint32, (2).
        shape, dtype: of the result, a floating-point type.
        low, high: the ends.

    Raises:
        ValueError: no seed; low above high.
    """
    check_seed(seed_tensor, "random_uniform")
    if not low <= high:
        raise ValueError(f"random_uniform: numbers from {low} to {high}.")
    return one("random_uniform", [seed_tensor], {"shape": ints(shape, "random_uniform: the shape"), "low": float(low), "high": float(high), "dtype": dtype._index})


def random_normal(seed_tensor: Tensor, shape: Tuple[int, ...], mean: float = 0.0, std: float = 1.0, dtype: dtypes.dtype = dtypes.float32) -> Tensor:
    """Normally distributed numbers.

    Args:
        seed_tensor: uint32, (2).
        shape, dtype: of the result, a floating-point type.
        mean, std: of the distribution.

    Raises:
        ValueError: no seed; std below 0.
    """
    check_seed(seed_tensor, "random_normal")
    if not std >= 0:
        raise ValueError(f"random_normal: a standard deviation of {std}.")
    return one("random_normal", [seed_tensor], {"shape": ints(shape, "random_normal: the shape"), "mean": float(mean), "std": float(std), "dtype": dtype._index})


__all__ = ["random_uniform", "random_normal"]
