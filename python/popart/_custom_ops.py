"""Operations that a program brings in C++, for PopART's own headers: they cannot be compiled here, and say so when they are used.

Such a file is compiled by the package cppimport when its module is imported. Programs import them far from where they use them, if at all; so the
import succeeds, whether cppimport is installed or not. Classes that somebody has registered (custom_ops.py) are composed of popxl's operations; using
anything else that should be in the module raises NotImplementedError.
"""
import importlib.abc
import importlib.machinery
import os
import sys


class _Absent(importlib.abc.Loader):
    def __init__(self, source):
        self._source = source

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        source, name = self._source, module.__name__

        def reject(attribute):
            if attribute.startswith("__"):
                raise AttributeError(attribute)
            from popart import custom_ops

            known = custom_ops.find(name, attribute)
            if known is not None:
                return known
            raise NotImplementedError(f"{name}.{attribute}: a custom operation in C++ for PopART's own headers ({source}), which Pando does not have. Say "
                                      "what it computes with popart.register_custom_op, or write it with popxl.ops or as a codelet for popc.")

        module.__getattr__ = reject


class _Nothing(importlib.abc.Loader):
    """In place of cppimport, where it is not installed: there is nothing for it to compile."""

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        module.__path__ = []


class _Hook(importlib.abc.Loader):
    """cppimport's own hook, which puts itself in front of the finders: behind this one."""

    def __init__(self, loader):
        self._loader = loader

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        self._loader.exec_module(module)
        install()


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name == "cppimport.import_hook":
            found = importlib.machinery.PathFinder.find_spec(name, path)
            if found is not None:
                found.loader = _Hook(found.loader)
                return found
        if name in ("cppimport", "cppimport.import_hook"):
            if importlib.machinery.PathFinder.find_spec(name, path) is None:
                return importlib.machinery.ModuleSpec(name, _Nothing(), is_package=name == "cppimport")
            return None
        for folder in path or ():
            source = os.path.join(folder, name.rpartition(".")[2] + ".cpp")
            if os.path.isfile(source) and _is_custom_op(source):
                return importlib.machinery.ModuleSpec(name, _Absent(source))
        return None


def _is_custom_op(source):
    with open(source, encoding="utf-8", errors="replace") as file:
        text = file.read()
    return "cppimport" in text.partition("\n")[0] and ("<popart/" in text or "\"popart/" in text or "popart::" in text)


_finder = _Finder()


def install():
    """Puts the finder in front of the others."""
    if _finder in sys.meta_path:
        sys.meta_path.remove(_finder)
    sys.meta_path.insert(0, _finder)
