"""Tells torch.compile of the backend "pando", without importing its compiler."""
import importlib.abc
import importlib.util
import sys

_REGISTRY = "torch._dynamo.backends.registry"


def _backend(graph_module, example_inputs, **options):
    from pando.torch.backend import backend

    return backend(graph_module, example_inputs, **options)


def _add(registry):
    registry.register_backend(compiler_fn=_backend, name="pando")


class _WhenImported(importlib.abc.MetaPathFinder):
    """Waits for a module of PyTorch and calls a function with it."""

    def __init__(self, name, function):
        self._name, self._function = name, function

    def find_spec(self, name, path, target=None):
        if name != self._name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        run = spec.loader.exec_module

        def exec_module(module):
            run(module)
            self._function(module)

        spec.loader.exec_module = exec_module
        return spec


def _compile_masks():
    """Lets graphs of torch.compile have layers of nn.Transformer with masks: outside of a graph they look at a mask's values to see whether it is causal, at which
    a graph ends. In a graph a mask that is given is applied, whatever it is."""
    import torch
    from torch.nn.modules import transformer

    looks = getattr(transformer, "_detect_is_causal_mask", None)
    if looks is None or hasattr(looks, "looks"):
        return

    def detect_is_causal_mask(mask, is_causal=None, size=None):
        if torch.compiler.is_compiling():
            return bool(is_causal)
        return looks(mask, is_causal, size)

    detect_is_causal_mask.looks = looks
    transformer._detect_is_causal_mask = detect_is_causal_mask


def _allow_flex_gradients(module):
    """Lets graphs of torch.compile have flex_attention with gradients on the host, of which its function says that it has none."""
    import torch

    checks = getattr(module, "_validate_device", None)
    if checks is None:
        return

    def validate_device(query, key, value):
        if not torch.compiler.is_compiling():
            checks(query, key, value)

    module._validate_device = validate_device


def _once_imported(name, function):
    """Calls a function with a module of PyTorch: now, or when it is imported."""
    if name in sys.modules:
        function(sys.modules[name])
    else:
        sys.meta_path.insert(0, _WhenImported(name, function))


def register():
    """Makes torch.compile(model, backend="pando") known in this process. An installed Pando says so in its metadata, too."""
    _compile_masks()
    _once_imported(_REGISTRY, _add)
    _once_imported("torch.nn.attention.flex_attention", _allow_flex_gradients)
