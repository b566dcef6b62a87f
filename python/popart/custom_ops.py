"""Custom operations by the names of their module and C++ class, composed of popxl's own operations.

Their C++ is written for PopART's headers and cannot be compiled here (_custom_ops.py). A program that has such a class says what it computes:

    def twice(operands, factor):
        return [operands[0] * (2.0 * factor)]

    popart.register_custom_op("twice_binding.TwiceOp", twice)

From then on the class is there, with the one method that Python calls:

    Class.createOpInGraph(graph, {index: operand's id}, {index: result's id}, *arguments, settings)

The gradients are those of what the results are composed of. Those of widely used libraries are registered already (_known_ops.py).
"""
from popart._internal.ir import access
from popart._internal.ir.op_view import Op

_registered = {}


class _Created(Op):
    """The op that a caller sees: the last one of the composition, with the results of the whole."""

    def __init__(self, ir, number, op_type, results):
        super().__init__(ir, number, op_type)
        self._given = [t._index for t in results]

    def _results(self):
        return self._given


def _as_used(t):
    """What ops see of a tensor: of a sharded variable, the replica's shard."""
    import popxl

    return popxl.Tensor._make(popxl.Tensor, t._ir, t._index)


def _class_of(name, compose):
    def create(graph, operands, results, *arguments, settings=None, **named):
        if settings is None:
            arguments = arguments[:-1]
        popxl_graph = graph._graph
        given = [_as_used(popxl_graph.get_tensor(operands[i])) for i in sorted(operands)]
        with popxl_graph:
            made = compose(given, *arguments, **named)
        ir = popxl_graph.ir
        for index, tensor_id in results.items():
            access.rename(ir, access.tensor_number(made[index]), tensor_id)
        return _Created(ir, access.program(ir).last_op(), name, made)

    return type(name, (), {"createOpInGraph": staticmethod(create), "__doc__": compose.__doc__})


def register_custom_op(name, compose):
    """Says what a custom operation computes.

    name: "module.Class": the last part of the name of the module that should have the class, and the class.
    compose: a function (operands, *arguments) -> results, of popxl tensors; both lists are in the order of their indices. It runs in the graph that the
        operation is created in. Keyword arguments of createOpInGraph, other than settings, are handed on.

    A name that is registered gets the new function. ValueError: the name has not two parts; TypeError: compose cannot be called.
    """
    module, _, class_name = name.rpartition(".")
    if not (module.isidentifier() and class_name.isidentifier()):
        raise ValueError(f"register_custom_op: {name!r}; expected 'module.Class', with the last part of the module's name")
    if not callable(compose):
        raise TypeError(f"register_custom_op: {name}: {compose!r} cannot be called; expected a function (operands, *arguments) -> results")
    _registered[name] = compose


def find(module, name):
    """The class of a name in a module of a name, or None: another module may have another class of that name."""
    row = f"{module.rpartition('.')[2]}.{name}"
    compose = _registered.get(row)
    if compose is None:
        from popart import _known_ops

        compose = _known_ops.ROWS.get(row)
    return None if compose is None else _class_of(name, compose)
