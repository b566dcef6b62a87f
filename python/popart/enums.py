"""The enumerations of PopART that PopXL programs name."""
import enum


class CommGroupType(enum.Enum):
    """How replicas are divided into groups: all in one, neighbours, every n-th, each by itself."""

    All = 0
    Consecutive = 1
    Orthogonal = 2
    Ungrouped = 3


class DataType(enum.Enum):
    """Element types. The value is the name of the type in PopXL."""

    UINT8 = "uint8"
    INT8 = "int8"
    UINT16 = "uint16"
    INT16 = "int16"
    INT32 = "int32"
    INT64 = "int64"
    UINT32 = "uint32"
    UINT64 = "uint64"
    BOOL = "bool"
    FLOAT = "float32"
    FLOAT16 = "float16"
    FLOAT8_143 = "float8_143"
    FLOAT8_152 = "float8_152"
    DOUBLE = "float64"
    COMPLEX64 = "complex64"
    COMPLEX128 = "complex128"


class DeviceConnectionType(enum.Enum):
    """When a session attaches to its device."""

    Always = 0
    OnDemand = 1
    Never = 2


class DeviceSelectionCriterion(enum.Enum):
    First = 0
    Random = 1


class DeviceType(enum.Enum):
    IpuModel = 0
    Cpu = 1
    Ipu = 2
    OfflineIpu = 3
    Sim = 4


class ReductionType(enum.Enum):
    """What a loss does with the elements of its result."""

    Sum = 0
    Mean = 1
    NoReduction = 2


class SyncPattern(enum.Enum):
    Full = 0
    SinglePipeline = 1
    ReplicaAndLadder = 2


class VariableRetrievalMode(enum.Enum):
    """What reading a variable back gives: one value of each group of replicas, or every replica's."""

    OnePerGroup = 0
    AllReduceReplicas = 1
    AllReplicas = 2


class VirtualGraphMode(enum.Enum):
    Off = 0
    Manual = 1
    Auto = 2
    Pipeline = 3
    ExecutionPhases = 4
