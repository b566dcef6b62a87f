"""How popart shows popxl's programs. Views are imported when the first one is asked for."""
from popxl import _views

from .devices import DeviceManager
from .enums import VariableRetrievalMode
from .variable_settings import VariableSettings


def _shown_by(name):
    def show(*objects):
        from ._internal import ir

        return getattr(ir, name)(*objects)

    return show


def _variable_settings(stride, group_size, retrieval_mode):
    mode = VariableRetrievalMode.AllReplicas if retrieval_mode == "all_replicas" else VariableRetrievalMode.OnePerGroup
    return VariableSettings(stride, group_size, mode)


def _device(kind, *arguments):
    return getattr(DeviceManager(), kind)(*arguments)


def install():
    """Registers the views with popxl."""
    _views.register(
        op=_shown_by("_op_view"), graph=_shown_by("_graph_view"), ir=_shown_by("_ir_view"), tensor=_shown_by("_tensor_view"),
        session=_shown_by("_session_view"), expected_connection=_shown_by("ExpectedConnection"),
        replica_grouping=_shown_by("ReplicaGrouping"), variable_settings=_variable_settings, device=_device)
