"""Tensors that are counted as a graph's although no op of the builder makes them: streams, and what loads are written to."""
from popxl import dtypes
from popxl.tensor import Tensor


class _Implied(Tensor):
    """A name, a shape and an element type."""

    __slots__ = ("_implied_graph", "_implied_name", "_implied_spec")

    @classmethod
    def _named(cls, graph, name, dtype, shape, meta_shape=()):
        self = object.__new__(cls)
        self._ir = graph.ir
        self._index = ("implied", graph._index, name)
        self._type_cache = (dtype._index, tuple(shape), tuple(meta_shape), 0, "compute")
        self._implied_graph = graph
        self._implied_name = name
        return self

    @property
    def id(self):
        return self._implied_name if self._implied_graph._index == 0 else f"{self._implied_graph.name}/{self._implied_name}"

    @property
    def name(self):
        return self._implied_name

    def _graph(self):
        return self._implied_graph


def tensors(ir, graph):
    """Those of a graph."""
    found = []
    program = ir._program
    if graph._index == 0:
        found += [_Implied._named(graph, s.tensor_id, s.dtype, s.shape) for s in ir._streams.values()]
    for op in program.graph_ops(graph._index):
        if program.op_kind(op) in ("host_load", "remote_load"):
            result = program.op_results(op)[0]
            if result is not None:
                dtype, shape, meta_shape, _, _ = program.tensor_type(result)
                found.append(_Implied._named(graph, program.tensor_name(result) + "_init", dtypes._by_index[dtype], shape, meta_shape))
        if program.op_kind(op) == "cumsum" and program.op_results(op)[0] is not None:
            # The axis is an operand in PopART.
            found.append(_Implied._named(graph, program.tensor_name(program.op_results(op)[0]) + "_axis", dtypes.int32, ()))
    return tuple(found)
