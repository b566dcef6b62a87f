"""PyTorch programs on Pando.

    model = torch.compile(model, backend=pando.torch.backend)           # forward and backward as programs of Pando
    step = pando.torch.compile_step(model, loss, optimizer)             # a whole training step, weights resident

`import pando.torch` costs little: torch's compiler and Pando are imported when they are used.
"""
_HOMES = {"backend": "backend", "compile_step": "step", "TrainingStep": "step", "UnsupportedOps": "importer", "UnsupportedType": "types"}

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
