"""How replicas are divided into groups."""
from typing import Dict, List, Optional

from popxl import _core
from popxl._views import view


class ReplicaGrouping:
    """A division of an Ir's replicas into groups of equal size; made by `Ir.replica_grouping` and `Ir.replica_grouping_from_assignments`."""

    def __init__(self):
        raise RuntimeError("ReplicaGrouping has no constructor: ir.replica_grouping(...) makes one.")

    @classmethod
    def _make(cls, ir, groups):
        self = object.__new__(cls)
        self._ir = ir
        self._groups = groups
        return self

    @property
    def stride(self) -> int:
        """The distance of neighbours in a group. Raises NotImplementedError if it is not the same for all."""
        return self._groups.stride

    @property
    def group_size(self) -> int:
        return self._groups.size

    @property
    def num_groups(self) -> int:
        return self._groups.groups

    @property
    def assignment(self) -> List[int]:
        """For each replica, the number of its group."""
        return self._groups.assignment

    @property
    def is_const(self) -> bool:
        """Whether a stride and a size say it all: collectives need that."""
        return self._groups.is_constant

    @property
    def const_rg(self):
        """A grouping with a constant stride for the device: this one, or the largest neighbours of one group each."""
        if self.is_const:
            return self
        groups, n = self.assignment, self._groups.replicas
        size = max(g for g in range(1, n + 1) if n % g == 0 and all(len(set(groups[i:i + g])) == 1 for i in range(0, n, g)))
        return ReplicaGrouping._make(self._ir, _core.Grouping(n, 1, size))

    @property
    def to_device_map(self) -> Optional[Dict[int, int]]:
        """Of a grouping without a constant stride: {replica: the group whose data it gets}; otherwise None."""
        return None if self.is_const else dict(enumerate(self.assignment))

    @property
    def to_host_map(self) -> Optional[Dict[int, int]]:
        """Of a grouping without a constant stride: {group: the replica that is read}; otherwise None."""
        return None if self.is_const else {g: self.assignment.index(g) for g in range(self.num_groups)}

    def transpose(self) -> "ReplicaGrouping":
        """The grouping in which groups and members have changed places."""
        return ReplicaGrouping._make(self._ir, self._groups.transposed())

    def _to_variable_settings(self, retrieval_mode="one_per_group"):
        return view("variable_settings", self.stride, self.group_size, retrieval_mode)

    @property
    def _pb_replica_grouping(self):
        return view("replica_grouping", self._groups.replicas, self.stride, self.group_size)

    def __repr__(self):
        if not self.is_const:
            return f"ReplicaGrouping(num_replicas={self._groups.replicas}, assignment={self.assignment})"
        return (f"ReplicaGrouping(num_replicas={self._groups.replicas}, stride={self.stride}, group_size={self.group_size}, "
                f"num_groups={self.num_groups})")

    def __eq__(self, other):
        if not isinstance(other, ReplicaGrouping):
            raise TypeError(f"A ReplicaGrouping is compared with another one, not with {other!r}.")
        return self.assignment == other.assignment

    def __hash__(self):
        return hash(tuple(self.assignment))
