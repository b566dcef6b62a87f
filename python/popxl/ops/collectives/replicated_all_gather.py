"""Tensors of all replicas of a group."""
from typing import Literal, Optional

from popxl._build import describe, one
from popxl.ops.collectives.collectives import group_of, named_after
from popxl.ops.utils import handle_negative_axis
from popxl.replica_grouping import ReplicaGrouping
from popxl.tensor import Tensor

_SHAPES = ("new_axis", "concat", "meta_shape", "auto")


def replicated_all_gather(t: Tensor, axis: int = 0, group: Optional[ReplicaGrouping] = None,
                          output_shape: Literal["new_axis", "concat", "meta_shape", "auto"] = "auto") -> Tensor:
    """What the replicas of a group hold, on each of them.

    Args:
        t: the tensor.
        axis: along which the replicas' tensors lie one after another, for "concat".
        group: the groups; None: all replicas are one.
        output_shape: "new_axis": (replicas of a group, *t.shape). "concat": one after another along `axis`. "meta_shape": the whole tensor of
            which each replica holds a shard. "auto": "meta_shape" if t has one, otherwise "concat".

    Raises:
        ValueError: another output_shape, an axis that t does not have, "meta_shape" for a tensor that is not sharded.
    """
    if not isinstance(t, Tensor):
        raise TypeError(f"replicated_all_gather: {describe(t)} is not a tensor.")
    if output_shape not in _SHAPES:
        raise ValueError(f"replicated_all_gather: output_shape is one of {', '.join(_SHAPES)}, not {output_shape!r}.")
    if not isinstance(axis, int):
        raise ValueError(f"replicated_all_gather: the axis is a number, not {axis!r}.")
    at = handle_negative_axis(t, axis, "replicated_all_gather")
    if not 0 <= at < max(1, t.rank):
        raise ValueError(f"replicated_all_gather: there is no axis {axis} in the shape {t.shape}.")
    if output_shape == "auto":
        output_shape = "meta_shape" if t.meta_shape else "concat"
    if output_shape == "meta_shape" and not t.meta_shape:
        raise ValueError(f"replicated_all_gather: {t!r} is not a shard: it has no meta_shape.")
    return one("replicated_all_gather", [t], {"axis": at, "output_shape": output_shape, **group_of(group)}, output_name=named_after(t, "_all_gather"))


__all__ = ["replicated_all_gather"]
