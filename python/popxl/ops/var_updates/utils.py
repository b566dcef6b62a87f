"""Scalars that are numbers or tensors."""
from popxl.tensor import Tensor


def handle_optimizer_value(f, ins, index):
    """A scalar of an optimizer: a tensor is added to `ins` at `index`.

    Args:
        f: number, tensor or None.
        ins: {index: id of a tensor}.
        index: of the scalar among the inputs.

    Returns:
        (value, whether it is a number)
    """
    if isinstance(f, Tensor):
        ins[index] = f.id
        return 0.0, False
    return 0.0 if f is None else float(f), f is not None
