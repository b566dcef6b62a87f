"""Views of ops between replicas or devices."""
from ..op_view import Op
from .table import declare

CLASSES = declare(globals(), Op, {
    "AllReduceOp": "AllReduce",
    "ReplicatedAllGatherOp": "ReplicatedAllGather",
    "ReplicatedAllReduceOp": "ReplicatedAllReduce",
    "ReplicatedAllReduceInplaceOp": "ReplicatedAllReduceInplace",
    "ReplicatedReduceScatterOp": "ReplicatedReduceScatter",
})
