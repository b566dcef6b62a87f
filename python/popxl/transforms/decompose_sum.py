"""Sums of many tensors."""
import typing

if typing.TYPE_CHECKING:
    from popxl.graph import Graph


def decompose_sum(graph: "Graph") -> "Graph":
    """Lets sums of several gradients be computed as chains of additions.

    How a sum is computed is decided when a session lowers the program, for every graph: nothing changes here, and results are the same.

    Args:
        graph: any graph.

    Returns:
        the graph.
    """
    return graph
