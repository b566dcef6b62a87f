"""Functions that run before and after a model is compiled."""
import collections
import contextlib

from torch.utils.hooks import RemovableHandle

_before, _after = collections.OrderedDict(), collections.OrderedDict()


def _register(hooks, function):
    if not callable(function):
        raise RuntimeError(f"A hook must be callable, not {type(function).__name__}.")
    handle = RemovableHandle(hooks)
    hooks[handle.id] = function
    return handle


def registerPreCompileHook(hook):
    """Calls a function without arguments before each compilation. Returns a handle that takes it back.

    Raises:
        RuntimeError: what is not callable.
    """
    return _register(_before, hook)


def registerPostCompileHook(hook):
    """Calls a function without arguments after each compilation, also after one that fails. See registerPreCompileHook."""
    return _register(_after, hook)


@contextlib.contextmanager
def compiling():
    """What compiles a model."""
    for hook in list(_before.values()):
        hook()
    try:
        yield
    finally:
        for hook in list(_after.values()):
            hook()
