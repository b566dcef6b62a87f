"""Counts of ranges of values."""
from typing import List

from popxl._build import describe, one
from popxl.tensor import Tensor


def check_increment(levels):
    """Raises ValueError unless each level is larger than the one before."""
    if any(not a < b for a, b in zip(levels, levels[1:])) or any(x != x for x in levels):
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
    if not hasattr(levels, "__iter__"):
        raise TypeError(f"histogram: levels are a list of numbers, not {describe(levels)}.")
    levels = [float(x) for x in levels]
    check_increment(levels)
    return one("histogram", [t], {"levels": levels, "absolute_of_input": absolute_of_input})


__all__ = ["histogram"]
