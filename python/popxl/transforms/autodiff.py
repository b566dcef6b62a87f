"""Gradients."""
import typing
from enum import Enum
from typing import Dict, Iterable, Mapping, Optional, Tuple

from popxl import _core, _views
from popxl._checks import check_graph, describe
from popxl.context import _context
from popxl.tensor import Tensor

if typing.TYPE_CHECKING:
    from popxl.graph import Graph
    from popxl.ops.call import CallSiteInfo


class ExpectedConnectionType(Enum):
    """What an input or output of a gradient graph stands for: a tensor of the forward graph, or its gradient."""

    Fwd = "Fwd"
    FwdGrad = "FwdGrad"


class ExpectedConnection:
    """What one input or output of a gradient graph stands for."""

    def __init__(self) -> None:
        raise TypeError("ExpectedConnection has no constructor: GradGraphInfo has connections.")

    @classmethod
    def _make(cls, tensor, kind):
        self = object.__new__(cls)
        self._tensor = tensor
        self._kind = kind
        return self

    @classmethod
    def _from_pb(cls, graph_view, view):
        graph = graph_view._graph
        return cls._make(graph.get_tensor(view.fwdId), view.type)

    @property
    def _pb_ec(self):
        return _views.view("expected_connection", self._tensor.id, self._kind)

    @property
    def fwd_tensor(self) -> Tensor:
        """The tensor of the forward graph."""
        return self._tensor

    @property
    def connection_type(self):
        """Whether it stands for the tensor (Fwd) or for its gradient (FwdGrad)."""
        return self._kind

    def __eq__(self, other):
        return isinstance(other, ExpectedConnection) and (self._tensor, self._kind) == (other._tensor, other._kind)

    def __hash__(self):
        return hash((self._tensor, self._kind))

    def __repr__(self) -> str:
        return f"ExpectedConnection({self._kind.name}, {self._tensor!r})"


class GradGraphInfo:
    """A gradient graph, and what its inputs and outputs stand for. `autodiff` makes it."""

    def __init__(self) -> None:
        raise TypeError("GradGraphInfo has no constructor: popxl.transforms.autodiff makes one.")

    @classmethod
    def _make(cls, forward, graph, inputs, outputs):
        self = object.__new__(cls)
        self._forward = forward
        self._graph = graph
        self._expected_inputs = tuple(inputs)
        self._expected_outputs = tuple(outputs)
        return self

    @classmethod
    def _from_pb(cls, ir_view, forward_view, info):
        """From the views of popart._internal.ir: an Ir, its forward graph, and a BwdGraphInfo."""
        def connections(expected):
            return [ExpectedConnection._from_pb(forward_view, c) for c in expected]

        name = info.bwdGraphId
        gradient = next(g._graph for g in ir_view.getAllGraphs() if str(g.id) == str(name))
        return cls._make(forward_view._graph, gradient, connections(info.expectedInputs), connections(info.expectedOutputs))

    @property
    def graph(self) -> "Graph":
        """The gradient graph."""
        return self._graph

    @property
    def forward_graph(self) -> "Graph":
        """The graph whose gradient it is."""
        return self._forward

    @property
    def expected_inputs(self) -> Tuple[ExpectedConnection, ...]:
        """What the inputs stand for, in order: the provided gradients first."""
        return self._expected_inputs

    @property
    def expected_outputs(self) -> Tuple[ExpectedConnection, ...]:
        """What the outputs stand for, in order: the required gradients."""
        return self._expected_outputs

    @property
    def inputs(self) -> Tuple[Tensor, ...]:
        """The forward tensors of `expected_inputs`."""
        return tuple(c.fwd_tensor for c in self._expected_inputs)

    @property
    def outputs(self) -> Tuple[Tensor, ...]:
        """The forward tensors of `expected_outputs`."""
        return tuple(c.fwd_tensor for c in self._expected_outputs)

    def inputs_dict(self, fwd_call_info: "CallSiteInfo") -> Dict[Tensor, Tensor]:
        """What `ops.call` of the gradient graph needs beside the gradients: {input of the gradient graph: tensor of the forward call}.

        Args:
            fwd_call_info: of a call of the forward graph.

        Raises:
            TypeError: it is of a call of another graph.
        """
        self._check_call(fwd_call_info, self._forward)
        return {t: fwd_call_info.graph_to_parent(c.fwd_tensor) for t, c in zip(self._graph.inputs, self._expected_inputs)
                if c.connection_type is ExpectedConnectionType.Fwd}

    def fwd_graph_ins_to_grad_parent_outs(self, grad_call_info: "CallSiteInfo") -> Dict[Tensor, Tensor]:
        """{tensor of the forward graph: its gradient, where the gradient graph is called}.

        Args:
            grad_call_info: of a call of the gradient graph.

        Raises:
            TypeError: it is of a call of another graph.
        """
        self._check_call(grad_call_info, self._graph)
        return {c.fwd_tensor: t for c, t in zip(self._expected_outputs, grad_call_info.outputs)}

    def fwd_parent_ins_to_grad_parent_outs(self, fwd_call_info: "CallSiteInfo", grad_call_info: "CallSiteInfo") -> Dict[Tensor, Tensor]:
        """{tensor of the forward call: its gradient, where the gradient graph is called}.

        Args:
            fwd_call_info: of a call of the forward graph.
            grad_call_info: of a call of the gradient graph.

        Raises:
            TypeError: one of them is of a call of another graph.
        """
        self._check_call(fwd_call_info, self._forward)
        return {fwd_call_info.graph_to_parent(t): gradient for t, gradient in self.fwd_graph_ins_to_grad_parent_outs(grad_call_info).items()}

    @staticmethod
    def _check_call(info, graph):
        if info.called_graph != graph:
            raise TypeError(f"The call is of {info.called_graph!r}, not of {graph!r}.")

    def __repr__(self) -> str:
        return (f"GradGraphInfo[\n  graph={self._graph}\n  expected_inputs={list(self._expected_inputs)}\n"
                f"  expected_outputs={list(self._expected_outputs)}\n]")


def _check_safe(graph, known):
    """Raises popart_exception if a graph that is called, directly or not, must not be differentiated."""
    for called in graph.called_graphs:
        if called in known:
            continue
        if not called._autodiff_through_calls:
            raise _core.popart_exception(f"The graph {called.name} has been marked as unsafe to autodiff; give its gradient in called_graphs_grad_info.")
        _check_safe(called, known)


def _indices(graph, tensors):
    if tensors is None:
        return None
    if isinstance(tensors, Tensor) or not hasattr(tensors, "__iter__"):
        raise TypeError(f"autodiff: a list of tensors is expected, not {describe(tensors)}.")
    out = []
    for t in tensors:
        if not isinstance(t, Tensor):
            raise TypeError(f"autodiff: {describe(t)} is not a tensor.")
        if t not in graph:
            raise _core.popart_exception(f"autodiff: {t!r} is not in the graph {graph.name!r}.")
        out.append(t._index)
    return out


def _known(infos):
    """{graph: GradGraphInfo}. Raises TypeError for what is none."""
    if infos is not None and not hasattr(infos, "items"):
        raise TypeError(f"autodiff: called_graphs_grad_info is a dict, not {describe(infos)}.")
    for graph, info in (infos or {}).items():
        check_graph(graph, "autodiff: called_graphs_grad_info")
        if not isinstance(info, GradGraphInfo):
            raise TypeError(f"autodiff: called_graphs_grad_info: {describe(info)} is not a GradGraphInfo.")
    return dict(infos or {})


def _given(info):
    def connections(all_of_them):
        return [(c.fwd_tensor._index, c.connection_type is ExpectedConnectionType.FwdGrad) for c in all_of_them]

    return info.forward_graph._index, info.graph._index, connections(info.expected_inputs), connections(info.expected_outputs)


def _info(ir, forward, gradient, inputs, outputs):
    def connections(all_of_them):
        kinds = (ExpectedConnectionType.Fwd, ExpectedConnectionType.FwdGrad)
        return [ExpectedConnection._make(Tensor._of(ir, t), kinds[is_gradient]) for t, is_gradient in all_of_them]

    return GradGraphInfo._make(ir._graph(forward), ir._graph(gradient), connections(inputs), connections(outputs))


def autodiff(graph: "Graph", grads_provided: Optional[Iterable[Tensor]] = None, grads_required: Optional[Iterable[Tensor]] = None,
             called_graphs_grad_info: Optional[Mapping["Graph", GradGraphInfo]] = None, return_all_grad_graphs: bool = False):
    """A graph that computes gradients of another one's tensors, from gradients of its outputs. It is not called: `ops.call` does that.

        info = popxl.transforms.autodiff(graph)
        forward = ops.call_with_info(graph, x)
        gradients = ops.call(info.graph, gradient_of_output, inputs_dict=info.inputs_dict(forward))

    What the gradient graph needs of the forward graph becomes outputs of that, and results of calls of it that are there already.

    Args:
        graph: the forward graph.
        grads_provided: the tensors whose gradients will be given, in order; None: the outputs.
        grads_required: the tensors whose gradients are wanted, in order; None: the inputs.
        called_graphs_grad_info: gradients of graphs that this one calls, which are there already.
        return_all_grad_graphs: whether those that were made for called graphs are wanted, too.

    Returns:
        a GradGraphInfo, or {graph: GradGraphInfo}.

    Raises:
        popart.popart_exception: a required gradient that does not exist, no required gradient, an op without gradient that says so, a graph
            that changes a tensor.
    """
    check_graph(graph, "autodiff")
    known = _known(called_graphs_grad_info)
    ir = graph.ir
    _check_safe(graph, known)
    _context._sync(ir)
    infos = ir._program.autodiff(graph._index, _indices(graph, grads_provided), _indices(graph, grads_required), [_given(i) for i in known.values()])
    made = [_info(ir, *i) for i in infos]
    if not return_all_grad_graphs:
        return made[0]
    everything = dict(known)
    for info in made:
        everything.setdefault(info.forward_graph, info)
    return everything
