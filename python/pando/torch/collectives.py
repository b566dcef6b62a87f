"""Tensors of all replicas, inside of a model that `compile_step` or poptorch runs on several.

    total = pando.torch.collectives.all_reduce(x)                     # sums of what the replicas have
    rows = pando.torch.collectives.all_gather(x, replicas=4)          # (4, *x.shape)

Each has its gradient. A call outside of a compiled program is a RuntimeError; a number of replicas that the program does not have a ValueError.
"""
import torch

from pando.torch.rules import collective  # noqa: F401  (it registers the ops)

_OPS = ("add", "mean", "mul", "min", "max")


def _check(name, x, replicas=None, op=None):
    if not isinstance(x, torch.Tensor):
        raise TypeError(f"pando.torch.collectives.{name}: a tensor is expected, not {type(x).__name__}.")
    if replicas is not None and (not isinstance(replicas, int) or replicas < 1):
        raise ValueError(f"pando.torch.collectives.{name}: replicas is a number of at least 1, not {replicas!r}.")
    if op is not None and op not in _OPS:
        raise ValueError(f"pando.torch.collectives.{name}: op is one of {', '.join(_OPS)}, not {op!r}.")


def all_gather(x, replicas):
    """What each replica has, in their order: (replicas, *x.shape), the same on all. Its gradient is that of each replica's part, summed over the replicas."""
    _check("all_gather", x, replicas)
    return torch.ops.pando.all_gather(x, replicas)


def all_reduce(x, op="add"):
    """The reduction of what the replicas have, in x's shape, on each of them.

    Args:
        op: "add", "mean", "mul", "min" or "max"; "add" has a gradient: the sum of the replicas'.
    """
    _check("all_reduce", x, op=op)
    return torch.ops.pando.all_reduce(x, op)


def reduce_scatter(x, replicas, op="add"):
    """Each replica's part of the reduction: x is (replicas, ...), the result (...).

    Args:
        op: as of `all_reduce`; "add" has a gradient.

    Raises:
        ValueError: a first dimension that is not `replicas`.
    """
    _check("reduce_scatter", x, replicas, op)
    if x.dim() == 0 or x.shape[0] != replicas:
        raise ValueError(f"pando.torch.collectives.reduce_scatter: a first dimension of {replicas} is expected; the shape is {tuple(x.shape)}.")
    return torch.ops.pando.reduce_scatter(x, replicas, op)


def own_part(x, replicas):
    """Each replica's own element along the first dimension of what all have: x is (replicas, ...), the result (...). It has no gradient.

    Raises:
        ValueError: a first dimension that is not `replicas`.
    """
    _check("own_part", x, replicas)
    if x.dim() == 0 or x.shape[0] != replicas:
        raise ValueError(f"pando.torch.collectives.own_part: a first dimension of {replicas} is expected; the shape is {tuple(x.shape)}.")
    return torch.ops.pando.own_part(x, replicas)


def all_to_all(x, replicas):
    """The i-th of `replicas` equal parts of x along the first dimension goes to replica i, which has them in the order of the senders, in x's shape.

    The program gathers the whole tensors and keeps a part of them.

    Raises:
        ValueError: a first dimension that `replicas` does not divide.
    """
    _check("all_to_all", x, replicas)
    if x.dim() == 0 or x.shape[0] % replicas != 0:
        raise ValueError(f"pando.torch.collectives.all_to_all: a first dimension that {replicas} divides is expected; the shape is {tuple(x.shape)}.")
    return torch.ops.pando.all_to_all(x, replicas)
