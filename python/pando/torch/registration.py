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
    """Waits for PyTorch's table of backends, which torch.compile imports."""

    def find_spec(self, name, path, target=None):
        if name != _REGISTRY:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        run = spec.loader.exec_module

        def exec_module(module):
            run(module)
            _add(module)

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


def register():
    """Makes torch.compile(model, backend="pando") known in this process. An installed Pando says so in its metadata, too."""
    _compile_masks()
    if _REGISTRY in sys.modules:
        _add(sys.modules[_REGISTRY])
    elif not any(isinstance(finder, _WhenImported) for finder in sys.meta_path):
        sys.meta_path.insert(0, _WhenImported())
