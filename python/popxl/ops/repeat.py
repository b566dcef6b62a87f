"""Loops."""
import typing
from typing import Iterable, Mapping, Optional, Tuple, Union

from popxl._build import op
from popxl._checks import check_graph
from popxl.context import _context
from popxl.ops.call import CallSiteInfo, match_inputs
from popxl.ops.utils import integer
from popxl.tensor import Tensor

if typing.TYPE_CHECKING:
    from popxl.graph import Graph


class RepeatSiteInfo(CallSiteInfo):
    """A loop's connections. The op's inputs 0 and 1 are the count and the condition: those of the graph begin at 2."""

    _FIRST_INPUT = 2


def repeat(graph: "Graph", repeat_count: int, *inputs: Union[Tensor, Iterable[Tensor]],
           inputs_dict: Optional[Mapping[Tensor, Tensor]] = None) -> Tuple[Tensor, ...]:
    """Calls a graph `repeat_count` times. What it returns are the first inputs of the next iteration; further inputs stay what they are.

    Args:
        graph: a graph with at least as many inputs as outputs, of the same shapes and element types.
        repeat_count: iterations, 0 or more.
        inputs, inputs_dict: see `call`.

    Returns:
        the outputs of the last iteration; for a count of 0, the first inputs.

    Raises:
        ValueError: a negative count, fewer inputs than outputs, and whatever `call` rejects.
    """
    return repeat_with_info(graph, repeat_count, *inputs, inputs_dict=inputs_dict).outputs


def repeat_with_info(graph: "Graph", repeat_count: int, *inputs: Union[Tensor, Iterable[Tensor]], inputs_dict: Optional[Mapping[Tensor, Tensor]] = None,
                     check_inputs: bool = True) -> CallSiteInfo:
    """The same as `repeat`, and tells what is connected to what.

    Args:
        graph, repeat_count, inputs, inputs_dict: see `repeat`.
        check_inputs: whether all inputs must be given.
    """
    check_graph(graph, "repeat")
    repeat_count = integer(repeat_count, "repeat: the count")
    if repeat_count < 0:
        raise ValueError(f"Repeat count must be >= 0, not {repeat_count}.")
    if len(graph.inputs) < len(graph.outputs):
        raise ValueError(f"To repeat the subgraph {graph.name!r} it must have at least as many inputs as outputs: it has {len(graph.inputs)} and "
                         f"{len(graph.outputs)}.")
    operands = match_inputs(graph, inputs, inputs_dict, check_inputs, "repeat")
    op("repeat", operands, {"count": repeat_count}, (graph,))
    current = _context.graph
    return RepeatSiteInfo._make(current, current.ir._program.last_op())


__all__ = ["repeat", "repeat_with_info"]
