"""Nested inputs and outputs of a model: tensors in tuples, lists, dicts and other mappings, named tuples, dataclasses and objects of registered classes.
Everything else is a constant."""
import abc
import collections.abc
import dataclasses

import torch

from pando.torch import trees
from poptorch.errors import createPoptorchError


class ICustomArgParser(abc.ABC):
    """Says where the tensors of an object are, so that it can be an input or output of a model."""

    @abc.abstractmethod
    def yieldTensors(self, struct):
        """Yields the tensors of an object, in an order of its own."""

    @abc.abstractmethod
    def reconstruct(self, original_structure, tensor_iterator):
        """A new object like another one, with tensors that an iterator gives in the order of `yieldTensors`."""


_parsers = {}


def registerCustomArgParser(arg_type, arg_parser):
    """Lets objects of a class be inputs or outputs of models. None in place of a parser takes it back.

    Raises:
        poptorch.Error: what is not an ICustomArgParser.
    """
    if arg_parser is None:
        _parsers.pop(arg_type, None)
        return
    if not isinstance(arg_parser, ICustomArgParser):
        raise createPoptorchError(f"A parser is an instance of a class derived from poptorch.ICustomArgParser, not {type(arg_parser).__name__}.")
    _parsers[arg_type] = arg_parser


def _parser_of(value):
    found = _parsers.get(type(value))
    if found is None:
        found = next((parser for cls, parser in _parsers.items() if isinstance(value, cls)), None)
    return found


class Structure:
    """The form of a nested value.

    kind: "tensor", "constant", "sequence", "dict" (a mapping), "fields" (a dataclass) or "custom"; value: the constant, or the object; keys: of a mapping, or
    the names of fields; parts: the structures inside.
    """

    def __init__(self, kind, cls=None, value=None, keys=(), parts=()):
        self.kind, self.cls, self.value, self.keys, self.parts = kind, cls, value, list(keys), list(parts)

    def name(self):
        """The class of the value, as messages name it."""
        return torch.Tensor if self.kind == "tensor" else self.cls


def flatten(value):
    """(the tensors of a value, its Structure)"""
    tensors = []
    return tensors, _flatten(value, tensors)


def _flatten(value, tensors):
    if isinstance(value, torch.Tensor):
        tensors.append(value)
        return Structure("tensor", type(value))
    parser = _parser_of(value)
    if parser is not None:
        found = list(parser.yieldTensors(value))
        tensors.extend(found)
        return Structure("custom", type(value), (parser, value), parts=[Structure("tensor", type(t)) for t in found])
    if isinstance(value, (tuple, list)):
        return Structure("sequence", type(value), parts=[_flatten(x, tensors) for x in value])
    if isinstance(value, collections.abc.Mapping):
        return Structure("dict", type(value), value, keys=value.keys(), parts=[_flatten(x, tensors) for x in value.values()])
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [f.name for f in dataclasses.fields(value)]
        return Structure("fields", type(value), value, keys=names, parts=[_flatten(getattr(value, n), tensors) for n in names])
    return Structure("constant", type(value), value)


def unflatten(structure, tensors):
    """A value of a form, with tensors that an iterator gives."""
    if structure.kind == "tensor":
        return next(tensors)
    if structure.kind == "constant":
        return structure.value
    if structure.kind == "custom":
        parser, original = structure.value
        return parser.reconstruct(original, iter([next(tensors) for _ in structure.parts]))
    parts = [unflatten(part, tensors) for part in structure.parts]
    if structure.kind == "sequence":
        return structure.cls(*parts) if hasattr(structure.cls, "_fields") else structure.cls(parts)
    items = dict(zip(structure.keys, parts))
    return trees.like_dataclass(structure.value, items) if structure.kind == "fields" else trees.like_mapping(structure.value, items)


def check_same(old, new, name):
    """Raises poptorch.Error if a value has another form than the one that a model is compiled for; `name` is what messages call it."""
    if old.kind != new.kind or (old.kind != "tensor" and old.cls is not new.cls):
        raise createPoptorchError(f"Type mismatch for {name}: expected {old.name()} but got {new.name()}.")
    if old.kind == "constant":
        if old.value is not new.value and old.value != new.value:
            raise createPoptorchError(f"Value mismatch for {name}: expected {old.value} but got {new.value}. Call destroy() to compile the model for another one.")
        return
    if old.kind == "dict":
        check_keys(old.keys, new.keys)
        by_key = dict(zip(new.keys, new.parts))
        for key, part in zip(old.keys, old.parts):
            check_same(part, by_key[key], f"{name}[{key!r}]")
        return
    if len(old.parts) != len(new.parts):
        raise createPoptorchError(f"Length mismatch for {name}: expected {len(old.parts)} but got {len(new.parts)}.")
    for i, (a, b) in enumerate(zip(old.parts, new.parts)):
        check_same(a, b, f"{name}[{i}]")


def check_keys(old, new):
    """Raises poptorch.Error that names what is missing and what is too much."""
    missing, unexpected = [str(k) for k in old if k not in new], [str(k) for k in new if k not in old]
    if missing:
        raise createPoptorchError(f"Missing arguments: {', '.join(missing)}.")
    if unexpected:
        raise createPoptorchError(f"Unexpected arguments: {', '.join(unexpected)}.")


def tensors_of(structure, value):
    """The tensors of a value, in the order of a structure of the same form: that of dicts may differ."""
    if structure.kind == "tensor":
        return [value]
    if structure.kind == "constant":
        return []
    if structure.kind == "custom":
        return list(structure.value[0].yieldTensors(value))
    parts = [value[key] for key in structure.keys] if structure.kind == "dict" else value
    if structure.kind == "fields":
        parts = [getattr(value, name) for name in structure.keys]
    return [t for part, x in zip(structure.parts, parts) for t in tensors_of(part, x)]
