"""PopXL: programs for tile machines, written as graphs of ops.

    import popxl
    import popxl.ops as ops

    ir = popxl.Ir()
    with ir.main_graph:
        x = popxl.variable(1.0)
        y = x + 1
        out = popxl.d2h_stream(y.shape, y.dtype)
        ops.host_store(out, y)
    with popxl.Session(ir, "ipu_model") as session:
        print(session.run()[out])
"""
import os as _os

try:
    from popxl import _core
except ImportError as _error:
    import sys as _sys

    raise RuntimeError(f"popxl's native part cannot be imported ({_error}). It is made for one version of Python; this is "
                       f"{_sys.version.split()[0]}.") from _error

_core.add_package(_os.path.dirname(_os.path.abspath(__file__)) + _os.sep)

from pando._version import sdk_version as _sdk_version  # noqa: E402
from popxl import dtypes  # noqa: E402
from popxl.dtypes import (  # noqa: E402,F401
    bool, complex64, complex128, double, dtype, float, float8_143, float8_152, float16, float32, float64, half, int8, int16, int32, int64, uint8, uint16,
    uint32, uint64)
from popxl.context import gcg, get_current_graph, get_ir, get_main_graph, gir, gmg, in_sequence, io_tiles, ipu, name_scope  # noqa: E402
from popxl.tensor import (  # noqa: E402
    Tensor, TensorByRef, TensorSpec, constant, graph_input, graph_output, remote_replica_sharded_variable, remote_variable, replica_sharded_buffer,
    replica_sharded_variable, variable)
from popxl.graph import Graph  # noqa: E402
from popxl.module import Module  # noqa: E402
from popxl.ir import Ir  # noqa: E402
from popxl.random_seed import create_seeds  # noqa: E402
from popxl.replica_grouping import ReplicaGrouping  # noqa: E402
from popxl.streams import DeviceToHostStream, HostToDeviceStream, d2h_stream, h2d_stream  # noqa: E402
from popxl.remote_buffer import RemoteBuffer, remote_buffer  # noqa: E402
from popxl.tensorlocation import ExecutionContext, ReplicatedTensorSharding, TensorLocation, TensorStorage, TileSet  # noqa: E402
from popxl.session import Session  # noqa: E402
from popxl import transforms  # noqa: E402

__version__ = _sdk_version

__all__ = [
    # context
    "get_current_graph", "get_main_graph", "get_ir", "gcg", "gmg", "gir", "in_sequence", "name_scope", "ipu", "io_tiles",
    # dtypes
    *dtypes.__all__,
    # graphs
    "Graph", "Ir", "Module", "create_seeds", "RemoteBuffer", "remote_buffer", "ReplicaGrouping", "HostToDeviceStream", "DeviceToHostStream", "h2d_stream",
    "d2h_stream",
    # tensors
    "Tensor", "variable", "remote_variable", "remote_replica_sharded_variable", "replica_sharded_variable", "constant", "graph_input", "graph_output",
    "TensorByRef", "TensorSpec", "TensorStorage", "TensorLocation", "ReplicatedTensorSharding", "TileSet", "ExecutionContext", "Session",
]
_ = (replica_sharded_buffer, transforms)
del _


# Imported when they are asked for; popxl.ops is a hundred small modules.
_LATER = ("across", "distribution", "errors", "fp8_utils", "ops", "testing", "typing_", "utils")


def __getattr__(name):
    if name in _LATER:
        import importlib

        return importlib.import_module("popxl." + name)
    raise AttributeError(f"module 'popxl' has no attribute {name!r}")
