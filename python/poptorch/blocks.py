"""Blocks of a model and how they run.

Blocks, stages and phases say which device of a machine runs what. Pando runs a PopTorch model on one device, whatever they say: the numbers are the same.
What they name is checked as PopTorch does.
"""
import functools

import torch

from poptorch import enums
from poptorch.errors import createPoptorchError
from poptorch.tracing import enter_block


class Block(torch.nn.Module):
    """A context manager: what is called inside belongs to a block."""

    def __init__(self, user_id=None, ipu_id=None):
        super().__init__()
        self._user_id, self._ipu_id = user_id, ipu_id

    def __enter__(self):
        enter_block(self._user_id, self._ipu_id)
        return self

    def __exit__(self, type, value, traceback):
        return None

    @staticmethod
    def useAutoId():
        """Blocks without a name are numbered from 0 again."""

    @staticmethod
    def start(user_id=None, ipu_id=None):
        """What is called from here on belongs to a block."""
        enter_block(user_id, ipu_id)


class _BlockHook:
    def __init__(self, user_id, ipu_id):
        self.user_id, self.ipu_id = user_id, ipu_id

    def __call__(self, module, inputs):
        enter_block(self.user_id, self.ipu_id)


class _Function(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self._function = function

    def forward(self, *args, **kwargs):
        return self._function(*args, **kwargs)


def BeginBlock(layer_to_call, user_id=None, ipu_id=None):
    """Says that a module, and what is called after it, belongs to a block. Returns the module, or a module that calls a function."""
    if not callable(layer_to_call):
        raise createPoptorchError("module is not an instance of torch.nn.Module or function.")
    module = layer_to_call if isinstance(layer_to_call, torch.nn.Module) else _Function(layer_to_call)
    if any(isinstance(h, _BlockHook) for h in module._forward_pre_hooks.values()):
        raise createPoptorchError("module has already been assigned to a block.")
    module.register_forward_pre_hook(_BlockHook(user_id, ipu_id))
    return module


def BlockFunction(user_id=None, ipu_id=None):
    """The decorator form of Block."""

    def decorate(function):
        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            with Block(user_id, ipu_id):
                return function(*args, **kwargs)

        return wrapped

    return decorate


def removeBlocks(module):
    """Takes all of BeginBlock's marks off a module and its children."""
    for m in module.modules():
        for key in [k for k, hook in m._forward_pre_hooks.items() if isinstance(hook, _BlockHook)]:
            del m._forward_pre_hooks[key]


class Stage:
    """Blocks that run together."""

    def __init__(self, *block_ids):
        assert all(isinstance(b, str) for b in block_ids), "Block ids are strings"
        self._blocks, self._stage_id, self._phase_id, self._ipu = list(block_ids), -1, -1, None

    @property
    def blocks(self):
        return self._blocks

    def ipu(self, ipu):
        self._ipu = ipu
        return self


class Phase:
    """Stages of one phase."""

    def __init__(self, *args):
        if all(isinstance(a, str) for a in args) and args:
            self.stages = [Stage(*args)]
        else:
            assert args and all(isinstance(a, Stage) for a in args), "A phase takes block ids, or stages"
            self.stages = list(args)

    def stage(self, idx):
        return self.stages[idx]

    def ipus(self, *ipus):
        assert len(ipus) == len(self.stages), "One IPU for each stage"
        for stage, ipu in zip(self.stages, ipus):
            stage.ipu(ipu)
        return self


def _stage_of(arg):
    if isinstance(arg, Stage):
        return arg
    return Stage(arg) if isinstance(arg, str) else Stage(*arg)


class _Strategy:
    pass


class _Staged(_Strategy):
    def __init__(self, *args):
        self._stages, self._auto = {}, enums.AutoStage.SameAsIpu
        if len(args) == 1 and isinstance(args[0], enums.AutoStage):
            self._auto = args[0]
            return
        for number, stage in enumerate(map(_stage_of, args)):
            stage._stage_id = number
            for block in stage.blocks:
                assert block not in self._stages, f"The block {block!r} is in two stages"
                self._stages[block] = stage

    def stage(self, block_id):
        assert block_id in self._stages, f"Unknown block {block_id!r}"
        return self._stages[block_id]


class PipelinedExecution(_Staged):
    """Stages of a pipeline."""


    def devices(self, blocks):
        """The device of each block that a model enters, in order."""
        found = []
        for user_id, ipu_id in blocks:
            stage = self._stages.get(user_id)
            if stage is None:
                device = ipu_id if self._auto == enums.AutoStage.SameAsIpu else None
                found.append(device if device is not None else len(found))
            else:
                found.append(stage._ipu if stage._ipu is not None else ipu_id if ipu_id is not None else stage._stage_id)
        return found

    def check(self, blocks, training, batches):
        """Raises poptorch.Error where a call has fewer micro-batches than a pipeline has stages."""
        devices = self.devices(blocks)
        forward = 1 + sum(a != b for a, b in zip(devices, devices[1:])) if devices else 1
        if forward == 1:
            return
        stages = 2 * forward - 1 if training else forward
        if batches >= stages:
            return
        option = "Training.gradientAccumulation" if training else "deviceIterations"
        message = (f"poptorch.Options().{option} must be greater than or equal to the number of pipeline stages ({stages}) when using "
                   "poptorch.PipelinedExecution.")
        if training:
            message += f" Please note that a model with {forward} pipeline stages in PopTorch will have an additional {forward - 1} stages when training."
        raise createPoptorchError(message)


class ShardedExecution(_Staged):
    """Stages one after the other."""


class _Phased(_Strategy):
    def __init__(self, *phases):
        self._phases = [p if isinstance(p, Phase) else Phase(*p) if isinstance(p, (list, tuple)) else Phase(p) for p in phases]

    def phase(self, phase):
        return self._phases[phase]

    def useSeparateBackwardPhase(self, use=True):
        return self


class SerialPhasedExecution(_Phased):
    """Phases one after the other."""

    def setTensorsLiveness(self, liveness):
        assert isinstance(liveness, enums.Liveness)
        return self


class ParallelPhasedExecution(_Phased):
    """Phases on two devices in turn."""

    def sendTensorsOffChipAfterFwd(self, off_chip=True):
        return self


class Attribute:
    """A context manager that attaches attributes to ops. They have no effect."""

    def __init__(self, **attributes):
        self._attributes = attributes

    def __enter__(self):
        return self

    def __exit__(self, type, value, traceback):
        return None


class NameScope:
    """A context manager that names ops."""

    def __init__(self, name):
        assert isinstance(name, str), "The name of a scope is a string"
        self.name = name

    def __enter__(self):
        return self

    def __exit__(self, type, value, traceback):
        return None


def check_strategy(strategy):
    """The strategy. Raises AssertionError for what is none."""
    if isinstance(strategy, enums.AutoStage):
        return PipelinedExecution(strategy)
    assert isinstance(strategy, _Strategy), "An execution strategy is expected"
    return strategy
