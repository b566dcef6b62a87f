"""Functions that a model may call. Outside of a program they compute what they say on the CPU."""
import sys

import torch

from pando.torch import adapter
from pando.torch.rules import host, loop
from poptorch import enums, structure, tracing
from poptorch.batches import NARROWED
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
    """A copy of the tensor."""
    return _check_tensor(tensor, "nop").clone()


def ipu_print_tensor(tensor, title="", print_gradient=True, summarise_threshold=1000, edge_items=3, max_line_width=80, digits=4, float_format="auto",
                     separator=", ", open_bracket="(", close_bracket=")"):
    """The tensor. A program writes it on standard error each time that it computes it, and its gradient under the title `<title>_gradient`.

    Args:
        summarise_threshold: a tensor with more elements is shortened to `edge_items` at each end of a dimension.
        max_line_width, digits, separator, open_bracket, close_bracket: how numbers are written. One character of the separator counts.
        float_format: "auto", "fixed", "scientific" or "none".

    Raises:
        poptorch.Error: no tensor, another float_format.
    """
    _check_tensor(tensor, "ipu_print_tensor")
    if float_format not in ("auto", "fixed", "scientific", "none"):
        raise createPoptorchError(f"ipu_print_tensor: float_format is one of auto, fixed, scientific, none, not {float_format!r}.")
    if not tracing.is_tracing():
        print(f"{title}: {tensor}", file=sys.stderr)
        return tensor
    return torch.ops.pando.print_tensor(tensor, title, print_gradient, summarise_threshold, edge_items, max_line_width, digits, float_format,
                                        separator.strip()[:1] or " ", open_bracket[:1], close_bracket[:1])


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


def _overlapped(tensors, mode, mark):
    """The tensors in their structure; while a model is traced, `mark` has a word with each."""
    assert isinstance(mode, enums.OverlapMode), "mode is a poptorch.OverlapMode"
    if not tracing.is_tracing() or mode == enums.OverlapMode.NoOverlap:
        return tensors
    found, form = structure.flatten(tensors)
    return structure.unflatten(form, iter([mark(t) for t in found]))


def set_overlap_for_input(input_tensors, mode):
    """The tensors, which are inputs of the model: a tensor, or tuples, lists and dicts of them. What OverlapMode says of transfers is checked as in PopTorch.

    Raises:
        poptorch.Error, when the model is compiled: what is not an input, or an input that has another use; a pipeline; no tiles for IO.
    """
    return _overlapped(input_tensors, mode, lambda t: tracing.overlaps().mark_input(t))


def set_overlap_for_output(output_tensors, mode):
    """The tensors, which are outputs of the model. See set_overlap_for_input.

    Raises:
        poptorch.Error, when the model is compiled: what is not an output, or returned twice; a pipeline; no tiles for IO; output modes other than All and Sum.
    """
    return _overlapped(output_tensors, mode, lambda t: tracing.overlaps().mark_output(t))


def _program_type(t):
    return NARROWED.get(t.dtype, t.dtype)


def _check_size(size):
    if size < 0:
        raise createPoptorchError("Taking a slice of a tensor with the end less than the start is not supported.")
    if size == 0:
        raise createPoptorchError("The start and end of a slice must be different.")


def dynamic_slice(tensor, dim, start, size, step):
    """`size` elements along a dimension, from a position that a tensor holds, every `step`-th; positions after the end begin at 0 again."""
    _check_size(size)
    if step <= 0:
        raise createPoptorchError(f"dynamic_slice: a step of at least 1 is expected, not {step}.")
    index = torch.remainder(start.reshape(1) + torch.arange(0, size, step), tensor.shape[dim])
    return torch.index_select(tensor, dim, index)


def dynamic_update(input, src, dim, start, size):
    """input with `size` elements along a dimension, from a position that a tensor holds, replaced by src."""
    if input.dim() != src.dim():
        raise createPoptorchError(f"input and src tensors must have same dimensionality. ({input.dim()}) vs ({src.dim()})")
    if input.dtype != src.dtype:
        raise createPoptorchError(f"input and src tensor must have same dtype. ({_program_type(input)} vs {_program_type(src)})")
    _check_size(size)
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
    if count == 0:
        return [t.clone() for t in inputs]
    try:
        return loop.written_once(count, lambda *state: _listed(body(*state)), inputs)
    except ValueError as error:
        raise createPoptorchError(f"for_loop: {error}") from error


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
    """A context manager for convolutions that run together. Pando runs them one after the other; options are checked."""

    _inside = False

    def __init__(self):
        self._lists, self._before = {}, None

    def __enter__(self):
        if MultiConv._inside:
            raise createPoptorchError("Nested poptorch.MultiConv is not supported")
        MultiConv._inside, self._before = True, tracing.convolutions()
        return self

    def __exit__(self, type, value, traceback):
        MultiConv._inside = False
        if type is not None or self._before is None:
            return
        count = tracing.convolutions() - self._before
        if count == 0:
            raise createPoptorchError("Unexpected end_multi_conv: there is no convolution in the poptorch.MultiConv.")
        for name, values in self._lists.items():
            if len(values) != count:
                raise createPoptorchError(f"MultiConv.{name}: {len(values)} values for {count} convolutions.")

    def _checked(self, name, value, is_right, message, error=AssertionError):
        values = list(value) if isinstance(value, (list, tuple)) else [value]
        if not all(map(is_right, values)):
            raise error(message)
        if isinstance(value, (list, tuple)):
            self._lists[name] = values
        return self

    def availableMemoryProportions(self, value):
        """A proportion, or one for each convolution. Raises AssertionError for others than numbers from 0 to 1."""
        return self._checked("availableMemoryProportions", value, lambda v: isinstance(v, (int, float)) and 0 <= v <= 1, "Invalid memory proportion")

    def partialsTypes(self, value):
        """torch.float or torch.half, or one for each convolution. Raises ValueError for others."""
        return self._checked("partialsTypes", value, lambda v: v in (torch.float, torch.half), "Invalid partials types", ValueError)

    def enableConvDithering(self, value):
        """Whether dithering is on, or that for each convolution. Raises ValueError for others than bools."""
        return self._checked("enableConvDithering", value, lambda v: isinstance(v, bool), "Invalid dithering", ValueError)

    def planType(self, value):
        assert isinstance(value, enums.MultiConvPlanType), "Invalid plan type"
        return self

    def perConvReservedTiles(self, value):
        assert isinstance(value, int), "Invalid number of tiles"
        return self

    def cycleBackOff(self, value):
        assert isinstance(value, (int, float)), "Invalid cycle back-off"
        return self


class CPU:
    """A function, or a module, that runs on the host in the middle of a program, for inference. Outside of a program it is called as it is.

    Args:
        layer_to_call: takes tensors and returns a tensor, or a tuple or list of them. It is called with zeros once for each form of inputs, to learn the
            form of what it returns.
        ID: a name.
    """

    def __init__(self, layer_to_call, ID):
        self._layer, self.ID = layer_to_call, ID
        self._number = None
        if isinstance(layer_to_call, torch.nn.Module):
            for p in layer_to_call.parameters():
                p.requires_grad_(False)

    def __call__(self, *args, **kwargs):
        if not tracing.is_tracing():
            return self._layer(*args, **kwargs)
        if tracing.is_training():
            raise createPoptorchError("poptorch.CPU is only supported in inference")
        tensors, form = structure.flatten((args, kwargs))

        def run(*given):
            inner_args, inner_kwargs = structure.unflatten(form, iter(given))
            return structure.flatten(self._layer(*inner_args, **inner_kwargs))

        number = host.HOST_FUNCTIONS.add(lambda *given: run(*given)[0])
        with tracing.suspended(), adapter.real_tensors(), torch.no_grad():
            outputs, returned = run(*[torch.zeros(tuple(t.shape), dtype=t.dtype) for t in tensors])
        host.HOST_FUNCTIONS.learn(number, tensors, outputs)
        return structure.unflatten(returned, iter(host.call_on_host(number, tensors)))

    execute = __call__


def fps(src, ptr, ratio=0.5, random_start=False):
    """Farthest point sampling: in each part of the points the first, then again and again the point that is farthest from those that are taken.

    Args:
        src: points [N, F].
        ptr: where parts begin and the last one ends: a list of at least two ints.
        ratio: which share of a part is taken, rounded up.
        random_start: whether a part begins with a random point. Not in a program.

    Returns:
        their indices.

    Raises:
        ValueError: other arguments.
    """
    if not isinstance(ptr, list) or len(ptr) < 2:
        raise ValueError("poptorch.fps: ptr is a list of at least two ints.")
    if not isinstance(ratio, float) or not 0 < ratio <= 1:
        raise ValueError("poptorch.fps: ratio is a float above 0, at most 1.")
    if random_start and tracing.is_tracing():
        raise createPoptorchError("poptorch.fps: a program begins with the first point of a part: random_start=False.")
    taken = []
    for start, end in zip(ptr, ptr[1:]):
        points = src[start:end].reshape(end - start, -1)
        count = -int(-(end - start) * ratio // 1)
        chosen = torch.randint(0, end - start, (1,)) if random_start else torch.zeros(1, dtype=torch.int64)
        nearest_taken = torch.full((end - start,), float("inf"))
        found = [chosen]
        for _ in range(count - 1):
            distance = (points - torch.index_select(points, 0, chosen)).square().sum(1)
            nearest_taken = torch.minimum(nearest_taken, distance)
            chosen = nearest_taken.argmax().reshape(1)
            found.append(chosen)
        taken.append(torch.cat(found) + start)
    return torch.cat(taken)


def nearest(x, y, batch_x=None, batch_y=None):
    """For each row of `x` the index of the nearest row of `y`, of the same batch if batches are given (lists or tensors, one number for each row).

    Raises:
        ValueError: one batch without the other.
    """
    if (batch_x is None) != (batch_y is None):
        raise ValueError("poptorch.nearest: batch_x and batch_y go together.")
    x, y = (t.reshape(t.shape[0], -1) for t in (x, y))
    distance = (x.unsqueeze(1) - y.unsqueeze(0)).square().sum(2)
    if batch_x is not None:
        same = torch.as_tensor(batch_x).unsqueeze(1) == torch.as_tensor(batch_y).unsqueeze(0)
        distance = torch.where(same, distance, torch.full_like(distance, float("inf")))
    return distance.argmin(1)
