"""The program of a model, without running it: what a search, a transform or a tool takes."""
import torch

from pando.torch import adapter
from pando.torch.decompositions import decompositions
from pando.torch.program import Program, take_writes
from pando.torch.step import compile_step


def _tuple(x):
    return tuple(x) if isinstance(x, (tuple, list)) else (x,)


def to_ir(model, inputs, targets=None, *, loss=None, optimizer=None, **options):
    """The popxl.Ir of a model: of a training step if there is an optimizer, else of its outputs.

    Args:
        model: an nn.Module.
        inputs, targets: a tensor or a tuple of them, of one micro-batch. Only their shapes and element types count. Streams are named input_0, input_1 ...,
            inputs first; variables as the model names them.
        loss, optimizer, options: see compile_step.

    Raises:
        TypeError: no module, or a loss without an optimizer.
        UnsupportedOps: ops without a rule, all named with the model's lines.
    """
    if optimizer is not None:
        return compile_step(model, loss, optimizer, **options).program(inputs, targets)
    if not isinstance(model, torch.nn.Module):
        raise TypeError(f"to_ir: an nn.Module is expected, not {type(model).__name__}.")
    if loss is not None or targets is not None or options:
        raise TypeError("to_ir: loss, targets and options of a step go with an optimizer.")
    named = {**dict(model.named_parameters()), **dict(model.named_buffers())}
    resident, batch = [t.detach() for t in named.values()], _tuple(inputs)

    def forward(*flat):
        with torch.no_grad(), adapter.reparametrized(model, dict(zip(named, flat))):
            outputs = model(*flat[len(named):])
        return [t for t in _tuple(outputs) if isinstance(t, torch.Tensor)]

    graph = adapter.trace(forward, [*resident, *batch], decompositions())
    take_writes(graph, len(resident), None)
    return Program(graph, resident=resident, names=[*named, *(f"input_{i}" for i in range(len(batch)))]).ir
