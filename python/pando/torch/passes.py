"""What is rewritten in a functional graph before it is imported."""
import torch
import torch.fx

aten = torch.ops.aten
_EXPANSIONS = {aten.expand.default, aten.expand_copy.default}
_SCATTERS = {aten.scatter.src, aten.scatter.value, aten.scatter_add.default, aten.scatter_reduce.two}


def _along(node, axis):
    """The node whose elements along one axis an index repeats in all other dimensions, or None."""
    if not isinstance(node, torch.fx.Node) or node.target not in _EXPANSIONS:
        return None
    base, shape = node.args[0].meta["val"].shape, node.meta["val"].shape
    # Dimensions that the expansion adds stand in front.
    base = [1] * (len(shape) - len(base)) + list(base)
    return node.args[0] if all(d == (shape[i] if i == axis else 1) for i, d in enumerate(base)) else None


def remove_index_expansions(graph_module):
    """Indices that gather and scatter would repeat for each element of a slice become indices of slices: whole slices move.

    torch.gather becomes aten.index_select. A scatter keeps its name and gets an index of one dimension, which its rule knows.

    Returns:
        [(the node's name, whether it is a gather)]
    """
    found = []
    for node in list(graph_module.graph.nodes):
        gathers = node.target is aten.gather.default
        if node.op != "call_function" or not (gathers or node.target in _SCATTERS):
            continue
        x, dim, index = node.args[:3]
        shape, wanted = x.meta["val"].shape, index.meta["val"].shape
        axis = dim % len(shape) if shape else 0
        base = _along(index, axis) if len(shape) > 1 and all(a == b for i, (a, b) in enumerate(zip(shape, wanted)) if i != axis) else None
        if base is None:
            continue
        with graph_module.graph.inserting_before(node):
            row = graph_module.graph.call_function(aten.view.default, (base, [wanted[axis]]))
            row.meta["val"] = base.meta["val"].new_empty([wanted[axis]])
        if gathers:
            node.target, node.args, node.kwargs = aten.index_select.default, (x, dim, row), {}
        else:
            node.args = (x, dim, row, *node.args[3:])
        found.append((node.name, gathers))
    if found:
        graph_module.graph.eliminate_dead_code()
    return found
