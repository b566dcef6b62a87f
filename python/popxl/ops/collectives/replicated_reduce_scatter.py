"""Parts for each replica of a group."""
from typing import Optional

from popxl._build import describe, one
from popxl.ops.collectives.collectives import CollectiveOps, group_of, named_after, size_of, to_collective_op
from popxl.ops.utils import handle_negative_axis
from popxl.replica_grouping import ReplicaGrouping
from popxl.tensor import Tensor


def replicated_reduce_scatter(t: Tensor, op: CollectiveOps = "add", group: Optional[ReplicaGrouping] = None,
                              configure_output_for_replicated_tensor_sharding: bool = False) -> Tensor:
    """The reduction of a tensor over the replicas of each group, of which each replica gets its part.

    Args:
        t: the tensor, flattened and padded with zeros to a multiple of the group's size.
        op: the reduction.
        group: the groups; None: all replicas are one.
        configure_output_for_replicated_tensor_sharding: whether the result is a shard of t, with its meta_shape.

    Returns:
        (ceil(elements / replicas of a group))

    Raises:
        ValueError: an unknown reduction.
    """
    return one("replicated_reduce_scatter", [t],
               {"op": to_collective_op(op), "configure_output_for_replicated_tensor_sharding": configure_output_for_replicated_tensor_sharding,
                **group_of(group)}, output_name=named_after(t, "_reduce_scatter"))


def replica_sharded_slice(t: Tensor, group: Optional[ReplicaGrouping] = None) -> Tensor:
    """Each replica's shard of a tensor that all replicas of its group hold: of one dimension, with t's shape as meta_shape.

    Args:
        t: the tensor, flattened and padded with zeros to a multiple of the group's size.
        group: the groups; None: all replicas are one.
    """
    return one("replica_sharded_slice", [t], group_of(group), output_name=named_after(t, "_shard"))


def replicated_slice(t: Tensor, axis: int = 0, group: Optional[ReplicaGrouping] = None) -> Tensor:
    """Each replica's part of a tensor along an axis: as many equal parts as the group has replicas.

    Args:
        t: the tensor.
        axis: along which axis.
        group: the groups; None: all replicas are one.

    Raises:
        ValueError: an axis that t does not have, or that cannot be divided.
    """
    if not isinstance(t, Tensor):
        raise TypeError(f"replicated_slice: {describe(t)} is not a tensor.")
    at = handle_negative_axis(t, axis, "replicated_slice")
    if not 0 <= at < t.rank or t.shape[at] % size_of(group) != 0:
        raise ValueError(f"replicated_slice: axis {axis} of the shape {t.shape} cannot be divided by {size_of(group)}.")
    return one("replicated_slice", [t], {"axis": at, **group_of(group)}, output_name=named_after(t, "_slice"))


__all__ = ["replicated_reduce_scatter", "replica_sharded_slice", "replicated_slice"]
