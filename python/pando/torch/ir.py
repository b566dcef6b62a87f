"""The program of a model, without running it: what a search, a transform or a tool takes."""
import torch

from pando.torch import adapter, trees
from pando.torch.decompositions import decompositions
from pando.torch.program import Program, take_writes
from pando.torch.step import compile_step


def to_ir(model, inputs, targets=None, *, loss=None, optimizer=None, **options):
    """The popxl.Ir of a model: of a training step if there is an optimizer, else of its outputs.

    Args:
        model: an nn.Module.
        inputs, targets: of one micro-batch, as a training step takes them (compile_step): tensors, tuples of the model's arguments, dicts of those by name ...
            Only shapes and element types of tensors count. Streams are named input_0, input_1 ..., inputs first; variables as the model names them.
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
    resident = [t.detach() for t in named.values()]
    found, form = trees.flatten(trees.arguments(inputs), "inputs")
    batch = [x for _, x in found]

    def forward(*flat):
        with torch.no_grad(), adapter.reparametrized(model, dict(zip(named, flat))):
            args, kwargs = form.rebuild(iter(flat[len(named):]))
            return [x for _, x in trees.flatten(model(*args, **kwargs), "The model's output", strict=False)[0]]

    graph = adapter.trace(forward, [*resident, *batch], decompositions())
    take_writes(graph, len(resident), None)
    return Program(graph, resident=resident, names=[*named, *(f"input_{i}" for i in range(len(batch)))]).ir
