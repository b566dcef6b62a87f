"""Ops of PyTorch, forward and backward, that are made of others: what PyTorch itself does not take apart. A file for each family."""
import importlib
import pkgutil

# {overload: function}
COMPOSED = {}
# {function of PyTorch: what is called in its place while a graph is traced}
FUNCTIONS = {}
# {name: function} of ops that other packages bring.
FOREIGN = {}
for _file in sorted(module.name for module in pkgutil.iter_modules(__path__)):
    _module = importlib.import_module(f"{__name__}.{_file}")
    COMPOSED.update(_module.COMPOSED)
    FOREIGN.update(getattr(_module, "FOREIGN", {}))
    FUNCTIONS.update(getattr(_module, "FUNCTIONS", {}))
