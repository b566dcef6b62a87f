"""How the replicas of a variable are grouped, and what reading it back gives."""
from .enums import CommGroupType, VariableRetrievalMode


class CommGroup:
    """A grouping by type and size, as PopART's older programs say it."""

    def __init__(self, type=CommGroupType.All, replicaGroupSize=0):
        self.type = type
        self.replicaGroupSize = replicaGroupSize

    def __eq__(self, other):
        return isinstance(other, CommGroup) and (self.type, self.replicaGroupSize) == (other.type, other.replicaGroupSize)

    def __hash__(self):
        return hash((self.type, self.replicaGroupSize))

    def __repr__(self):
        return f"CommGroup({self.type.name}, {self.replicaGroupSize})"


class VariableSettings:
    """VariableSettings(stride, group_size[, mode]) or VariableSettings([comm_group][, mode]).

    With stride s and size g, replicas are cut into blocks of s * g, and replica r of a block belongs to the block's group r mod s.
    """

    def __init__(self, *args):
        args = list(args)
        self._mode = args.pop() if args and isinstance(args[-1], VariableRetrievalMode) else VariableRetrievalMode.OnePerGroup
        self._comm_group = CommGroup()
        self._stride, self._size = 0, 0
        if len(args) == 1 and isinstance(args[0], CommGroup):
            self._comm_group = args[0]
        elif len(args) == 2 and all(isinstance(a, int) and a > 0 for a in args):
            self._stride, self._size = args
        elif args:
            raise TypeError(f"VariableSettings takes a CommGroup, or a stride and a group size of at least 1, and a VariableRetrievalMode; found {args}")

    def isUsingCommGroup(self):
        return self._stride == 0

    def getSharedVariableDomain(self):
        return self._comm_group

    def getStride(self):
        return self._stride

    def getGroupSize(self):
        return self._size

    def getRetrievalMode(self):
        return self._mode

    def _stride_and_size(self, replicas):
        if not self.isUsingCommGroup():
            return self._stride, self._size
        kind, size = self._comm_group.type, self._comm_group.replicaGroupSize
        if kind == CommGroupType.All:
            return 1, replicas
        if kind == CommGroupType.Ungrouped:
            return 1, 1
        return (1, size) if kind == CommGroupType.Consecutive else (replicas // size, size)

    def groups(self, replicas):
        """The replicas of each group."""
        stride, size = self._stride_and_size(replicas)
        if size < 1 or replicas % (stride * size):
            raise ValueError(f"{replicas} replicas are not a multiple of stride {stride} times group size {size}")
        groups = [[] for _ in range(replicas // size)]
        for replica in range(replicas):
            groups[replica // (stride * size) * stride + replica % stride].append(replica)
        return groups

    def groupCount(self, replicas):
        return len(self.groups(replicas))

    def getGroupRepresentative(self, group, replicas=None):
        """The first replica of a group."""
        if self.isUsingCommGroup():
            return self.groups(replicas)[group][0]
        return group // self._stride * self._stride * self._size + group % self._stride

    def __repr__(self):
        grouping = repr(self._comm_group) if self.isUsingCommGroup() else f"stride={self._stride}, group_size={self._size}"
        return f"VariableSettings({grouping}, {self._mode.name})"
