"""Views of ops. What kinds of ops can be asked beyond that is in op_kinds.py."""
from popxl.tensorlocation import ExecutionContext, TileSet

from . import access
from .pending import Pending
from .tensor_view import Tensor

_CONTEXTS = (ExecutionContext.Normal, ExecutionContext.AccumulateOuterFragment, ExecutionContext.WeightsFromHostFragment,
             ExecutionContext.WeightsToHostFragment)
_TILES = {"io": TileSet.IO, "compute": TileSet.Compute, None: TileSet.Undefined}


class Settings:
    """Where and when an op runs."""

    def __init__(self, op):
        self.name = op.name()
        self.executionContext = _CONTEXTS[op._program.op_flags(op.id)[0]]
        device, tiles = op._place()
        self.tileSet = _TILES[tiles]
        self.vgraphId = device


class Op:
    """An op of a program. Two views are equal if they show the same op."""

    #: A loop's first operands are its trip count and condition, which are no tensors here.
    _first_operand = 0

    def __init__(self, ir, number, op_type=None):
        self._ir = ir
        self._program = access.program(ir)
        self._number = number
        self._type = op_type
        self._pending = None

    @property
    def id(self):
        return self._number

    def __eq__(self, other):
        return isinstance(other, Op) and self._ir is other._ir and self._number == other._number

    def __hash__(self):
        return hash((id(self._ir), self._number))

    def __repr__(self):
        return f"{type(self).__name__}({self.name()}, {self.opType()})"

    def opType(self):
        return self._type

    def name(self):
        return self._program.op_name(self._number)

    def str(self):
        return f"{self._number} ({self._type})"

    def getGraph(self):
        from .graph_view import Graph
        return Graph(access.graph_of(self._ir, self._program.op_graph(self._number)))

    def getSettings(self):
        return Settings(self)

    def isOptimizerOp(self):
        return False

    # --- place

    def _place(self):
        """(device or None, tile set or None): the first result's, or the first operand's."""
        for tensors in (self.getOutputTensors(), self.getInputTensors()):
            for t in tensors:
                return self._program.tensor_type(t._number)[3:5]
        return None, None

    def hasVirtualGraphId(self):
        return self._place()[0] is not None

    def getVirtualGraphId(self):
        device = self._place()[0]
        return 0 if device is None else device

    # --- operands and results

    def getInputIndexMap(self):
        numbers = self._program.op_operand_tensors(self._number)
        return {i + self._first_operand: Tensor(self._ir, n) for i, n in enumerate(numbers) if n is not None}

    def getOutputIndexMap(self):
        return {i: Tensor(self._ir, n) for i, n in enumerate(self._results()) if n is not None}

    def _results(self):
        return self._program.op_results(self._number)

    def getInputTensors(self):
        return list(self.getInputIndexMap().values())

    def getOutputTensors(self):
        return list(self.getOutputIndexMap().values())

    def hasInput(self, index):
        return index in self.getInputIndexMap()

    def hasOutput(self, index):
        return index in self.getOutputIndexMap()

    def hasInputTensor(self, tensor):
        return tensor in self.getInputTensors()

    def inIndex(self, tensor):
        """The first place at which a tensor is an operand."""
        for index, t in self.getInputIndexMap().items():
            if t == tensor:
                return index
        raise ValueError(f"{tensor.id} is not an operand of {self}")

    def inTensor(self, index):
        return self.getInputIndexMap()[index]

    def outTensor(self, index):
        if self._pending is not None:
            self._number = self._pending.emit()
            self._pending = None
        return self.getOutputIndexMap()[index]

    def inId(self, index):
        return self.inTensor(index).id

    def outId(self, index):
        return self.outTensor(index).id

    def modifiesIndex(self, index):
        """Whether the op leaves another value in an operand."""
        return index - self._first_operand in self._program.op_modified(self._number)

    def getCalledGraphs(self):
        return []

    # --- rewriting: an op is copied into a graph without its operands, gets others, and is then set up

    def cloneIntoGraph(self, graph):
        clone = type(self)(self._ir, self._number, self._type)
        clone._pending = Pending(self, graph)
        return clone

    def connectInTensor(self, index, tensor_id, source_ipu=None):
        if self._pending is not None:
            self._pending.connect(index - self._first_operand, tensor_id)
        else:
            self._append_operand(index, tensor_id)

    def _append_operand(self, index, tensor_id):
        raise TypeError(f"{self} takes no further operands")

    def createAndConnectOutTensor(self, index, tensor_id):
        """A result of a copy, of that id; of an op that is there already, the result gets the id."""
        if self._pending is not None:
            self._pending.name_output(index, tensor_id)
        else:
            access.rename(self._ir, self._results()[index], tensor_id)

    def setup(self):
        if self._pending is not None:
            self._number = self._pending.emit()
            self._pending = None

    def disconnectAllInputs(self):
        """Nothing: an op gives its operands up when it is erased."""

    def disconnectAllOutputs(self):
        """Nothing: an op gives its results up when it is erased."""
