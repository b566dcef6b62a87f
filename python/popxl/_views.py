"""The door for a package above popxl that shows its programs in terms of its own, as popart does: the package says how, popxl asks by the
kind of what is shown."""
import importlib

# Loaded when somebody asks before it has registered: programs use these views without an import of it.
_PACKAGE = "popart"

_views = {}


def register(**views):
    """Says how kinds are shown: {kind: function of the objects}."""
    _views.update(views)


def view(kind, *objects):
    """What shows the objects. Raises ImportError where no package shows that kind."""
    if kind not in _views:
        importlib.import_module(_PACKAGE)
    if kind not in _views:
        raise ImportError(f"No package shows {kind!r}; {_PACKAGE} registers: {', '.join(sorted(_views)) or 'nothing'}.")
    return _views[kind](*objects)
