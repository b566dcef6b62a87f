"""Graphs: ops and tensors between inputs and outputs, which other graphs call."""
import typing
from typing import Any, Callable, Dict, Tuple

from popxl._views import view
from popxl.context import _context
from popxl.tensor import Constant, Tensor, Variable

if typing.TYPE_CHECKING:
    from popxl.ir import Ir


class Graph:
    """A graph of an Ir. `with graph:` makes it the current one; `Ir.main_graph`, `Ir.create_graph` and `Ir.create_empty_graph` give graphs."""

    def __init__(self):
        raise TypeError("Graph has no constructor: ir.main_graph, ir.create_graph and ir.create_empty_graph give graphs.")

    @classmethod
    def _make(cls, ir, index):
        self = object.__new__(cls)
        self._ir = ir
        self._index = index
        self._hooks = {}
        self._autodiff_through_calls = True
        self._name = ir._program.graph_name(index)
        return self

    @classmethod
    def _from_pb(cls, view):
        return view._graph

    @property
    def _pb_graph(self):
        return view("graph", self)

    @property
    def name(self) -> str:
        return self._name

    @property
    def id(self) -> str:
        """The name: it is unique in the Ir."""
        return self._name

    @property
    def ir(self) -> "Ir":
        return self._ir

    @property
    def main_graph(self) -> "Graph":
        return self._ir.main_graph

    def _tensors(self, indices):
        ir = self._ir
        return tuple(Tensor._of(ir, i) for i in indices)

    @property
    def inputs(self) -> Tuple[Tensor, ...]:
        """The inputs, in order. The main graph has none: what it begins with are variables."""
        return () if self._index == 0 else self._tensors(self._ir._program.graph_inputs(self._index))

    @property
    def inputs_by_name(self) -> Dict[str, Tensor]:
        """{name: input}"""
        return {t.name: t for t in self.inputs}

    @property
    def outputs(self) -> Tuple[Tensor, ...]:
        return self._tensors(self._ir._program.graph_outputs(self._index))

    @property
    def _by_ref_inputs(self):
        return {t for t, by_ref in zip(self.inputs, self._ir._program.graph_by_ref(self._index)) if by_ref}

    @property
    def tensors(self) -> Tuple[Tensor, ...]:
        """All tensors, in order of creation, with those that streams stand for and that loads are written to."""
        return self._tensors(self._ir._program.graph_tensors(self._index)) + self._ir._implied_tensors(self)

    @property
    def variables(self) -> Tuple[Variable, ...]:
        return tuple(t for t in self._tensors(self._ir._program.graph_tensors(self._index)) if isinstance(t, Variable))

    @property
    def constants(self) -> Tuple[Constant, ...]:
        return tuple(t for t in self._tensors(self._ir._program.graph_tensors(self._index)) if isinstance(t, Constant))

    @property
    def called_graphs(self) -> Tuple["Graph", ...]:
        """The graphs that ops of this graph call, each once, in order of the first call."""
        program = self._ir._program
        called = {}
        for op in program.graph_ops(self._index):
            for g in program.op_graphs(op):
                if program.op_kind(op) != "remote_code_load":
                    called[g] = None
        return tuple(self._ir._graph(g) for g in called)

    def get_tensor(self, tensor_id: str) -> Tensor:
        """The tensor of an id, or of a name in this graph. Raises ValueError if there is none."""
        for t in self.tensors:
            if tensor_id in (t.id, t.name):
                return t
        raise ValueError(f"There is no tensor {tensor_id!r} in the graph {self.name!r}.")

    def _create_tensor_id(self, name):
        """An id that no tensor of this graph has."""
        _context._sync(self._ir)
        scoped = "/".join([*_context._scopes, name])
        unique = self._ir._program.unique_name(self._index, scoped)
        return unique if self._index == 0 else f"{self._name}/{unique}"

    def __contains__(self, value: Tensor) -> bool:
        if not isinstance(value, Tensor):
            raise TypeError(f"A graph contains tensors, not {value!r} of type {type(value).__name__}.")
        return value._ir is self._ir and self._ir._program.tensor_graph(value._index) == self._index

    def __eq__(self, value):
        return isinstance(value, Graph) and self._ir is value._ir and self._index == value._index

    def __hash__(self):
        return hash((id(self._ir), self._index))

    def __repr__(self):
        return f"Graph[{self._name} inputs={list(self.inputs)} outputs={list(self.outputs)}]"

    def __enter__(self):
        _context.push_graph(self)
        return self

    def __exit__(self, *exc):
        _context.pop_graph()

    def register_op_created_hook(self, fn: Callable[[Any], Any]) -> int:
        """Calls `fn(op)` with each op that is made in this graph from now on.

        Returns:
            a handle for `remove_op_created_hook`.
        """
        handle = self._ir._next_hook_number()
        self._hooks[handle] = fn
        self._ir._watched += 1
        return handle

    def remove_op_created_hook(self, handle: int) -> None:
        """Raises ValueError for an unknown handle."""
        if self._hooks.pop(handle, None) is None:
            raise ValueError(f"The graph {self.name!r} has no hook of the handle {handle}.")
        self._ir._watched -= 1
