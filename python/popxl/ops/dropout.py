"""Zeros at random."""
from popxl._build import one
from popxl.ops.random_seed import check_seed
from popxl.tensor import Tensor


def dropout(t: Tensor, seed_tensor: Tensor, p: float) -> Tensor:
    """Each element is zero with the probability p, otherwise t / (1 - p). The same seed gives the same zeros.

    Args:
        t: the tensor.
        seed_tensor: uint32, (2).
        p: from 0 to 1, 1 excluded.

    Raises:
        ValueError: no seed.
    """
    check_seed(seed_tensor, "dropout")
    return one("dropout", [t, seed_tensor], {"p": float(p)})


__all__ = ["dropout"]
