"""Copies."""
from typing import Optional

from popxl._build import one
from popxl.tensor import Tensor


def identity(t: Tensor, output_name: Optional[str] = None) -> Tensor:
    """A copy of a tensor.

    Args:
        t: the tensor.
        output_name: of the copy.
    """
    return one("identity", [t], {}, output_name=output_name)


rename = identity

__all__ = ["identity", "rename"]
