"""PopTorch's interface on Pando: PyTorch models for tile machines.

    model = poptorch.inferenceModel(module)             # a call runs a program
    model = poptorch.trainingModel(module, options, optimizer)

What PopTorch says of hardware is accepted and has no effect (see docs/guide/poptorch.md).
"""
from poptorch import _impl, compat, custom_ops, enums, functions as ops, logging as _logging, optim, options, poptorch_core, profiling  # noqa: F401
from poptorch.blocks import (Attribute, BeginBlock, Block, BlockFunction, NameScope, ParallelPhasedExecution, Phase, PipelinedExecution,  # noqa: F401
                             SerialPhasedExecution, ShardedExecution, Stage, module_repr, removeBlocks)
from poptorch.accessor import AsynchronousDataAccessor  # noqa: F401
from poptorch.ctc import ctc_beam_search_decoder  # noqa: F401
from poptorch.custom_ops import custom_op  # noqa: F401
from poptorch.dataloader import DataLoader  # noqa: F401
from poptorch.enums import *  # noqa: F401,F403
from poptorch.errors import Error, RecoverableError, UnrecoverableError, createPoptorchError  # noqa: F401
from poptorch.executor import PoplarExecutor, inferenceModel, trainingModel  # noqa: F401
from poptorch.functions import (CPU, MultiConv, cond, dynamic_slice, dynamic_update, for_loop, fps, identity_loss, ipu_print_tensor, nearest, nop,  # noqa: F401
                                recomputationCheckpoint, serializedMatMul, set_available_memory, set_overlap_for_input, set_overlap_for_output)
from poptorch.hooks import registerPostCompileHook, registerPreCompileHook  # noqa: F401
from poptorch.logging import logger, setLogLevel  # noqa: F401
from poptorch.options import Options, TensorLocationSettings  # noqa: F401
from poptorch.saving import load  # noqa: F401
from poptorch.structure import ICustomArgParser, registerCustomArgParser  # noqa: F401
from poptorch.tracing import isRunningOnIpu  # noqa: F401
from pando._version import sdk_version as _sdk_version

__version__ = _sdk_version
compat.restore()


def ipuHardwareIsAvailable(num_ipus=1):
    """False: there is no hardware."""
    return False


def ipuHardwareVersion():
    """Raises AssertionError: there is no hardware."""
    raise AssertionError("There is no IPU hardware.")
