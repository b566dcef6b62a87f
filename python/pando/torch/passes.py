"""What is rewritten in a functional graph before it is imported."""
import torch
import torch.fx

aten = torch.ops.aten
_STRIDED = {aten.as_strided.default, aten.as_strided_.default, aten.as_strided_copy.default}
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


def _order(x):
    """The dimensions of a tensor from the outermost in memory to the innermost if its elements lie one behind the other, or None."""
    order = sorted(range(x.dim()), key=lambda d: (-x.stride(d), -x.shape[d]))
    step = 1
    for d in reversed(order):
        if x.shape[d] != 1 and x.stride(d) != step:
            return None
        step *= x.shape[d]
    return order


def _last(size, stride):
    """How far behind the first element the last one lies."""
    return sum((n - 1) * s for n, s in zip(size, stride))


def _storage(node):
    return node.meta["val"].untyped_storage()._cdata


def _views(node):
    """A node and those that it is a view of, the outermost first."""
    chain = [node]
    while node.op == "call_function" and node.args and isinstance(node.args[0], torch.fx.Node) and _storage(node.args[0]) == _storage(node):
        node = node.args[0]
        chain.insert(0, node)
    return chain


def relate_strides(graph_module):
    """Makes what as_strided says of places in memory places in a tensor whose elements lie in row-major order.

    Of a view that is the tensor that it is a view of, as far as as_strided may read beside the view.

    Raises:
        NotImplementedError: elements that lie beside an input, or beside what an op makes.
    """
    from pando.torch.importer import line_of

    for node in list(graph_module.graph.nodes):
        if node.op != "call_function" or node.target not in _STRIDED:
            continue
        args = dict(zip([a.name for a in node.target._schema.arguments], node.args), **node.kwargs)
        x, size, stride, place = args["self"], args["size"], args["stride"], args.get("storage_offset")
        place = x.meta["val"].storage_offset() if place is None else place
        for base in _views(x):
            fake, order = base.meta["val"], _order(base.meta["val"])
            first = place - fake.storage_offset()
            if order is not None and (0 in size or first >= 0 and first + _last(size, stride) < fake.numel()):
                break
        else:
            line = line_of(node)
            raise NotImplementedError(f"{node.target} reads elements beside its tensor of the shape {tuple(x.meta['val'].shape)}; a program has the tensor alone. "
                                      "Give the tensor that has them." + (f" {line}" if line else ""))
        if order != list(range(len(order))):
            with graph_module.graph.inserting_before(node):
                base = graph_module.graph.call_function(aten.permute.default, (base, order))
            base.meta["val"] = fake.permute(order)
        node.args, node.kwargs = (base, size, stride, first), {}
