"""PyTorch programs on Pando.

    model = torch.compile(model, backend="pando")                       # forward and backward as programs of Pando
    step = pando.torch.compile_step(model, loss, optimizer)             # a whole training step, weights resident
    ir = pando.torch.to_ir(model, inputs)                               # the program itself, for a search or a tool
    y = pando.torch.collectives.all_reduce(x)                           # in a model: the sum of what the replicas have

`import pando.torch` costs little: torch's compiler and Pando are imported when they are used.
"""
from pando.torch.registration import register

_HOMES = {"backend": "backend", "compile_step": "step", "to_ir": "ir", "TrainingStep": "step", "UnsupportedOps": "importer", "UnsupportedType": "types"}

_MODULES = ("collectives",)

__all__ = [*_HOMES, *_MODULES]


def __getattr__(name):
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    home = importlib.import_module(f"pando.torch.{_HOMES.get(name, name)}")
    value = getattr(home, name) if name in _HOMES else home
    globals()[name] = value
    return value


def __dir__():
    return [*globals(), *__all__]


register()
