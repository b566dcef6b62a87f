"""Operations by name. PopART's are C++ classes; here a function of PyTorch says what an operation computes.

    def cube(inputs, attributes):
        return [inputs[0] ** 3 * attributes["scale"]]

    poptorch.custom_ops.register("Cube", "com.acme", cube)

From then on `poptorch.custom_op([x], "Cube", "com.acme", 1, example_outputs=[x], attributes={"scale": 2.0})` computes it. Its gradient is that of the
function, or the one that is registered with it. `pando.torch.collectives` has what replicas exchange.

ReplicatedAllGather and ReplicatedAllReduce of the domain ai.graphcore, which PopART has, need no registration.
"""
import torch

from pando.torch import collectives
from poptorch import tracing
from poptorch.errors import Error, createPoptorchError

_registered = {}


def register(name, domain, forward, backward=None):
    """Says what an operation computes.

    Args:
        name, domain: as `custom_op` names it.
        forward: a function (list of tensors, dict of attributes) -> tensor, or list of tensors. It is traced as a model is.
        backward: a function (list of the inputs, list of the results, list of the results' gradients, attributes) -> list of the inputs' gradients, with
            None for those that have none; None: the gradient of what `forward` is made of.

    Raises:
        TypeError: what is not callable.
    """
    for function in (forward, *([] if backward is None else [backward])):
        if not callable(function):
            raise TypeError(f"custom_ops.register: a function is expected, not {type(function).__name__}.")
    _registered[name, domain] = (forward, backward)


def _listed(made):
    return list(made) if isinstance(made, (list, tuple)) else [made]


def _with_backward(forward, backward, attributes):
    class Operation(torch.autograd.Function):
        @staticmethod
        def forward(ctx, *inputs):
            made = _listed(forward(list(inputs), attributes))
            ctx.save_for_backward(*inputs, *made)
            ctx.inputs = len(inputs)
            return tuple(made)

        @staticmethod
        def backward(ctx, *gradients):
            saved = ctx.saved_tensors
            return tuple(backward(list(saved[:ctx.inputs]), list(saved[ctx.inputs:]), list(gradients), attributes))

    return Operation


class _Gather(torch.autograd.Function):
    """As PopART has it: a gradient of the result is the same on all replicas, and each takes its part."""

    @staticmethod
    def forward(ctx, x, replicas):
        ctx.replicas = replicas
        return collectives.all_gather(x, replicas)

    @staticmethod
    def backward(ctx, dy):
        return collectives.own_part(dy, ctx.replicas), None


def _gathered(x, example):
    return _Gather.apply(x, example.numel() // max(1, x.numel())).reshape(example.shape)


_BUILT_IN = {
    ("ReplicatedAllGather", "ai.graphcore"): _gathered,
    ("ReplicatedAllReduce", "ai.graphcore"): lambda x, example: collectives.all_reduce(x),
}


def _built_in(name, domain, inputs, example_outputs, attributes):
    if len(inputs) != 1 or len(example_outputs) != 1 or attributes:
        raise createPoptorchError(f"custom_op {name!r} of {domain}: one input, one output and no attributes are expected, not {len(inputs)}, "
                                  f"{len(example_outputs)} and {sorted(attributes)}.")
    return [_BUILT_IN[name, domain](inputs[0], example_outputs[0])]


def _check_attributes(attributes):
    for key, value in attributes.items():
        if not isinstance(key, str) or not key.isascii():
            raise ValueError(f"custom_op: the name of an attribute is a string of ASCII characters, not {key!r}.")
        values = value if isinstance(value, (list, tuple)) else [value]
        kinds = {int if isinstance(v, bool) else type(v) for v in values}
        if len(kinds) != 1 or not kinds <= {int, float, str}:
            raise ValueError(f"custom_op: the attribute {key!r} is a number, a string, or a list of one kind of them, not {value!r}.")
        for v in values:
            if isinstance(v, float) and abs(v) > torch.finfo(torch.float32).max and v not in (float("inf"), float("-inf")):
                raise createPoptorchError(f"custom_op: the attribute {key!r} is too {'high' if v > 0 else 'low'} for a Popart float attribute: {v}.")


def custom_op(inputs, name, domain, domain_version, example_outputs, attributes=None):
    """An operation that is registered (see `register`), or one of PopART's that is there without it. Outside of a program it gives zeros of the form of `example_outputs`, as PopTorch does.

    Args:
        inputs: a list of tensors.
        name, domain, domain_version: of the operation. The version is not looked at.
        example_outputs: tensors of the shapes and element types of the results.
        attributes: {name: number, string, or list of one kind of them}; True and False are numbers.

    Returns:
        a list of tensors.

    Raises:
        ValueError: attributes of other kinds.
        poptorch.Error: an operation that is not registered; results of another form than `example_outputs`.
    """
    attributes = dict(attributes or {})
    _check_attributes(attributes)
    if not tracing.is_tracing():
        return [torch.zeros_like(t) for t in example_outputs]
    if (name, domain) in _registered:
        forward, backward = _registered[name, domain]
        made = _listed(forward(list(inputs), attributes)) if backward is None else list(_with_backward(forward, backward, attributes).apply(*inputs))
    elif (name, domain) in _BUILT_IN:
        made = _built_in(name, domain, list(inputs), example_outputs, attributes)
    else:
        raise Error(f"custom_op: there is no operation {name!r} of the domain {domain!r}. Operations in C++ for PopART cannot be compiled by Pando: say what it "
                    f"computes with poptorch.custom_ops.register({name!r}, {domain!r}, function).")
    wanted = [(tuple(t.shape), t.dtype) for t in example_outputs]
    if [(tuple(t.shape), t.dtype) for t in made] != wanted:
        raise createPoptorchError(f"custom_op {name!r}: the function gives {[(tuple(t.shape), t.dtype) for t in made]}; example_outputs say {wanted}.")
    return made
