"""Ops of PyTorch, forward and backward, that are made of others: what PyTorch itself does not take apart. A file for each family."""
import importlib
import pkgutil

# {overload: function}
COMPOSED = {}
for _file in sorted(module.name for module in pkgutil.iter_modules(__path__)):
    COMPOSED.update(importlib.import_module(f"{__name__}.{_file}").COMPOSED)
