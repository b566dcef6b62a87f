"""What collectives have in common."""
from enum import Enum
from typing import Literal

from popxl._checks import describe
from popxl.context import _context
from popxl.replica_grouping import ReplicaGrouping
from popxl.tensor import Tensor

CollectiveOps = Literal["add", "mean", "mul", "min", "max", "and", "or", "square_add"]
_OPS = ("add", "mean", "mul", "min", "max", "and", "or", "square_add")


class CommGroupType(Enum):
    """How replicas were grouped before there were groupings by stride and size."""

    All = 0
    Consecutive = 1
    Orthogonal = 2
    Ungrouped = 3

    @classmethod
    def _missing_(cls, value):
        raise ValueError(f"{describe(value)} is not a kind of groups; {', '.join(str(kind) for kind in cls)} are.")


class CommGroup:
    """A kind of groups, and their size. Collectives take `popxl.ReplicaGrouping`."""

    def __init__(self, type=CommGroupType.All, replicaGroupSize=0):
        self.type = type
        self.replicaGroupSize = replicaGroupSize

    def __eq__(self, other):
        return isinstance(other, CommGroup) and (self.type, self.replicaGroupSize) == (other.type, other.replicaGroupSize)

    def __hash__(self):
        return hash((self.type, self.replicaGroupSize))

    def __repr__(self):
        return f"CommGroup(type={self.type}, replicaGroupSize={self.replicaGroupSize})"


def to_collective_op(op):
    """The name of a reduction. Raises ValueError for another one."""
    if op not in _OPS:
        raise ValueError(f"{op!r} is not a reduction of collectives: {', '.join(_OPS)}.")
    return op


def group_of(group):
    """Attributes of a grouping; None: all replicas are one group.

    Raises TypeError for what is not a grouping, NotImplementedError for one without a constant stride.
    """
    if group is None:
        return {"stride": 1, "group_size": _context.ir.replication_factor}
    if not isinstance(group, ReplicaGrouping):
        raise TypeError(f"A collective's group is a popxl.ReplicaGrouping, not {group!r}.")
    return {"stride": group.stride, "group_size": group.group_size}


def size_of(group):
    """How many replicas a group has."""
    return group_of(group)["group_size"]


def named_after(t, suffix):
    """The name of a result: public programs sort tensors by name and expect what collectives made of them in the same order."""
    if not isinstance(t, Tensor):
        return ""  # rejected by the op itself
    scope = "/".join(_context._scopes)
    name = t.name
    return (name[len(scope) + 1:] if scope and name.startswith(scope + "/") else name) + suffix
