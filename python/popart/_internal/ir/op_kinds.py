"""What some kinds of ops can be asked beyond their operands and results."""
from . import access
from .matmul_partials import MatMulPartialsType
from .op_view import Op


class OptimizerOp(Op):
    def isOptimizerOp(self):
        return True


class OptimizerValue:
    """A number, or, where a tensor says it, 0 and no constant."""

    def __init__(self, number):
        self._number = number

    def val(self):
        return 0.0 if self._number is None else self._number

    def isConst(self):
        return self._number is not None


class FactorOp(OptimizerOp):
    def _attributes(self):
        return self._program.op_attributes(self._number)

    def getFactor(self):
        attributes = self._attributes()
        return OptimizerValue(None if "f" in attributes.get("scalars", []) else attributes.get("f"))

    def getAxis(self):
        return self._attributes()["axis"]


class CallingOp(Op):
    """A call, loop or conditional."""

    def getCalledGraphs(self):
        from .graph_view import Graph
        return [Graph(access.graph_of(self._ir, n)) for n in self._program.op_graphs(self._number)]

    def getCalledGraph(self):
        return self.getCalledGraphs()[0]

    def getNumExplicitInputs(self):
        return len(self.getInputIndexMap()) + self._first_operand

    def _results(self):
        # Behind the outputs of what is called come the new versions of operands, which are no results in PopART.
        outputs = len(self._program.graph_outputs(self._program.op_graphs(self._number)[0]))
        return self._program.op_results(self._number)[:outputs]

    def opInToSubgraphInIndex(self, index):
        return index - self._first_operand

    def subgraphInToOpInIndex(self, index):
        return index + self._first_operand

    def opOutToSubgraphOutIndex(self, index):
        return index

    def subgraphOutToOpOutIndex(self, index):
        return index

    def addModified(self, index, regions):
        """The call lets modifications of an operand through. Regions that are all empty say that there are none."""
        if any(not region.isEmpty() for region in regions):
            self._program.set_modified(self._number, index - self._first_operand)

    def _append_operand(self, index, tensor_id):
        self._program.add_call_operand(self._number, self.getGraph().getTensor(tensor_id)._number)


class LoopView(CallingOp):
    _first_operand = 2

    def getTripCountValue(self):
        return self._program.op_attributes(self._number)["count"]

    def addLoopInput(self, index, parent_id, graph_id, overwrite):
        """A further operand, and an input of the loop's graph of that name."""
        called = self.getCalledGraph()
        parent = self.getGraph().getTensor(parent_id)
        t = parent._tensor()
        with called._graph:
            import popxl
            made = popxl.graph_input(t.shape, t.dtype, meta_shape=t.meta_shape or None)
        access.rename(self._ir, made._index, graph_id)
        self._program.add_call_operand(self._number, parent._number)

    def addLoopOutput(self, index, parent_id, graph_id, overwrite):
        """Another tensor of the loop's graph as its output `index`."""
        called = self.getCalledGraph()
        marked = called._graph.__dict__.get("_output_names", {})
        number = marked.pop(graph_id) if graph_id in marked else called.getTensor(graph_id)._number
        self._program.set_output(called._number, index, number)
        called._marked().clear()


class IpuCopyView(Op):
    def getSourceIpu(self, tensor_id=None):
        return self._program.op_attributes(self._number)["source"]

    def getDestIpu(self):
        return self._program.op_attributes(self._number)["destination"]


class MemoryProportionOp(Op):
    """An op that may be told how much memory its temporaries take."""

    def getAvailableMemoryProportion(self):
        return self._program.op_attributes(self._number).get("available_memory_proportion")

    def setAvailableMemoryProportion(self, value):
        self._program.set_op_attribute(self._number, "available_memory_proportion", value)


class MatMulView(MemoryProportionOp):
    def getPartialsType(self):
        return MatMulPartialsType.HALF if self._program.op_attributes(self._number).get("partials_type") == "float16" else MatMulPartialsType.FLOAT

    def useFullyConnectedPass(self):
        return self._ir.__dict__.setdefault("_fully_connected_pass", {}).get(self._number, True)

    def setUseFullyConnectedPass(self, value):
        self._ir.__dict__.setdefault("_fully_connected_pass", {})[self._number] = bool(value)


class ConvolutionOptions:
    def __init__(self, proportions, partials, dithering):
        self.availableMemoryProportions = list(proportions)
        self.partialsTypes = list(partials)
        self.enableConvDithering = list(dithering)


class ConvolutionOp(Op):
    """Options are handed out and taken as copies."""

    _NAMES = ("available_memory_proportions", "partials_types", "enable_conv_dithering")

    def getConvOptions(self):
        attributes = self._program.op_attributes(self._number)
        return ConvolutionOptions(*(attributes.get(name, []) for name in self._NAMES))

    def setConvOptions(self, options):
        for name, value in zip(self._NAMES, (options.availableMemoryProportions, options.partialsTypes, options.enableConvDithering)):
            self._program.set_op_attribute(self._number, name, list(value) or None)


class LoadTarget(Op):
    """The op that makes the tensor that a load is written to. It exists only in views: loads of a program make their results themselves."""

    @staticmethod
    def of(load):
        from .op import LoadTargetOp
        view = LoadTargetOp(load._ir, -1 - load.id, "Init")
        view._load = load
        return view

    def name(self):
        return f"{self._load.name()}_init"

    def getGraph(self):
        return self._load.getGraph()

    def _place(self):
        return self._load._place()

    def getInputIndexMap(self):
        return {}

    def _results(self):
        return []


class MergedExchange(Op):
    """Exchanges with the host and Streaming Memory that happen at one time."""

    @staticmethod
    def of(ir, members):
        from .op.exchange import MultiExchangeOp
        view = MultiExchangeOp(ir, members[-1], "MultiExchange")
        view._members = members
        return view

    def _ops(self):
        from .graph_view import view_of_op
        return [view_of_op(self._ir, m) for m in self._members]

    def getInputIndexMap(self):
        return dict(enumerate(t for op in self._ops() for t in op.getInputTensors()))

    def _results(self):
        return [t._number for op in self._ops() for t in op.getOutputTensors()]


class BodyCall(Op):
    """PopART's loops run a graph that calls the body; here they run the body. While an output is being added to it, its view shows that call."""

    @staticmethod
    def of(body):
        from .op import BodyCallOp
        view = BodyCallOp(body._ir, -1, "Call")
        view._body = body
        return view

    def name(self):
        return f"{self._body.id}_call"

    def getGraph(self):
        return self._body

    def getCalledGraphs(self):
        return [self._body]

    def getInputIndexMap(self):
        return {}

    def _results(self):
        return self._body._outputs()

    def createAndConnectOutTensor(self, index, tensor_id):
        marked = self._body._marked()[index - len(self._body._outputs())]
        self._body._graph.__dict__.setdefault("_output_names", {})[tensor_id] = marked

    def setup(self):
        """Nothing: LoopOp.addLoopOutput connects the result."""
