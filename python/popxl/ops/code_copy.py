"""Code of graphs in Streaming Memory."""
import typing
from typing import Literal

from popxl._build import op
from popxl.context import _context

if typing.TYPE_CHECKING:
    from popxl.graph import Graph

CODE_LOCATION = Literal["executable", "buffer"]
_DESTINATIONS = ("executable", "compute_buffer", "io_buffer")


def remote_code_load(graph: "Graph", destination: CODE_LOCATION) -> None:
    """Loads the code of a graph from Streaming Memory to the tiles. Between the call before and this load its memory is free for others.

    Loads and calls are ordered by `in_sequence` alone: without it the code may have to lie on the tiles all the time. Results never depend on it.

    Args:
        graph: another graph than the current one.
        destination: "executable".

    Raises:
        ValueError: the current graph, or an unknown destination.
        NotImplementedError: the destinations "compute_buffer" and "io_buffer".
    """
    from popxl.graph import Graph

    if not isinstance(graph, Graph):
        raise TypeError(f"remote_code_load takes a Graph, not {graph!r} of type {type(graph).__name__}.")
    if graph == _context.graph:
        raise ValueError(f"The remote_code_load op cannot load the code of the graph {graph.name!r} that it is in.")
    if destination != "executable":
        if destination in _DESTINATIONS:
            raise NotImplementedError(f"remote_code_load: the destination {destination!r} is not offered; 'executable' is.")
        raise ValueError(f"remote_code_load: {destination!r} is not a destination; 'executable' is.")
    op("remote_code_load", [], {"destination": destination}, (graph,))


def code_copy(graph: "Graph", source: CODE_LOCATION, destination: CODE_LOCATION) -> None:
    """Raises NotImplementedError: code is only loaded."""
    raise NotImplementedError("code_copy is not offered; ops.remote_code_load loads code.")


__all__ = ["remote_code_load"]
