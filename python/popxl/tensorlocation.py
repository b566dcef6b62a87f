"""Where tensors lie: kinds of storage, tiles and programs."""
from enum import Enum


class TensorStorage(Enum):
    """On the IPU, or beside it in Streaming Memory."""

    OnChip = "OnChip"
    OffChip = "OffChip"


class ReplicatedTensorSharding(Enum):
    """Whether each replica holds a part of a tensor instead of the whole."""

    Off = "Off"
    On = "On"


class TileSet(Enum):
    """Tiles that compute, and tiles that exchange with the host."""

    Compute = "Compute"
    IO = "IO"
    Undefined = "Undefined"
    N = "N"


class ExecutionContext(Enum):
    """The program that an op belongs to."""

    Normal = 0
    AccumulateOuterFragment = 1
    WeightsFromHostFragment = 2
    WeightsToHostFragment = 3
    OptimizerFromHostFragment = 4
    Subgraph = 5


class TensorLocation:
    """A storage, and whether it is sharded over replicas."""

    def __init__(self, storage=TensorStorage.OnChip, replicated_tensor_sharding=ReplicatedTensorSharding.Off):
        self._storage = storage
        self._replicated_tensor_sharding = replicated_tensor_sharding

    @property
    def storage(self):
        return self._storage

    @property
    def replicated_tensor_sharding(self):
        return self._replicated_tensor_sharding

    def __eq__(self, other):
        return (isinstance(other, TensorLocation) and self._storage == other._storage
                and self._replicated_tensor_sharding == other._replicated_tensor_sharding)

    def __hash__(self):
        return hash((self._storage, self._replicated_tensor_sharding))

    def __repr__(self):
        return f"TensorLocation(storage={self._storage}, replicated_tensor_sharding={self._replicated_tensor_sharding})"
