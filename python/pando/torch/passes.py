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


def _sum_of_mask(node):
    """(x, mask, the dimensions of x to sum over or None for all) of a sum of what a mask of bools picks, whose result has a shape that does not depend on data."""
    if node.op != "call_function" or node.target not in (aten.sum.default, aten.sum.dim_IntList):
        return None
    picked = node.args[0]
    indices = picked.args[1] if picked.target in (aten.index.Tensor, aten._unsafe_index.Tensor) else ()
    if len(indices) != 1 or indices[0].meta["val"].dtype is not torch.bool:
        return None
    x, mask = picked.args[0], indices[0]
    masked = len(mask.meta["val"].shape)
    if node.target is aten.sum.default or not node.args[1]:
        return x, mask, None
    rank = len(x.meta["val"].shape) - masked + 1
    dims = {d % rank for d in node.args[1]}
    return (x, mask, [*range(masked), *(d - 1 + masked for d in sorted(dims) if d)]) if 0 in dims else None


def sum_masked(graph_module):
    """Sums over what a mask picks, x[mask].sum(), become sums over all with zeros elsewhere: how many the mask picks depends on data."""
    graph = graph_module.graph
    for node in list(graph.nodes):
        found = _sum_of_mask(node)
        if found is None:
            continue
        x, mask, dims = found
        fake, picks = x.meta["val"], mask.meta["val"]
        with graph.inserting_before(node):
            wide = graph.call_function(aten.view.default, (mask, [*picks.shape, *[1] * (len(fake.shape) - len(picks.shape))]))
            wide.meta["val"] = picks.new_empty(wide.args[1])
            kept = graph.call_function(aten.where.ScalarOther, (wide, x, 0))
            kept.meta["val"] = fake.new_empty(fake.shape)
            whole = graph.call_function(aten.sum.dim_IntList, (kept, dims, False), {k: v for k, v in node.kwargs.items() if k == "dtype"})
            result = node.meta["val"]
            whole.meta["val"] = result.new_empty([d for i, d in enumerate(fake.shape) if dims is not None and i not in dims])
            shaped = graph.call_function(aten.view.default, (whole, list(result.shape)))
            shaped.meta.update(node.meta)
        node.replace_all_uses_with(shaped)
        graph.erase_node(node)
    graph.eliminate_dead_code()
