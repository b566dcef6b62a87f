"""Functions that a model may call. Outside of a program they compute what they say on the CPU."""
import torch

from poptorch import enums, tracing
from poptorch.errors import Error, createPoptorchError


def _check_tensor(t, what):
    if not isinstance(t, torch.Tensor):
        raise createPoptorchError(f"{what}: a tensor is expected, not {type(t).__name__}.")
    return t


def identity_loss(x, reduction):
    """Marks the loss that training starts from: `x`, its "sum" or its "mean" ("none": `x` itself)."""
    assert reduction in ("sum", "mean", "none"), "Unsupported reduction type!"
    value = x.sum() if reduction == "sum" else x.mean() if reduction == "mean" else x * 1
    tracing.mark_loss(value)
    return value


def nop(tensor):
    """The tensor."""
    return _check_tensor(tensor, "nop") * 1 if tensor.is_floating_point() else tensor.clone()


def ipu_print_tensor(tensor, title="", print_gradient=True, summarise_threshold=1000, edge_items=3, max_line_width=80, digits=4, float_format="auto",
                     separator=", ", open_bracket="(", close_bracket=")"):
    """The tensor. On the CPU its contents are printed on standard error."""
    import sys

    _check_tensor(tensor, "ipu_print_tensor")
    if not tracing.is_tracing():
        print(f"{title}: {tensor}", file=sys.stderr)
    else:
        raise Error("ipu_print_tensor: programs of Pando do not print tensors of PopTorch models yet; return the tensor from the model.")
    return tensor


def recomputationCheckpoint(*tensors):
    """The tensors: Pando keeps what backward needs."""
    for t in tensors:
        items = t if isinstance(t, (list, tuple)) else [t]
        if not all(isinstance(i, torch.Tensor) for i in items):
            raise ValueError("poptorch.recomputationCheckpoint takes tensors, or lists and tuples of them.")
    return tensors[0] if len(tensors) == 1 else tensors


def serializedMatMul(lhs, rhs, mode, factor=0, keep_precision=False):
    """lhs @ rhs."""
    assert isinstance(keep_precision, bool) and isinstance(factor, int) and isinstance(mode, enums.MatMulSerializationMode)
    return torch.matmul(lhs, rhs)


def set_available_memory(tensor, available_memory_proportion):
    """The tensor."""
    return _check_tensor(tensor, "set_available_memory")


def set_overlap_for_input(input_tensors, mode):
    """The tensors."""
    return input_tensors


def set_overlap_for_output(output_tensors, mode):
    """The tensors."""
    return output_tensors


def dynamic_slice(tensor, dim, start, size, step):
    """`size` elements along a dimension, from a position that a tensor holds, every `step`-th; positions behind the end begin at 0 again."""
    if size <= 0 or step <= 0:
        raise createPoptorchError("The start and end of a slice must be different")
    index = torch.remainder(start.reshape(1) + torch.arange(0, size, step), tensor.shape[dim])
    return torch.index_select(tensor, dim, index)


def dynamic_update(input, src, dim, start, size):
    """input with `size` elements along a dimension, from a position that a tensor holds, replaced by src."""
    if input.dim() != src.dim():
        raise createPoptorchError(f"input and src tensors must have same dimensionality. ({input.dim()}) vs ({src.dim()})")
    if input.dtype != src.dtype:
        raise createPoptorchError(f"input and src tensor must have same dtype. ({input.dtype} vs {src.dtype})")
    index = torch.remainder(start.reshape(1) + torch.arange(size), input.shape[dim])
    shape = [1] * input.dim()
    shape[dim] = size
    return torch.scatter(input, dim, index.reshape(shape).expand(src.shape), src)


def _check_list(inputs):
    if not isinstance(inputs, list):
        raise ValueError("Object is not list")
    for i, t in enumerate(inputs):
        if not isinstance(t, torch.Tensor):
            raise ValueError(f"Object contained in list at index {i} is not torch.tensor")


def for_loop(count, body, inputs):
    """The body, `count` times, each with what the one before returned. On the CPU once. Inference only."""
    _check_list(inputs)
    if not tracing.is_tracing():
        return _listed(body(*[t.clone() for t in inputs]))
    if tracing.is_training():
        raise createPoptorchError("poptorch.for_loop() is only supported in inference")
    for _ in range(count):
        inputs = _listed(body(*[t.clone() for t in inputs]))
    return inputs


def _listed(outputs):
    return list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]


def cond(condition, then_body, then_inputs, else_body, else_inputs):
    """What one of two bodies returns. A program computes both. Inference only."""
    _check_list(then_inputs)
    _check_list(else_inputs)
    if not tracing.is_tracing():
        return _listed(then_body(*then_inputs) if condition else else_body(*else_inputs))
    if tracing.is_training():
        raise createPoptorchError("poptorch.cond() is only supported in inference")
    yes, no = _listed(then_body(*[t.clone() for t in then_inputs])), _listed(else_body(*[t.clone() for t in else_inputs]))
    if len(yes) != len(no):
        raise createPoptorchError("poptorch.cond(): both branches must return as many tensors")
    return [torch.where(condition.reshape(()), a, b) for a, b in zip(yes, no)]


class MultiConv:
    """A context manager for convolutions that run together. Pando runs them one after the other."""

    _inside = False

    def __enter__(self):
        if MultiConv._inside:
            raise createPoptorchError("Nested poptorch.MultiConv is not supported")
        MultiConv._inside = True
        return self

    def __exit__(self, type, value, traceback):
        MultiConv._inside = False

    def availableMemoryProportions(self, value):
        return self

    def partialsTypes(self, value):
        if any(t not in (torch.float, torch.half) for t in (value if isinstance(value, (list, tuple)) else [value])):
            raise ValueError("Invalid partials types")
        return self

    def enableConvDithering(self, value):
        return self

    def planType(self, value):
        assert isinstance(value, enums.MultiConvPlanType), "Invalid plan type"
        return self

    def perConvReservedTiles(self, value):
        return self

    def cycleBackOff(self, value):
        return self


def custom_op(inputs, name, domain, domain_version, example_outputs, attributes=None):
    """An op in C++ for PopART. Pando cannot compile those."""
    raise Error(f"custom_op {name!r}: operations in C++ for PopART cannot be compiled by Pando; write it in PyTorch.")


def ctc_beam_search_decoder(probs, lengths, blank=0, beam_width=100, top_paths=1):
    """Not in Pando."""
    raise Error("ctc_beam_search_decoder: programs of Pando do not have it.")


class CPU:
    """A function on the host in the middle of a program. Not in Pando."""

    def __init__(self, layer_to_call, ID):
        self._layer = layer_to_call

    def __call__(self, *args, **kwargs):
        if tracing.is_tracing():
            raise Error("poptorch.CPU: programs of Pando do not call the host.")
        return self._layer(*args, **kwargs)

    execute = __call__
