"""Ops between IPUs of a replica, and between replicas."""
from popxl.ops.collectives.all_reduce import all_reduce, all_reduce_identical_grad_inputs, all_reduce_identical_inputs
from popxl.ops.collectives.collectives import CollectiveOps, CommGroup, CommGroupType
from popxl.ops.collectives.replicated_all_gather import replicated_all_gather
from popxl.ops.collectives.replicated_all_reduce import replicated_all_reduce, replicated_all_reduce_
from popxl.ops.collectives.replicated_reduce_scatter import replica_sharded_slice, replicated_reduce_scatter, replicated_slice

__all__ = ["all_reduce", "all_reduce_identical_inputs", "all_reduce_identical_grad_inputs", "CommGroup", "CommGroupType", "replicated_all_gather",
           "replicated_all_reduce", "replicated_all_reduce_", "replicated_reduce_scatter", "replica_sharded_slice", "replicated_slice", "CollectiveOps"]
