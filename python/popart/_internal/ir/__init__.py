"""A PopXL program as PopART shows its insides: graphs, ops with their types, tensors, in views that can also take an op out or put one in."""
from popxl.tensorlocation import ExecutionContext, TileSet
from popxl.transforms.autodiff import ExpectedConnectionType

from . import op, patterns, view
from .gradients import BwdGraphInfo, ExpectedConnection
from .graph_view import Graph, TopoCons, view_of_op
from .identifiers import GraphId, NumInputs, OperatorIdentifier
from .ir_view import Ir
from .op_view import Op
from .replica_grouping import ReplicaGrouping
from .session_view import Session
from .tensor_view import Tensor, TensorInfo, TensorType


def _op_view(graph, index):
    """The view of an op of a popxl.Graph, by its number: what hooks are given."""
    return view_of_op(graph.ir, index)


def _tensor_view(tensor):
    """The view of a popxl.Tensor."""
    return Tensor(tensor.ir, tensor._index)


def _graph_view(graph):
    """The view of a popxl.Graph."""
    return Graph(graph)


def _ir_view(ir):
    """The view of a popxl.Ir."""
    return Ir(ir)


def _session_view(session):
    """The view of a popxl.Session."""
    return Session(session)
