"""Sums of many tensors."""
import typing

from popxl._checks import check_graph

if typing.TYPE_CHECKING:
    from popxl.graph import Graph


def decompose_sum(graph: "Graph") -> "Graph":
    """Makes additions of two tensors out of every sum of several ones, such as the gradient of a tensor that several ops use. Each addition comes as
    early as its operands are there, so that few of them have to be in memory at one time.

    Args:
        graph: any graph; it changes. Its tensors stay what they are.

    Returns:
        the graph.
    """
    check_graph(graph, "decompose_sum")
    graph._ir._program.decompose_sum(graph._index)
    return graph
