"""Writes the type stub of popxl's native part.

    make_stub.py BUILD     BUILD/popxl/_core is the built native part
"""
import pathlib
import sys

from nanobind.stubgen import StubGen

build = pathlib.Path(sys.argv[1]).resolve()
sys.path.insert(0, str(build))

from popxl import _core  # noqa: E402

stub = StubGen(_core)
stub.put(_core)
(build / "popxl" / "_core.pyi").write_text(stub.get())
