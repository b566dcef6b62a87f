"""Reductions over replicas."""
from typing import Optional

from popxl._build import one
from popxl.ops.collectives.collectives import CollectiveOps, group_of, named_after, to_collective_op
from popxl.replica_grouping import ReplicaGrouping
from popxl.tensor import Tensor


def replicated_all_reduce(t: Tensor, op: CollectiveOps = "add", group: Optional[ReplicaGrouping] = None) -> Tensor:
    """The reduction of a tensor over the replicas of each group, on each of them.

    Args:
        t: the tensor.
        op: the reduction.
        group: the groups; None: all replicas are one.

    Raises:
        ValueError: an unknown reduction.
    """
    return one("replicated_all_reduce", [t], {"op": to_collective_op(op), **group_of(group)}, output_name=named_after(t, "_all_reduce"))


def replicated_all_reduce_(t: Tensor, op: CollectiveOps = "add", group: Optional[ReplicaGrouping] = None) -> Tensor:
    """The same as `replicated_all_reduce`, into `t`."""
    return one("replicated_all_reduce", [t], {"op": to_collective_op(op), **group_of(group)}, in_place=True, output_name=named_after(t, "_all_reduce"))


__all__ = ["replicated_all_reduce", "replicated_all_reduce_"]
