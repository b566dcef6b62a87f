"""Blocks of a model and how they run.

Blocks, stages and phases say which device of a machine runs what. Pando runs a PopTorch model on one device, whatever they say: the numbers are the same.
What they name is checked as PopTorch does.
"""
import functools

import torch

from poptorch import enums
from poptorch.errors import createPoptorchError
from poptorch.tracing import enter_block, leave_block, number_blocks_again


class Block(torch.nn.Module):
    """A context manager: what is called inside belongs to a block."""

    def __init__(self, user_id=None, ipu_id=None):
        super().__init__()
        self._user_id, self._ipu_id = user_id, ipu_id

    def __enter__(self):
        self.__dict__.setdefault("_before", []).append(enter_block(self._user_id, self._ipu_id, self))
        return self

    def __exit__(self, type, value, traceback):
        leave_block(self.__dict__["_before"].pop())

    @staticmethod
    def useAutoId():
        """Blocks without a name are numbered from 0 again."""
        number_blocks_again()

    @staticmethod
    def start(user_id=None, ipu_id=None):
        """What is called from here on belongs to a block."""
        enter_block(user_id, ipu_id)


class _BlockHook:
    def __init__(self, user_id, ipu_id):
        self.user_id, self.ipu_id = user_id, ipu_id

    def __call__(self, module, inputs):
        enter_block(self.user_id, self.ipu_id, self)

    def __repr__(self):
        return f"BeginBlock(user_id={self.user_id}, ipu_id={self.ipu_id})"


class _Function(torch.nn.Module):
    def __init__(self, function, user_id, ipu_id):
        super().__init__()
        self._function, self._user_id, self._ipu_id = function, user_id, ipu_id

    def forward(self, *args, **kwargs):
        return self._function(*args, **kwargs)


def BeginBlock(layer_to_call, user_id=None, ipu_id=None):
    """Says that a module, and what is called after it, belongs to a block. Returns the module, or a module that calls a function."""
    if not callable(layer_to_call):
        raise createPoptorchError("module is not an instance of torch.nn.Module or function.")
    module = layer_to_call if isinstance(layer_to_call, torch.nn.Module) else _Function(layer_to_call, user_id, ipu_id)
    if _block_of(module) is not None:
        raise createPoptorchError("module has already been assigned to a block.")
    module.register_forward_pre_hook(_BlockHook(user_id, ipu_id))
    return module


def _block_of(module):
    """The mark of BeginBlock, or None."""
    return next((h for h in module._forward_pre_hooks.values() if isinstance(h, _BlockHook)), None)


def module_repr(m):
    """The text of a module, with the marks of BeginBlock in front of the modules that have one."""
    if all(_block_of(inner) is None for inner in m.modules()):
        return repr(m)
    lines = [line for line in m.extra_repr().split("\n") if line]
    children = [f"({name}): " + module_repr(child).replace("\n", "\n  ") for name, child in m.named_children()]
    lines += children
    text = m._get_name() + (f"({''.join(lines)})" if len(lines) < 2 and not children else "(\n  " + "\n  ".join(lines) + "\n)")
    mark = _block_of(m)
    return text if mark is None else f"{mark!r} {text}"


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
    def __init__(self):
        # {block: stage}; empty: all blocks have a stage.
        self._stages = {}

    def _add(self, stage):
        for block in stage.blocks:
            assert block not in self._stages, f"The block {block!r} is in two stages"
            self._stages[block] = stage

    def stage(self, block_id):
        """The stage of a block. Raises AssertionError for an unknown one."""
        assert block_id in self._stages, f"Unknown block {block_id!r}"
        return self._stages[block_id]

    def check(self, blocks, training, batches):
        """Raises AssertionError if a model enters a block that has no stage.

        Args:
            blocks: (name, device or None) of each block that the model enters, in order.
            training: whether the model is trained.
            batches: micro-batches of a call, or of an update.
        """
        for name, _ in blocks if self._stages else ():
            self.stage(name)


class _Staged(_Strategy):
    def __init__(self, *args):
        super().__init__()
        self._auto = enums.AutoStage.SameAsIpu
        if len(args) == 1 and isinstance(args[0], enums.AutoStage):
            self._auto = args[0]
            return
        for number, stage in enumerate(map(_stage_of, args)):
            stage._stage_id = number
            self._add(stage)


class PipelinedExecution(_Staged):
    """Stages of a pipeline."""

    def devices(self, blocks):
        """The device of each block that a model enters, in order."""
        found, numbers = [], {}
        for user_id, ipu_id in blocks:
            stage = self._stages.get(user_id)
            number = numbers.setdefault(user_id, len(numbers) + 1) if stage is None else stage._stage_id
            given = stage._ipu if stage is not None and stage._ipu is not None else ipu_id
            found.append(number if given is None else given)
        return found

    def check(self, blocks, training, batches):
        """Raises poptorch.Error where a call has fewer micro-batches than a pipeline has stages. See _Strategy.check."""
        super().check(blocks, training, batches)
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
        super().__init__()
        assert not any(isinstance(p, enums.AutoStage) for p in phases), "Phases have no automatic form: name their blocks"
        self._phases = [_phase_of(p) for p in phases]
        for number, phase in enumerate(self._phases):
            for stage in phase.stages:
                stage._phase_id = number
                self._add(stage)

    def phase(self, phase):
        """The phase of a number. Raises AssertionError if there is none."""
        assert isinstance(phase, int) and 0 <= phase < len(self._phases), f"Phase {phase!r}: there are {len(self._phases)}"
        return self._phases[phase]

    def useSeparateBackwardPhase(self, use=True):
        return self


def _phase_of(arg):
    if isinstance(arg, Phase):
        return arg
    return Phase(*arg) if isinstance(arg, (list, tuple)) else Phase(arg)


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
