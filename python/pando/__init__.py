"""Pando: an open stack for tile machines. The packages popxl, popart and popdist beside this one are its interfaces for programs.

    import pando
    pando.search(model, inputs, devices=4)    the best strategy for a model of PyTorch, or a popxl.Ir, over devices
    pando.emit(text, folder)                  a placed program as PyTorch for torchrun
    pando.__version__    the version of Pando (popxl.__version__ is that of the interfaces, which public programs ask for)

`pando` on the command line, or `python -m pando`, runs the tools: graphs, searches, simulations, Python on every tile.
"""
from pando._emit import emit
from pando._search import search
from pando._version import __version__

__all__ = ["__version__", "emit", "search"]
