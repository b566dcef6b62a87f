"""Sums of many tensors."""


def decompose_sum(graph):
    """Makes sums of several gradients a chain of additions, each as soon as its operand is there: what is summed needs not live until the end.

    Args:
        graph: changes.

    Returns:
        the graph.
    """
    graph.ir._program.decompose_sums(graph._index)
    return graph
