"""Powers."""
from typing import Union

from popxl._build import describe, one
from popxl.tensor import Tensor, TensorLike, constant


def pow(t: Tensor, e: Union[float, int, TensorLike]) -> Tensor:
    """t to the power e, element by element, with NumPy's broadcasting.

    Args:
        t: the base.
        e: the exponent: a tensor, or host data that become a constant of their own element type.

    Returns:
        a tensor of the element type of `t`.
    """
    if not isinstance(t, Tensor):
        raise TypeError(f"pow: {describe(t)} is not a tensor.")
    return one("pow", [t, e if isinstance(e, Tensor) else constant(e)], {})


__all__ = ["pow"]
