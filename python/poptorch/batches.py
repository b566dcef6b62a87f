"""How the tensors of a call are cut into micro-batches and put together again."""
import numpy as np
import torch

from poptorch import enums
from poptorch.errors import createPoptorchError

NARROWED = {torch.int64: torch.int32, torch.float64: torch.float32, torch.bfloat16: torch.float32}


def narrowed(t):
    """A tensor in the element type that a program has for it."""
    return t.to(NARROWED.get(t.dtype, t.dtype))


def traced(t):
    """A tensor as a model sees it while it is traced: PyTorch asks for int64 in many places, so that stays."""
    return t if t.dtype == torch.int64 else narrowed(t)


class Batches:
    """The micro-batches of a call. The first dimension of an input counts them: steps outermost, then accumulation, then groups of replicas.

    Args:
        options: poptorch.Options.
        training: whether gradients are accumulated.
    """

    def __init__(self, options, training):
        self._options = options
        self.steps, self.replicas = options.device_iterations, options.replication_factor
        # Processes that train the model together (popdist.poptorch.Options).
        self.instances = getattr(options, "total_replicas", self.replicas) // self.replicas if training else 1
        self.accumulation = options.Training.gradient_accumulation if training else 1

    @property
    def parts(self):
        """Micro-batches of an input."""
        return self.steps * self.accumulation * (self.replicas // self._options.input_group_size)

    def one(self, t):
        """One micro-batch of a tensor.

        Raises:
            AssertionError: it cannot be cut into as many as a call has.
            poptorch.Error: it has no elements.
        """
        if 0 in t.shape:
            raise createPoptorchError(f"Zero-sized tensors are unsupported (Got shape {list(t.shape)})")
        if t.dim() == 0 or self.parts == 1:
            return t
        assert t.shape[0] % self.parts == 0, (
            f"Invalid batch dimension: In the input {tuple(t.shape)}, the batch dimension ({t.shape[0]}) must be a multiple of "
            f"Options.deviceIterations({self.steps}) * Options.replicationFactor({self.replicas}) * "
            f"Options.Training.gradientAccumulation({self.accumulation}) = {self.parts} because it is used to calculate the "
            "batch size which will be executed on the device in any given iteration.")
        return t[:t.shape[0] // self.parts]

    def all(self, t):
        """A tensor as an array (micro-batches, replicas, ...), without leading dimensions of 1."""
        t = traced(t.detach())
        lead = [self.steps * self.accumulation, self.replicas]
        if t.dim() == 0:
            t = t.expand(lead)
        else:
            groups = self.replicas // self._options.input_group_size
            t = t.reshape(lead[0], groups, t.shape[0] // self.parts, *t.shape[1:])
            if groups != self.replicas:
                consecutive = self._options.input_group_type == enums.CommGroupType.Consecutive
                times = self.replicas // groups
                t = t.repeat_interleave(times, 1) if consecutive else t.repeat(1, times, *[1] * (t.dim() - 2))
        array = t.reshape([n for n in lead if n > 1] + list(t.shape[2:])).contiguous().numpy()
        if self._options.enable_synthetic_data and array.dtype.kind == "f":
            return np.random.default_rng(0).standard_normal(array.shape).astype(array.dtype)
        return array

    def returned(self, mode, period):
        """How many micro-batches of all replicas a call returns of an output."""
        all_batches = self.steps * self.accumulation
        return self.replicas * (1 if mode in (enums.OutputMode.Final, enums.OutputMode.Sum) else
                                all_batches // period if mode == enums.OutputMode.EveryN else all_batches)

    def combined(self, array, mode, shape, period=1):
        """What a call returns of the arrays of all micro-batches, each of a shape."""
        t = torch.from_numpy(np.ascontiguousarray(array)).reshape(self.steps * self.accumulation, self.replicas, *shape)
        if mode == enums.OutputMode.Final:
            t = t[-1:]
        elif mode == enums.OutputMode.EveryN:
            t = t[period - 1::period]
        elif mode == enums.OutputMode.Sum:
            t = t.sum(0, keepdim=True).to(t.dtype)
        count = t.shape[0] * self.replicas
        if not shape:
            return t.reshape(()) if count == 1 else t.reshape(count)
        return t.reshape(count * shape[0], *shape[1:])
