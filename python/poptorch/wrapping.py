"""A module that trains on a device: whatever reads a weight of it sees the weight that the device has learnt."""
import functools
import weakref

import torch

from poptorch.grouping import Groupable


def _fetch(tensor):
    """Brings the weights to the host if the device's are newer."""
    reference = tensor.__dict__.get("_poptorch_executor")
    executor = reference() if reference else None
    if executor is not None:
        executor.copyWeightsToHostIfNeeded()


def _fetch_all(things):
    for x in things:
        if isinstance(x, (_Parameter, _Buffer)):
            _fetch(x)
        elif isinstance(x, (list, tuple)):
            _fetch_all(x)


class _Reading:
    """A tensor that is up to date whenever a function of torch takes it."""

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        _fetch_all(args)
        _fetch_all((kwargs or {}).values())
        with torch._C.DisableTorchFunctionSubclass():
            return function(*args, **(kwargs or {}))

    def __reduce_ex__(self, protocol):
        _fetch(self)
        plain = torch.nn.Parameter(self.detach().as_subclass(torch.Tensor), self.requires_grad) if isinstance(self, torch.nn.Parameter) \
            else self.detach().as_subclass(torch.Tensor)
        return plain.__reduce_ex__(protocol)

    def __deepcopy__(self, memo):
        _fetch(self)
        plain = self.detach().as_subclass(torch.Tensor).clone()
        memo[id(self)] = other = torch.nn.Parameter(plain, self.requires_grad) if isinstance(self, torch.nn.Parameter) else plain
        return other


class _Parameter(_Reading, Groupable, torch.nn.Parameter):
    def _executor_of_groups(self):
        return self.__dict__["_poptorch_executor"]()


class _Buffer(_Reading, torch.Tensor):
    pass


class Trainer:
    """What a module knows of the executor that trains it: a call gives it, or None. A module that is loaded from a file has none."""

    def __init__(self, executor=None):
        self.loaded = executor is None
        self._reference = weakref.ref(executor) if executor is not None else None

    def __call__(self):
        return self._reference() if self._reference is not None else None

    def __reduce__(self):
        from poptorch import _impl

        return _impl._restoreWrapperIfNecessary, ()

    def __deepcopy__(self, memo):
        return Trainer()


def _destroy(module):
    """destroy() of a wrapped module: that of its executor."""
    executor = module.__dict__["_poptorch_trainer"]()
    executor.destroy() if executor is not None else unwrap(module, entirely=True)


def wrap(module, executor, again=False):
    """Marks the weights of a module. Raises RuntimeError if it is wrapped already."""
    trainer = module.__dict__.get("_poptorch_trainer")
    if trainer is not None and not trainer.loaded and not again:
        raise RuntimeError("Model has already been wrapped in 'poptorch.trainingModel'. Call model.destroy() on the model to unwrap before wrapping again.")
    reference = Trainer(executor)
    module.__dict__["_poptorch_trainer"] = reference
    module.__dict__["destroy"] = functools.partial(_destroy, module)
    for tensors, wrapper in ((module.parameters(), _Parameter), (module.buffers(), _Buffer)):
        for t in tensors:
            if type(t) in (torch.nn.Parameter, torch.Tensor):
                t.__class__ = wrapper
            if isinstance(t, _Reading):
                t.__dict__["_poptorch_executor"] = reference


def unwrap(module, entirely=False):
    """Plain weights again. `entirely`: the module is not one that trains any more."""
    for tensors, plain in ((module.parameters(), torch.nn.Parameter), (module.buffers(), torch.Tensor)):
        for t in tensors:
            if isinstance(t, _Reading):
                t.__dict__.pop("_poptorch_executor", None)
                t.__class__ = plain
    if entirely:
        for name in ("_poptorch_trainer", "_poptorch_runs", "destroy"):
            module.__dict__.pop(name, None)
