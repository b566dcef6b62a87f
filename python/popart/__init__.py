"""The part of PopART that PopXL programs import: exceptions, devices, enumerations, settings. A program itself is written with popxl."""
import popxl
from popxl._core import poplar_application_runtime_error, popart_exception

from ._custom_ops import install as _install
from ._views import install as _install_views
from .debug_info import closePoplarDebugInfo, initializePoplarDebugInfo
from .devices import DeviceInfo, DeviceManager
from .enums import (CommGroupType, DataType, DeviceConnectionType, DeviceSelectionCriterion, DeviceType, ReductionType, SyncPattern,
                    VariableRetrievalMode, VirtualGraphMode)
from .inference_session import AnchorReturnType, DataFlow, InferenceSession, PyStepIO
from .logger import Logger, getLogger
from .variable_settings import CommGroup, VariableSettings
from .weights_io import PyWeightsIO

__version__ = popxl.__version__

_install()
_install_views()


def register_custom_op(name, compose):
    """Says what a custom operation in C++ computes, as a composition of popxl's operations: popart.custom_ops.register_custom_op."""
    from .custom_ops import register_custom_op as register

    register(name, compose)


def versionString():
    """The version, and that it is Pando's."""
    return f"{popxl.__version__} (Pando)"


def versionNumber():
    """(major, minor, point)"""
    return tuple(int(part) for part in popxl.__version__.split(".")[:3])
