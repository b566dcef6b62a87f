"""Branches."""
import typing
from typing import Iterable, Mapping, Optional, Tuple, Union

from popxl import dtypes
from popxl._build import op
from popxl._checks import check_graph
from popxl.context import _context
from popxl.ops.call import CallSiteInfo, match_inputs
from popxl.tensor import Tensor

if typing.TYPE_CHECKING:
    from popxl.graph import Graph


class ConditionalSiteInfo(CallSiteInfo):
    """A conditional's connections. The op's inputs are the condition, those of the then branch, those of the else branch."""

    @property
    def called_graph(self):
        """(then branch, else branch)"""
        return tuple(self._graphs())

    def _then_inputs(self):
        return self._program.op_attributes(self._index)["then_inputs"]

    def graph_to_parent_input_index(self, idx, then_branch=True):
        """The index among the op's inputs of input `idx` of a branch. Raises IndexError if there is none."""
        self._check(idx, len(self._graphs()[0 if then_branch else 1].inputs), "input of that branch")
        return idx + 1 + (0 if then_branch else self._then_inputs())

    def parent_to_graph_input_index(self, idx):
        """The index among the branch's inputs of input `idx` of the op. Raises ValueError for the condition, IndexError beyond the last."""
        self._check(idx, len(self.inputs), "input")
        if idx == 0:
            raise ValueError("Input 0 is the condition: no branch has it.")
        return idx - 1 if self.is_parent_index_in_then_branch(idx) else idx - 1 - self._then_inputs()

    def is_parent_index_in_then_branch(self, idx):
        """Whether input `idx` of the op goes to the then branch."""
        self._check(idx, len(self.inputs), "input")
        return 1 <= idx <= self._then_inputs()

    def graph_to_parent_output_index(self, idx, then_branch=True):
        self._check(idx, len(self.outputs), "output")
        return idx

    def parent_to_graph_output_index(self, idx, then_branch=True):
        self._check(idx, len(self.outputs), "output")
        return idx

    def _check(self, idx, count, what):
        if not 0 <= idx < count:
            raise IndexError(f"There is no {what} {idx}: there are {count}.")

    def graph_to_parent(self, graph_tensor):
        """The parent's tensor that is given for an input of a branch, or made of an output. Raises ValueError for another tensor."""
        for graph, is_then in zip(self._graphs(), (True, False)):
            if graph_tensor in graph.inputs:
                return self.parent_input(self.graph_to_parent_input_index(graph.inputs.index(graph_tensor), is_then))
            if graph_tensor in graph.outputs:
                return self.parent_output(graph.outputs.index(graph_tensor))
        raise ValueError(f"{graph_tensor!r} is neither input nor output of {self._names()}.")

    def parent_to_graph(self, parent_tensor):
        """The input of a branch that a parent's tensor is given for (the first one, then branch first), or the then branch's output that it is
        made of. Raises ValueError for another tensor."""
        then_branch, else_branch = self._graphs()
        given = self.inputs
        for i, t in enumerate(given[1:], 1):
            if t == parent_tensor:
                graph = then_branch if self.is_parent_index_in_then_branch(i) else else_branch
                return graph.inputs[self.parent_to_graph_input_index(i)]
        if parent_tensor in self.outputs:
            return then_branch.outputs[self.outputs.index(parent_tensor)]
        raise ValueError(f"{parent_tensor!r} is neither given to this conditional nor made by it.")

    def set_parent_input_modified(self, parent_tensor, infer_modified_regions=True):
        """Raises NotImplementedError: inputs of branches go by value."""
        raise NotImplementedError("Inputs of a conditional go by value.")


def conditional(cond: Tensor, then_branch: "Graph", else_branch: "Graph", then_inputs: Optional[Iterable[Union[Tensor, Iterable[Tensor]]]] = None,
                else_inputs: Optional[Iterable[Union[Tensor, Iterable[Tensor]]]] = None, then_inputs_dict: Optional[Mapping[Tensor, Tensor]] = None,
                else_inputs_dict: Optional[Mapping[Tensor, Tensor]] = None) -> Tuple[Tensor, ...]:
    """Runs one of two graphs, whichever a tensor says when the program runs.

    Args:
        cond: bool, one element.
        then_branch, else_branch: graphs with outputs of equal shapes and element types.
        then_inputs, else_inputs, then_inputs_dict, else_inputs_dict: of each branch, see `call`.

    Returns:
        the outputs of the branch that runs.

    Raises:
        ValueError: different numbers of outputs, and whatever `call` rejects.
        NotImplementedError: a branch has inputs by reference.
    """
    return conditional_with_info(cond, then_branch, else_branch, then_inputs, else_inputs, then_inputs_dict, else_inputs_dict).outputs


def conditional_with_info(cond: Tensor, then_branch: "Graph", else_branch: "Graph",
                          then_inputs: Optional[Iterable[Union[Tensor, Iterable[Tensor]]]] = None,
                          else_inputs: Optional[Iterable[Union[Tensor, Iterable[Tensor]]]] = None,
                          then_inputs_dict: Optional[Mapping[Tensor, Tensor]] = None, else_inputs_dict: Optional[Mapping[Tensor, Tensor]] = None,
                          check_inputs: bool = True) -> ConditionalSiteInfo:
    """The same as `conditional`, and tells what is connected to what.

    Args:
        check_inputs: whether all inputs must be given. The others: see `conditional`.
    """
    for graph in (then_branch, else_branch):
        check_graph(graph, "conditional")
    if len(then_branch.outputs) != len(else_branch.outputs):
        raise ValueError(f"The branches {then_branch.name!r} and {else_branch.name!r} have different numbers of outputs: {len(then_branch.outputs)} and "
                         f"{len(else_branch.outputs)}.")
    for graph in (then_branch, else_branch):
        if graph._by_ref_inputs:
            raise NotImplementedError(f"The branch {graph.name!r} has inputs by reference: inputs of a conditional go by value.")
    if isinstance(cond, Tensor) and cond.dtype is not dtypes.bool:
        raise ValueError(f"The condition is of the type {cond.dtype}; it must be popxl.bool.")
    of_then = match_inputs(then_branch, () if then_inputs is None else then_inputs, then_inputs_dict, check_inputs, "conditional")
    of_else = match_inputs(else_branch, () if else_inputs is None else else_inputs, else_inputs_dict, check_inputs, "conditional")
    op("conditional", [cond, *of_then, *of_else], {"then_inputs": len(of_then)}, (then_branch, else_branch))
    current = _context.graph
    return ConditionalSiteInfo._make(current, current.ir._program.last_op())


__all__ = ["conditional", "conditional_with_info"]
