"""Nested values: tensors in tuples, lists, dicts, other mappings, dataclasses and classes that PyTorch's pytree knows. What else they hold is constant."""
import collections.abc
import copy
import dataclasses
import enum

import torch

from pando.torch import adapter

_CONSTANTS = (type(None), bool, int, float, complex, str, bytes, enum.Enum, torch.dtype, torch.device, torch.memory_format)


@dataclasses.dataclass(frozen=True)
class Form:
    """What a nested value is without the contents of its tensors. Two values of the same form have the same program.

    `kind`: (class, what else tells it from others); `parts`: the forms inside; `make`: a function of the list of the parts.
    """

    kind: object
    parts: tuple = ()
    make: object = dataclasses.field(default=None, compare=False)

    def rebuild(self, tensors):
        """The value, with the tensors that an iterator gives."""
        return self.make([part.rebuild(tensors) for part in self.parts]) if self.kind is not torch.Tensor else next(tensors)


_TENSOR = Form(torch.Tensor)


def flatten(value, name, strict=True):
    """([(where it stands, tensor)], the Form) of a nested value. name: what messages call the value. strict: whether an object that is neither a tensor, a
    constant nor of a known class is an error; else None is in its place.

    Raises:
        TypeError: such an object.
    """
    found = []
    return found, _flatten(value, name, found, strict)


def _flatten(value, name, found, strict):
    if isinstance(value, torch.Tensor):
        found.append((name, value))
        return _TENSOR
    if isinstance(value, _CONSTANTS):
        return Form((type(value), repr(value)), (), lambda parts: value)
    level = _level(value)
    if level is None and not strict:
        return Form((type(value), None), (), lambda parts: None)
    if level is None:
        raise TypeError(f"{name} is {_a(type(value).__name__)}. Tensors are expected, numbers, strings and None, and tuples, lists, dicts and dataclasses of them; "
                        "torch.utils._pytree.register_pytree_node makes other classes known.")
    kind, children, make = level
    return Form(kind, tuple(_flatten(child, name + place, found, strict) for place, child in children), make)


def _a(name):
    return ("an " if name[:1].lower() in "aeio" else "a ") + name


def _level(value):
    """(kind, [(place, child)], a function of the list of children) of what holds values; None: it is of no known class."""
    known = adapter.tree_level(value)
    cls = type(value)
    if known is not None:
        children, make, kind = known
        places = [f"[{key!r}]" for key in value] if isinstance(value, dict) else [f"[{i}]" for i in range(len(children))]
        return (cls, kind), list(zip(places, children)), make
    if isinstance(value, collections.abc.Mapping):
        keys = list(value)
        return (cls, repr(keys)), [(f"[{key!r}]", value[key]) for key in keys], lambda parts: like_mapping(value, dict(zip(keys, parts)))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [f.name for f in dataclasses.fields(value)]
        return (cls, repr(names)), [(f".{n}", getattr(value, n)) for n in names], lambda parts: like_dataclass(value, dict(zip(names, parts)))
    return None


def like_mapping(like, items):
    """A mapping of the class of another one; it is a dict where the class takes no items."""
    if type(like) is dict:
        return items
    try:
        made = copy.copy(like)
        for key, item in items.items():
            made[key] = item
        return made
    except TypeError:
        return items


def like_dataclass(like, items):
    """An object like another one with other fields; __init__ and what it checks are not run."""
    made = copy.copy(like)
    for name, item in items.items():
        object.__setattr__(made, name, item)
    return made


def arguments(inputs, keywords=None):
    """(positional, by name): how a model is called. A tuple or list holds its arguments, a dict or another mapping those by name, else it is the one argument."""
    if isinstance(inputs, collections.abc.Mapping):
        given, named = (), dict(inputs)
    elif inputs is None:
        given, named = (), {}
    else:
        given, named = tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,), {}
    twice = sorted(set(named) & set(keywords or {}))
    if twice:
        raise TypeError(f"The model gets {', '.join(twice)} twice: in its inputs and as a keyword.")
    return given, {**named, **(keywords or {})}


def first(output):
    """What a model that computes its own loss gives as the loss: `loss` of an object or mapping, else the first of a tuple or list."""
    if isinstance(output, collections.abc.Mapping):
        return output.get("loss")
    if isinstance(output, (tuple, list)) and not hasattr(output, "loss"):
        return output[0] if output else None
    return getattr(output, "loss", output) if not isinstance(output, torch.Tensor) else output
