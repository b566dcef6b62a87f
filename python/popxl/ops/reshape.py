"""Other shapes for the same elements."""
from typing import Tuple

from popxl._build import one
from popxl.ops.utils import check_tensor, integer
from popxl.tensor import Tensor


def reshape_handle_negative_axis(t: Tensor, shape: Tuple[int, ...], what: str = "reshape") -> Tuple[int, ...]:
    """A shape with the dimension -1 replaced by what the number of elements leaves for it. `what`: the function, for messages.

    Raises ValueError for what is not a shape, TypeError for other things than integers."""
    check_tensor(t, what)
    shape = tuple(integer(d, f"{what}: a dimension") for d in (shape if hasattr(shape, "__iter__") and not isinstance(shape, str) else (shape,)))
    if any(d == 0 and 0 not in t.shape or d < -1 for d in shape):
        raise ValueError(f"Invalid shape value in reshape: {shape}. Dimensions are positive, one may be -1.")
    if shape.count(-1) > 1:
        raise ValueError(f"Reshape shape can contain at most one '-1' value: {shape}")
    if -1 in shape:
        known = 1
        for d in shape:
            known *= 1 if d == -1 else d
        if known == 0 or t.nelms % known != 0:
            raise ValueError(f"Invalid shape value in reshape: {shape} for {t.nelms} elements.")
        shape = tuple(t.nelms // known if d == -1 else d for d in shape)
    return shape


def reshape(t: Tensor, shape: Tuple[int, ...]) -> Tensor:
    """The elements of a tensor, in row-major order, in another shape.

    Args:
        t: the tensor.
        shape: of as many elements; one dimension may be -1.

    Raises:
        ValueError: dimensions of 0 or below -1, or several of -1.
    """
    return one("reshape", [t], {"shape": reshape_handle_negative_axis(t, shape)})


def reshape_(t: Tensor, shape: Tuple[int, ...]) -> Tensor:
    """The same as `reshape`, as a view: changes of it are changes of `t`."""
    return one("reshape", [t], {"shape": reshape_handle_negative_axis(t, shape)}, True)


def flatten(t: Tensor) -> Tensor:
    """`reshape(t, (elements,))`."""
    return one("reshape", [t], {"shape": reshape_handle_negative_axis(t, (-1,), "flatten")}, called="flatten")


def flatten_(t: Tensor) -> Tensor:
    """`reshape_(t, (elements,))`."""
    return one("reshape", [t], {"shape": reshape_handle_negative_axis(t, (-1,), "flatten_")}, True, called="flatten_")


__all__ = ["reshape", "reshape_", "flatten", "flatten_"]
