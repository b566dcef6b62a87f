"""Counts of ranges of values."""
from typing import List

from popxl._build import one
from popxl.tensor import Tensor


def check_increment(levels):
    """Raises ValueError unless each level is larger than the one before."""
    if any(a >= b for a, b in zip(levels, levels[1:])):
        raise ValueError(f"histogram: levels must increase strictly: {levels}.")


def histogram(t: Tensor, levels: List[float], absolute_of_input: bool) -> Tensor:
    """How many elements lie below the first level, between levels, and at or above the last one.

    Args:
        t: the tensor.
        levels: strictly increasing.
        absolute_of_input: whether magnitudes count.

    Returns:
        uint32, (len(levels) + 1).

    Raises:
        ValueError: levels that do not increase.
    """
    levels = [float(x) for x in levels]
    check_increment(levels)
    return one("histogram", [t], {"levels": levels, "absolute_of_input": absolute_of_input})


__all__ = ["histogram"]
