"""A copy of an op whose operands are not known yet. The op comes into being when all are there."""

from . import access


class Pending:
    def __init__(self, op, graph):
        self._ir, self._program = op._ir, op._program
        self._original = op.id
        self._graph = graph._number
        self._operands = {}
        self._names = {}
        self._emitted = None

    def connect(self, index, tensor_id):
        self._operands[index] = self._program.tensor_named(self._graph, tensor_id)

    def name_output(self, index, tensor_id):
        self._names[index] = tensor_id

    def emit(self):
        """The op's number."""
        if self._emitted is None:
            operands = [self._operands[i] for i in sorted(self._operands)]
            self._emitted = self._program.clone_op(self._original, self._graph, operands, "")
            results = self._program.op_results(self._emitted)
            for index, tensor_id in self._names.items():
                access.rename(self._ir, results[index], tensor_id)
        return self._emitted
