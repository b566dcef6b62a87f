"""Normalisation."""
from popxl._build import op
from popxl.tensor import Tensor


def group_norm(t: Tensor, weight: Tensor, bias: Tensor, num_groups: int, eps: float = 1e-05) -> Tensor:
    """Each group of channels of each sample with mean 0 and variance 1, then scaled by weight and moved by bias.

    Args:
        t: (batch, channels, ...).
        weight, bias: (channels).
        num_groups: of channels, all of one size.
        eps: added to the variance.
    """
    return op("group_norm", [t, weight, bias], {"num_groups": num_groups, "eps": float(eps)})[0]


def layer_norm(t: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-05) -> Tensor:
    """`group_norm` with one group: each sample with mean 0 and variance 1. Arguments as there."""
    return op("group_norm", [t, weight, bias], {"num_groups": 1, "eps": float(eps)}, called="layer_norm")[0]


__all__ = ["group_norm", "layer_norm"]
