"""Views of tensors."""
import enum

from . import access
from .view import Region


class TensorType(enum.Enum):
    ActGrad = 0
    Const = 1
    Stream = 2
    Unknown = 3
    Variable = 4


_KINDS = (TensorType.ActGrad, TensorType.Variable, TensorType.Const)


class TensorInfo:
    """Shape and element type."""

    def __init__(self, tensor):
        self._tensor = tensor

    def shape(self):
        return list(self._tensor.shape)

    def rank(self):
        return len(self._tensor.shape)

    def nelms(self):
        return self._tensor.nelms

    def metaShape(self):
        return list(self._tensor.meta_shape)

    def data_type_lcase(self):
        return self._tensor.dtype.name

    def dataType(self):
        from popart import DataType
        return DataType(self._tensor.dtype.name)


class Consumers:
    def __init__(self, tensor):
        self._tensor = tensor

    def getOps(self):
        """Ops that have the tensor as an operand, each once."""
        return [op for op in self._tensor.getGraph().getOps() if op.hasInputTensor(self._tensor)]

    def getTotal(self):
        return len(self.getOps())


class Tensor:
    """A tensor of a program. Two views are equal if they show the same tensor."""

    def __init__(self, ir, number):
        self._ir = ir
        self._program = access.program(ir)
        self._number = number

    def _tensor(self):
        return access.tensor_of(self._ir, self._number)

    @property
    def id(self):
        return self._program.tensor_id(self._number)

    @property
    def info(self):
        return TensorInfo(self._tensor())

    @property
    def consumers(self):
        return Consumers(self)

    def __eq__(self, other):
        return isinstance(other, Tensor) and self._ir is other._ir and self._number == other._number

    def __hash__(self):
        return hash((id(self._ir), self._number))

    def __repr__(self):
        return f"Tensor({self.id})"

    def str(self):
        return self.id

    def tensorType(self):
        return _KINDS[self._program.tensor_kind(self._number)]

    def hasTensorData(self):
        return self.tensorType() in (TensorType.Variable, TensorType.Const)

    def isAliased(self):
        """Whether another tensor is a view of this one, or the other way round."""
        graph = self._program.tensor_graph(self._number)
        return bool(self._program.tensor_bases(self._number)) or any(
            self._number in self._program.tensor_bases(t) for t in self._program.graph_tensors(graph))

    def getGraph(self):
        from .graph_view import Graph
        return Graph(access.graph_of(self._ir, self._program.tensor_graph(self._number)))

    def hasProducer(self):
        return self._producer() is not None

    def getProducer(self):
        from .graph_view import view_of_op
        return view_of_op(self._ir, self._producer())

    def _producer(self):
        # A constant is what it is, in PopART: no op makes it.
        return None if self.tensorType() == TensorType.Const else self._program.tensor_producer(self._number)

    def modifiedRegionsByOps(self, ops):
        """The full region if an op of the list leaves another value in the tensor, the empty one otherwise."""
        shape = self._tensor().shape
        if any(t == self and op.modifiesIndex(i) for op in ops for i, t in op.getInputIndexMap().items()):
            return [Region.getFull(shape)]
        return [Region.getEmpty(len(shape))]
