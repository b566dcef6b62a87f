"""How `Ir.create_graph` turns arguments of a function into inputs of a graph."""
import inspect
import typing

from popxl.context import _context
from popxl.module import Module
from popxl.tensor import Tensor, TensorByRef, TensorSpec, graph_input, graph_output


def create(ir, fn, args, kwargs):
    if isinstance(fn, Module):
        named, signed = type(fn).__qualname__ + ".build", fn.build
        if getattr(type(fn).build, "__qualname__", None):
            named = type(fn).build.__qualname__
    elif callable(fn):
        named, signed = getattr(fn, "__qualname__", type(fn).__qualname__), fn
    else:
        raise TypeError(f"create_graph takes a function or a popxl.Module, not {fn!r} of type {type(fn).__name__}.")
    signature = inspect.signature(signed)
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as error:
        raise ValueError(f"The arguments do not match the signature of {named}{signature}: {error}.") from error
    bound.apply_defaults()
    graph = ir._graph(ir._program.create_graph(f"{named.replace('.<locals>', '')}_subgraph({next(ir._graph_numbers)})"))
    _check_ir(ir)
    with graph:
        for name, parameter in signature.parameters.items():
            by_ref = _is_by_ref(parameter.annotation, signed)
            bound.arguments[name] = _replace(name, bound.arguments[name], parameter.kind, by_ref)
        outputs = fn(*bound.args, **bound.kwargs)
        for t in _as_tensors(outputs, named):
            graph_output(t)
    return graph


def _check_ir(ir):
    if _context._graphs and _context._graphs[-1].ir != ir:
        raise RuntimeError("The current graph is of another Ir.")


def _is_by_ref(annotation, function):
    if isinstance(annotation, str):
        try:
            annotation = eval(annotation, getattr(function, "__globals__", {}))
        except Exception:
            return False
    return annotation is TensorByRef or (typing.get_origin(annotation) in (list, tuple) and TensorByRef in typing.get_args(annotation))


def _is_tensor(value):
    return isinstance(value, (Tensor, TensorSpec))


def _input(name, value, by_ref):
    return graph_input(value.shape, value.dtype, name, by_ref, value.meta_shape)


def _replace(name, value, kind, by_ref):
    """An argument with inputs of the current graph in place of tensors."""
    if kind is inspect.Parameter.VAR_KEYWORD:
        _check_mixed(name, list(value.values()))
        return {key: _input(key, v, by_ref) if _is_tensor(v) else v for key, v in value.items()}
    if _is_tensor(value):
        return _input(name, value, by_ref)
    if isinstance(value, (list, tuple)) and any(_is_tensor(v) for v in value):
        _check_mixed(name, value)
        return [_input(f"{name}_{i}", v, by_ref) for i, v in enumerate(value)]
    return value


def _check_mixed(name, values):
    if any(map(_is_tensor, values)) and not all(map(_is_tensor, values)):
        raise TypeError(f"The argument {name!r} mixes tensors with other values: {values!r}.")


def _as_tensors(outputs, named):
    if outputs is None:
        return []
    if isinstance(outputs, Tensor):
        return [outputs]
    try:
        outputs = list(outputs)
    except TypeError:
        outputs = [outputs]
    for t in outputs:
        if not isinstance(t, Tensor):
            raise ValueError(f"{named} returns {t!r} of type {type(t).__name__}: nothing, a tensor or several tensors can become outputs of a graph.")
    return outputs
