"""Calls of graphs."""
import typing
from typing import Iterable, Mapping, Optional, Tuple, Union

from popxl._build import describe, op
from popxl._checks import check_graph
from popxl._views import view
from popxl.context import _context
from popxl.tensor import Tensor, TensorLike

if typing.TYPE_CHECKING:
    from popxl.graph import Graph


class CallSiteInfo:
    """What a call connects: tensors of the graph in which it stands (the parent) and of the graph that it calls."""

    _FIRST_INPUT = 0

    def __init__(self, subgraph_op):
        graph = subgraph_op.getGraph()
        self._set(graph._graph if hasattr(graph, "_graph") else graph, subgraph_op.id)

    @classmethod
    def _make(cls, graph, index):
        self = object.__new__(cls)
        self._set(graph, index)
        return self

    def _set(self, graph, index):
        self._graph = graph
        self._index = index

    @property
    def _program(self):
        return self._graph.ir._program

    @property
    def _op(self):
        return view("op", self._graph, self._index)

    def _graphs(self):
        return [self._graph.ir._graph(g) for g in self._program.op_graphs(self._index)]

    @property
    def called_graph(self):
        """The graph that is called."""
        return self._graphs()[0]

    def graph_to_parent_input_index(self, idx):
        """The index among the op's inputs of input `idx` of the graph."""
        return idx + self._FIRST_INPUT

    def parent_to_graph_input_index(self, idx):
        """The index among the graph's inputs of input `idx` of the op."""
        return idx - self._FIRST_INPUT

    def graph_to_parent_output_index(self, idx):
        return idx

    def parent_to_graph_output_index(self, idx):
        return idx

    def _of(self, index):
        return Tensor._of(self._graph.ir, index)

    def graph_to_parent(self, graph_tensor):
        """The parent's tensor that is given for an input of the called graph, or made of an output. Raises ValueError for another tensor."""
        called = self.called_graph
        if graph_tensor in called.inputs:
            return self.parent_input(self.graph_to_parent_input_index(called.inputs.index(graph_tensor)))
        if graph_tensor in called.outputs:
            return self.parent_output(self.graph_to_parent_output_index(called.outputs.index(graph_tensor)))
        raise ValueError(f"{graph_tensor!r} is neither input nor output of the graph {called.name!r}.")

    def parent_to_graph(self, parent_tensor):
        """The input of the called graph that a parent's tensor is given for (the first one), or the output that it is made of.

        Raises ValueError for another tensor.
        """
        called = self.called_graph
        if parent_tensor in self.inputs:
            return called.inputs[self.inputs.index(parent_tensor)]
        if parent_tensor in self.outputs:
            return called.outputs[self.outputs.index(parent_tensor)]
        raise ValueError(f"{parent_tensor!r} is neither given to this call of {called.name!r} nor made by it.")

    def parent_input(self, idx):
        """Input `idx` of the op. Raises IndexError if there is none."""
        inputs = self.inputs
        i = idx - self._FIRST_INPUT
        if not 0 <= i < len(inputs):
            raise IndexError(f"There is no input {idx}: this call of {self._names()} has {len(inputs)}, from {self._FIRST_INPUT}.")
        return inputs[i]

    def parent_output(self, idx):
        """Output `idx` of the op. Raises IndexError if there is none."""
        outputs = self.outputs
        if not 0 <= idx < len(outputs):
            raise IndexError(f"There is no output {idx}: this call of {self._names()} has {len(outputs)}.")
        return outputs[idx]

    def _names(self):
        return " and ".join(g.name for g in self._graphs())

    @property
    def inputs(self):
        """The tensors that are given, in the order of the graph's inputs."""
        return tuple(self._of(t) for t in self._program.given_operands(self._index))

    @property
    def outputs(self):
        """The tensors that are made, in the order of the graph's outputs."""
        outputs = len(self._program.graph_outputs(self._program.op_graphs(self._index)[0]))
        return tuple(self._of(t) for t in self._program.op_results(self._index)[:outputs])

    def set_parent_input_modified(self, parent_tensor, infer_modified_regions=False):
        """From this call on, `parent_tensor` holds what the graph leaves in the input that it is given for (the first one).

        Args:
            parent_tensor: a tensor given to the call.
            infer_modified_regions: whether only what ops of the graph write comes back. The rest is what it was: the result is the same.

        Raises:
            ValueError: the tensor is not given to the call.
        """
        given = self._program.given_operands(self._index)
        if not isinstance(parent_tensor, Tensor) or parent_tensor._index not in given:
            raise ValueError(f"{parent_tensor!r} is not given to this call of {self._names()}.")
        self._program.set_modified(self._index, given.index(parent_tensor._index))


def flatten(inputs):
    """Tensors and lists of them as one list."""
    flat = []
    for x in inputs:
        if isinstance(x, (list, tuple)) and any(isinstance(y, Tensor) for y in x):
            flat.extend(flatten(x))
        else:
            flat.append(x)
    return flat


def match_inputs(graph, inputs, inputs_dict, check_inputs=True, what="call"):
    """For each input of a graph the tensor that is given, in order. Literals become constants of the input's element type.

    Raises ValueError for too many or too few, for tensors of the wrong graph, and for inputs that are given twice; TypeError for what cannot
    become a tensor.
    """
    check_graph(graph, what)
    current = _context.graph
    slots = list(graph.inputs)
    given = [None] * len(slots)
    if inputs_dict is not None and not hasattr(inputs_dict, "items"):
        raise TypeError(f"{what}: inputs_dict is a dict, not {describe(inputs_dict)}.")
    for key, value in (inputs_dict or {}).items():
        if not isinstance(key, Tensor) or key not in graph or key not in slots:
            raise ValueError(f"{what}: the key {key!r} of inputs_dict is not in the called graph {graph.name!r}, or none of its inputs.")
        given[slots.index(key)] = value
    free = [i for i, value in enumerate(given) if value is None]
    if isinstance(inputs, Tensor):
        raise TypeError(f"{what}: a list of inputs is expected, not {describe(inputs)}.")
    positional = flatten(inputs)
    if len(free) < len(positional) <= len(slots):
        raise ValueError(f"Graph input tensor is specified twice: {what} {graph.name!r} is given {len(positional)} inputs by position, and "
                         f"{len(slots) - len(free)} of its {len(slots)} inputs in inputs_dict.")
    if len(positional) > len(free):
        raise ValueError(f"Too many inputs have been provided to {what} {graph.name!r}: {len(positional)} beside {len(slots) - len(free)} in inputs_dict, "
                         f"for {len(slots)} inputs.")
    for i, value in zip(free, positional):
        if value is None:
            raise TypeError(f"{what}: None cannot become a tensor for the input {slots[i].name!r}.")
        given[i] = value
    if check_inputs and len(positional) < len(free):
        missing = [slots[i].name for i in free[len(positional):]]
        raise ValueError(f"Not enough inputs have been provided to {what} {graph.name!r}: there is nothing for {', '.join(missing)}.")
    out = []
    for slot, value in zip(slots, given):
        if value is None:
            break
        out.append(as_input(current, slot, value, what))
    return out


def as_input(current, slot, value, what):
    if isinstance(value, Tensor):
        if value not in current:
            raise ValueError(f"{what}: {value!r} is not in the current graph {current.name!r}.")
        return value
    try:
        return slot._ensure_tensor(value)
    except (ValueError, TypeError) as error:
        raise TypeError(f"{what}: {value!r} cannot become a tensor for the input {slot.name!r}.") from error


def call(graph: "Graph", *inputs: Union[TensorLike, Iterable[TensorLike]], inputs_dict: Optional[Mapping[Tensor, TensorLike]] = None) -> Tuple[Tensor, ...]:
    """Calls a graph, by value: what it changes in place stays inside, but for inputs by reference.

    Args:
        graph: the graph.
        inputs: tensors, numbers, arrays, or lists of tensors, for its inputs in order; those in inputs_dict are left out.
        inputs_dict: {input of the graph: what is given for it}.

    Returns:
        a tuple of what the graph's outputs are, also for one or none.

    Raises:
        ValueError: too many or too few inputs, tensors of other graphs, inputs given twice.
        TypeError: no graph; what cannot become a tensor.
        popart.popart_exception: other shapes or element types than the inputs have.
    """
    return call_with_info(graph, *inputs, inputs_dict=inputs_dict).outputs


def call_with_info(graph: "Graph", *inputs: Union[TensorLike, Iterable[TensorLike]], inputs_dict: Optional[Mapping[Tensor, TensorLike]] = None,
                   check_inputs: bool = True) -> CallSiteInfo:
    """The same as `call`, and tells what is connected to what.

    Args:
        graph, inputs, inputs_dict: see `call`.
        check_inputs: whether all inputs must be given.
    """
    operands = match_inputs(graph, inputs, inputs_dict, check_inputs)
    op("call", operands, {}, (graph,))
    current = _context.graph
    return CallSiteInfo._make(current, current.ir._program.last_op())


__all__ = ["call", "call_with_info"]
