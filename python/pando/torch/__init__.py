"""PyTorch programs on Pando.

    model = torch.compile(model, backend="pando")                       # forward and backward as programs of Pando
    step = pando.torch.compile_step(model, loss, optimizer)             # a whole training step, weights resident
    ir = pando.torch.to_ir(model, inputs)                               # the program itself, for a search or a tool

`import pando.torch` costs little: torch's compiler and Pando are imported when they are used.
"""
from pando.torch.registration import register

_HOMES = {"backend": "backend", "compile_step": "step", "to_ir": "ir", "TrainingStep": "step", "UnsupportedOps": "importer", "UnsupportedType": "types"}

__all__ = [*_HOMES]


def __getattr__(name):
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    value = getattr(importlib.import_module(f"pando.torch.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__():
    return [*globals(), *__all__]


register()
