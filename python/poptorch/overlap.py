"""Which inputs and outputs of a model are transferred while it computes: what a model says of it is checked."""
import torch

from poptorch import enums
from poptorch.errors import createPoptorchError


class Overlaps:
    """Marks of one trace. Tensors are told apart by what they are, not by their contents."""

    def __init__(self):
        # Tensors stay alive as long as the trace, so that an id has one meaning.
        self._inputs, self._outputs, self._used, self._kept = [], [], set(), []
        self._marking = False

    def __bool__(self):
        return bool(self._inputs or self._outputs)

    def note(self, args, kwargs):
        """The arguments of an op: an input that has a mark may have no other use."""
        if self._marking:
            return
        for x in (*args, *kwargs.values()):
            for t in x if isinstance(x, (list, tuple)) else [x]:
                if isinstance(t, torch.Tensor):
                    self._used.add(id(t))
                    self._kept.append(t)

    def _mark(self, tensor, list_):
        self._marking = True
        marked = tensor.view_as(tensor)
        self._marking = False
        list_.append((tensor, marked))
        return marked

    def mark_input(self, tensor):
        """Another name for an input."""
        return self._mark(tensor, self._inputs)

    def mark_output(self, tensor):
        """Another name for an output."""
        return self._mark(tensor, self._outputs)

    def check(self, inputs, outputs, options):
        """Raises poptorch.Error for marks that mean nothing.

        Args:
            inputs, outputs: of the model, tensors.
            options: poptorch.Options.
        """
        if not self:
            return
        for tensor, _ in self._inputs:
            number = next((i for i, t in enumerate(inputs) if t is tensor), None)
            if number is None:
                raise createPoptorchError("poptorch.set_overlap_for_input applied on a node which is not a tensor input to the model.")
            if id(tensor) in self._used or any(t is tensor for t in outputs):
                raise createPoptorchError(f"poptorch.set_overlap_for_input must be the only op applied to an input. This is not the case for input {number} "
                                          "to the model.")
        for tensor, marked in self._outputs:
            count = sum(t is marked for t in outputs)
            if count == 0:
                raise createPoptorchError("poptorch.set_overlap_for_output applied on a node which is not a tensor output to the model.")
            if count > 1 or any(t is tensor for t in outputs):
                raise createPoptorchError("poptorch.set_overlap_for_output cannot be used with a tensor that is returned twice. Please check all returned "
                                          "tensors including those nested in tuples/lists.")
        self._check_options(options)

    def _check_options(self, options):
        from poptorch.blocks import PipelinedExecution

        if isinstance(options._execution_strategy, PipelinedExecution):
            raise createPoptorchError("Overlapped IO is not supported with poptorch.PipelinedExecution. If you are using only one IPU, please switch to "
                                      "poptorch.ShardedExecution.")
        if not options.TensorLocations.exists("numIOTiles"):
            raise createPoptorchError("No IO tiles allocated. You must allocate at least 32 IO tiles using poptorch.Options().TensorLocations.numIOTiles.")
        if self._outputs and options.output_mode not in (enums.OutputMode.All, enums.OutputMode.Sum):
            raise createPoptorchError(f"poptorch.set_overlap_for_output needs OutputMode.All or OutputMode.Sum, not {options.output_mode.name}.")
