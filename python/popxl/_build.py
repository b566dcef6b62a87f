"""How ops come into graphs: the one way from functions of popxl.ops to the builder."""
from popxl._checks import describe
from popxl._views import view
from popxl.context import _context


def own_index(name, thing, ir):
    """The number of a stream or remote buffer, which `ir` owns. Raises ValueError if the current graph is of another Ir: there the number is
    another one's."""
    if ir is not _context.graph.ir:
        raise ValueError(f"{name}: {thing!r} is of another Ir.")
    return thing._index


def op(name, operands, attributes, graphs=(), in_place=False, output_name="", called=""):
    """Adds an op to the current graph.

    Args:
        name: of the row.
        operands: tensors of the current graph.
        attributes: by name; None is absent.
        graphs: that the op carries.
        in_place: the form with an underscore.
        output_name: of the results; "" for `<name>_out`.
        called: the function that messages name, where it is not called as the row is.

    Returns:
        its results, a list of tensors.

    Raises:
        TypeError: an operand is not a tensor.
        ValueError: an operand is of another graph.
        popart.popart_exception: types that do not fit.
    """
    graph = _context.graph
    ir = graph.ir
    if ir._synced_version != (id(_context), _context._version):
        _context._sync(ir)
    indices = []
    for t in operands:
        if not isinstance(t, Tensor):
            raise TypeError(f"{called or name + '_' * in_place}: {describe(t)} is not a tensor.")
        if t._ir is not ir:
            raise ValueError(f"{called or name + '_' * in_place}: {t!r} is of another Ir.")
        indices.append(t._index)
    program = ir._program
    try:
        results = program.op(graph._index, name, indices, attributes, [g._index for g in graphs], in_place, output_name or "")
    except Exception as error:
        own = name + "_" * in_place
        if not called or not str(error).startswith(own):
            raise
        raise type(error)(called + str(error)[len(own):]) from None
    if ir._watched or _context._hooks or _context._collectors:
        _after(graph, program.last_op())
    return [Tensor._new(ir, r) for r in results]


def one(name, operands, attributes, in_place=False, output_name="", called=""):
    """The same for an op of one result, or whose first result is what counts."""
    return op(name, operands, attributes, (), in_place, output_name, called)[0]


def _after(graph, index):
    for collector in _context._collectors:
        collector.append((graph, index))
    if graph._hooks or _context._hooks:
        shown = view("op", graph, index)
        for hook in [*_context._hooks.values(), *graph._hooks.values()]:
            hook(shown)


from popxl.tensor import Tensor  # noqa: E402  (it needs this module)
