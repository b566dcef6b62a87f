"""Views of graphs."""
from . import access
from .identifiers import GraphId
from .op_view import Op
from .tensor_view import Tensor

#: What shows no op: constants are tensors, and other ops are made by the builder.
_UNSEEN = {"constant"}
_classes = {}


def view_of_op(ir, number):
    """The view of an op, of the class that its type has."""
    if not _classes:
        from . import op
        _classes.update(op.CLASSES)
    op_type = access.program(ir).op_type(number)
    return _classes.get(op_type, Op)(ir, number, op_type)


class TopoCons:
    """The order that was demanded beside the data's."""

    def __init__(self, graph):
        self._graph = graph

    def transferToSubgraph(self, loop, moved, required=True):
        """The copies of ops, {op: [copies]}, come in the order that was demanded of the originals."""
        program = self._graph._program
        for first, then in program.graph_after(self._graph._number):
            for a in self._copies(moved, first):
                for b in self._copies(moved, then):
                    program.add_after(a.id, b.id)

    def _copies(self, moved, number):
        return moved.get(view_of_op(self._graph._ir, number), [])


class Graph:
    """A graph of a program. Two views are equal if they show the same graph."""

    def __init__(self, graph):
        self._graph = graph
        self._ir = graph.ir
        self._program = access.program(self._ir)
        self._number = access.graph_number(graph)

    @property
    def id(self):
        return GraphId("" if self._number == 0 else self._graph.name)

    def __eq__(self, other):
        return isinstance(other, Graph) and self._ir is other._ir and self._number == other._number

    def __hash__(self):
        return hash((id(self._ir), self._number))

    def __repr__(self):
        return f"Graph({str(self.id)!r})"

    def __contains__(self, tensor_id):
        return self._program.tensor_named(self._number, tensor_id) is not None or (self._number == 0 and tensor_id in self._program.stream_names())

    def getIr(self):
        from .ir_view import Ir
        return Ir(self._ir)

    # --- ops

    def getOps(self):
        """In the order in which they were made. As in PopART, a load shows the op first that makes what it is written to, and merged exchanges are
        one op."""
        from .op_kinds import BodyCall, LoadTarget, MergedExchange
        merged = {o: group for group in self._ir._merged_exchanges for o in group}
        shown = []
        for op in self._real_ops():
            if self._program.op_kind(op.id) in ("host_load", "remote_load"):
                shown.append(LoadTarget.of(op))
            if op.id not in merged:
                shown.append(op)
            elif op.id == merged[op.id][-1]:
                shown.append(MergedExchange.of(self._ir, merged[op.id]))
        if self._marked():
            shown.append(BodyCall.of(self))
        return shown

    def _real_ops(self):
        program = self._program
        return [view_of_op(self._ir, o) for o in program.graph_ops(self._number)
                if program.op_kind(o) not in _UNSEEN and not program.op_flags(o)[2]]

    def getOpSchedule(self, requireOptimal=False):
        """In the order in which they run: of those that may come next, one that adds the least live memory."""
        views = {o.id: o for o in self._real_ops()}
        return [views[o] for o in self._program.graph_schedule(self._number) if o in views]

    def getCalledGraphs(self):
        found = {}
        for op in self._real_ops():
            for number in self._program.op_graphs(op.id):
                found[number] = Graph(access.graph_of(self._ir, number))
        return list(found.values())

    def eraseOp(self, number):
        self._program.erase_op(number)

    def topoCons(self):
        return TopoCons(self)

    # --- tensors

    def getTensor(self, tensor_id):
        number = self._program.tensor_named(self._number, tensor_id)
        if number is None:
            raise ValueError(f"graph {str(self.id)!r} has no tensor {tensor_id!r}")
        return Tensor(self._ir, number)

    def getInputIds(self):
        return [self._program.tensor_id(t) for t in self._inputs()]

    def getOutputIds(self):
        return [self._program.tensor_id(t) for t in self._outputs()]

    def _inputs(self):
        # The main graph's inputs in the program are its variables.
        return [] if self._number == 0 else self._program.graph_inputs(self._number)

    def _outputs(self):
        return self._program.graph_outputs(self._number)

    def getInputId(self, index):
        return self.getInputIds()[index]

    def getOutputId(self, index):
        return self.getOutputIds()[index]

    def getInputTensor(self, index):
        return Tensor(self._ir, self._inputs()[index])

    def getOutputTensor(self, index):
        return Tensor(self._ir, self._outputs()[index])

    def getInputIndex(self, tensor_id):
        return self.getInputIds().index(tensor_id)

    def getOutputIndex(self, tensor_id):
        return [*self.getOutputIds(), *(self._program.tensor_id(t) for t in self._marked())].index(tensor_id)

    def hasInputId(self, tensor_id):
        return tensor_id in self.getInputIds()

    def hasOutputId(self, tensor_id):
        return tensor_id in self.getOutputIds()

    def markAsOutput(self, tensor_id):
        """The graph gives a further tensor; its calls get a further result. A loop's body waits for LoopOp.addLoopOutput."""
        number = self.getTensor(tensor_id)._number
        if self._is_loop_body():
            self._marked().append(number)
        else:
            self._program.add_output_to_called(self._number, number)

    def _marked(self):
        return self._graph.__dict__.setdefault("_marked_outputs", [])

    def _is_loop_body(self):
        program = self._program
        return any(program.op_kind(o) == "repeat" and self._number in program.op_graphs(o)
                   for g in range(program.graph_count()) for o in program.graph_ops(g))

    def removeOutput(self, index):
        """Outputs keep, for this, the numbers that they had before the first was removed."""
        removed = self._graph.__dict__.setdefault("_removed_outputs", [])
        self._program.remove_output(self._number, index - sum(r < index for r in removed))
        removed.append(index)

    def removeIsolatedTensors(self, *options):
        """Nothing: tensors that no op uses take no memory."""

    def setCanBeRecursivelyAutodiffed(self, value):
        """Whether autodiff of a graph that calls this one may go into it."""
        self._graph._autodiff_through_calls = bool(value)
