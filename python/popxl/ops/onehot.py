"""Labels as vectors."""
from popxl._build import describe, one
from popxl.tensor import Constant, Tensor


def onehot(t: Tensor, num_classes: Tensor, values: Tensor, axis: int) -> Tensor:
    """For each label a vector with one value at its place and another elsewhere.

    Args:
        t: labels, integers.
        num_classes: a constant scalar, the length of the vectors.
        values: (2): the value elsewhere, and the one at the label's place.
        axis: of the result, along which the vectors lie.

    Raises:
        ValueError: num_classes is not a constant.
    """
    if not isinstance(t, Tensor):
        raise TypeError(f"onehot: {describe(t)} is not a tensor.")
    if isinstance(num_classes, Tensor):
        if not isinstance(num_classes, Constant):
            raise ValueError(f"onehot: num_classes must be a constant, it is {num_classes!r}.")
        num_classes = int(num_classes._data().reshape(-1)[0])
    return one("onehot", [t, values], {"num_classes": int(num_classes), "axis": axis if axis >= 0 else t.rank + 1 + axis})


__all__ = ["onehot"]
