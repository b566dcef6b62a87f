"""How replicas are grouped, by stride and size."""


class ReplicaGrouping:
    def __init__(self, numReplicas, stride=1, groupSize=None):
        self._replicas, self._stride = numReplicas, stride
        self._size = numReplicas if groupSize is None else groupSize

    def getNumReplicas(self):
        return self._replicas

    def getStride(self):
        return self._stride

    def getGroupSize(self):
        return self._size

    def getNumGroups(self):
        return self._replicas // self._size

    def __eq__(self, other):
        return isinstance(other, ReplicaGrouping) and vars(self) == vars(other)

    def __hash__(self):
        return hash((self._replicas, self._stride, self._size))

    def __repr__(self):
        return f"ReplicaGrouping(numReplicas={self._replicas}, stride={self._stride}, groupSize={self._size})"
