"""What is true while a model is traced."""
import contextlib

import torch

from poptorch.errors import createPoptorchError
from poptorch.overlap import Overlaps

F = torch.nn.functional
_LOSSES = {F.l1_loss, F.mse_loss, F.cross_entropy, F.nll_loss, F.binary_cross_entropy, F.binary_cross_entropy_with_logits, F.kl_div, F.poisson_nll_loss,
           F.hinge_embedding_loss, F.smooth_l1_loss, F.soft_margin_loss, F.cosine_embedding_loss, F.margin_ranking_loss, F.triplet_margin_loss, F.ctc_loss,
           F.huber_loss, F.multilabel_soft_margin_loss, F.multi_margin_loss, F.gaussian_nll_loss}
# Weights take the type of what they are applied to.
_WEIGHTED = {F.linear, F.conv1d, F.conv2d, F.conv3d, F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d, torch.conv1d, torch.conv2d, torch.conv3d,
             torch.conv_transpose1d, torch.conv_transpose2d, torch.conv_transpose3d}
_NORMALISING = {F.group_norm, F.layer_norm, torch.group_norm, torch.layer_norm, *([F.rms_norm, torch.rms_norm] if hasattr(F, "rms_norm") else [])}
# Indices of bytes are masks.
_INDEXED = {torch.Tensor.__getitem__, torch.Tensor.__setitem__, torch.Tensor.index_put, torch.Tensor.index_put_, torch.index_put,
            torch.Tensor.masked_fill, torch.Tensor.masked_fill_, torch.masked_fill}
_current = []


class _Trace:
    def __init__(self, training):
        self.training, self.marked, self.found, self.blocks = training, [], [], []
        # Convolutions so far: MultiConv has to hold one.
        self.convolutions = 0
        # The block that ops belong to now, as (name, device); whether the last scope of one has ended; names of those that have none of their own.
        self.active, self.left, self.names = None, False, {}
        self.overlaps = Overlaps()


def is_tracing():
    return bool(_current)


def convolutions():
    """How many convolutions the model that is traced has called so far; None: no model is traced."""
    return _current[-1].convolutions if _current else None


def is_training():
    return bool(_current) and _current[-1].training


def isRunningOnIpu():
    """Whether the model is traced for a device, False in a call on the CPU."""
    return is_tracing()


@contextlib.contextmanager
def suspended():
    """Inside, no model is traced: what is called is plain PyTorch."""
    was, _current[:] = list(_current), []
    try:
        with torch._C.DisableTorchFunction():
            yield
    finally:
        _current[:] = was


@contextlib.contextmanager
def plain_messages():
    """Inside, PyTorch's messages name tensors as they do outside of a trace."""
    try:
        yield
    except (TypeError, RuntimeError, ValueError) as error:
        if len(error.args) != 1 or "FakeTensor" not in str(error):
            raise
        raise type(error)(str(error).replace("FakeTensor", "Tensor")) from error


def enter_block(user_id, ipu_id, owner=None):
    """What is called from here on belongs to a block. owner: what keeps the number of a block without a name. Returns what leave_block takes."""
    if not _current:
        return None
    trace = _current[-1]
    if user_id is None:
        user_id = trace.names.setdefault(id(owner) if owner is not None else object(), str(len(trace.names)))
    before, trace.active, trace.left = trace.active, (str(user_id), ipu_id), False
    trace.blocks.append(trace.active)
    return before


def leave_block(before):
    """The scope of a block ends; `before` is the block around it, or None: what follows has to be in another block."""
    if _current:
        _current[-1].active, _current[-1].left = before, before is None


def number_blocks_again():
    """Blocks without a name are numbered from 0 again."""
    if _current:
        _current[-1].names = {}


def overlaps():
    """Overlaps of the model that is traced, or None."""
    return _current[-1].overlaps if _current else None


def mark_loss(value):
    if _current:
        _current[-1].marked.append(value)


class _Mode(torch.overrides.TorchFunctionMode):
    """Sees losses, and gives weights the type of activations."""

    def __init__(self, trace):
        super().__init__()
        self._trace = trace

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        self._trace.overlaps.note(args, kwargs)
        args, kwargs = _on_trace_device(function, args, kwargs)
        if function in _WEIGHTED:
            self._trace.convolutions += function is not F.linear
        if function in _WEIGHTED or function in _NORMALISING:
            args, kwargs = _same_type(args, kwargs)
        if function in _INDEXED:
            args = (*args[:1], *map(_masks, args[1:2]), *args[2:])
            kwargs = {k: _masks(v) if k in ("indices", "mask") else v for k, v in kwargs.items()}
        if function is F.one_hot and (args[1:2] or [kwargs.get("num_classes", -1)])[0] == -1:
            raise createPoptorchError("OneHot num classes must be specified and must be constant.")
        if function in (torch.bincount, torch.Tensor.bincount):
            function = _bincount
        result = function(*args, **kwargs)
        if self._trace.left and isinstance(result, torch.Tensor) and getattr(function, "__name__", "") != "__get__":
            raise createPoptorchError(f"No active Block: {getattr(function, '__name__', function)} is called after the scope of a block has ended and before "
                                      "another one begins. Put it into a poptorch.Block.")
        if function in _LOSSES and isinstance(result, torch.Tensor):
            self._trace.found.append(result)
        return result


def _is_ipu(device):
    return device.type == "ipu" if isinstance(device, torch.device) else isinstance(device, str) and device.partition(":")[0] == "ipu"


def _on_trace_device(function, args, kwargs):
    """Tensors of a trace lie on one device: a model that asks for the device "ipu" means it."""
    if _is_ipu(kwargs.get("device")):
        kwargs = {**kwargs, "device": torch.device("cpu")}
    if function is torch.Tensor.to and len(args) > 1 and _is_ipu(args[1]):
        args = (args[0], torch.device("cpu"), *args[2:])
    return args, kwargs


def _bincount(input, weights=None, minlength=0):
    if minlength <= 0:
        raise createPoptorchError("Bincount `minlength` must be specified and must be a constant. On the IPU MK2 platform the minimum length is also the "
                                  "maximum length, and in Pando it is, too.")
    each = torch.ones(input.shape, dtype=torch.int64) if weights is None else weights
    return torch.zeros(minlength, dtype=each.dtype).index_add(0, input.to(torch.int64), each)


def _masks(index):
    """An index whose masks of bytes are masks of bools."""
    if isinstance(index, (tuple, list)):
        return type(index)(_masks(i) for i in index)
    return index.bool() if isinstance(index, torch.Tensor) and index.dtype == torch.uint8 else index


def _same_type(args, kwargs):
    x = args[0] if args else kwargs.get("input")
    if not isinstance(x, torch.Tensor) or x.dtype not in (torch.float16, torch.float32):
        return args, kwargs

    def cast(t):
        return t.to(x.dtype) if isinstance(t, torch.Tensor) and t.is_floating_point() and t.dtype != x.dtype else t

    return (*args[:1], *(cast(a) for a in args[1:])), {k: cast(v) for k, v in kwargs.items()}


@contextlib.contextmanager
def tracing(training):
    """Inside, a model is traced. Gives the trace, which collects losses."""
    trace = _Trace(training)
    _current.append(trace)
    # Distributions would look at values to check their arguments.
    checks = torch.distributions.Distribution._validate_args
    torch.distributions.Distribution.set_default_validate_args(False)
    try:
        with _Mode(trace):
            yield trace
    finally:
        torch.distributions.Distribution.set_default_validate_args(checks)
        _current.pop()


def _reaches(start):
    """The nodes of autograd's graph below a tensor."""
    seen, stack = set(), [start.grad_fn]
    while stack:
        node = stack.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        stack.extend(n for n, _ in node.next_functions)
    return seen


def final_loss(trace):
    """The one loss that no other loss uses."""
    given = trace.marked or trace.found
    if not given:
        raise createPoptorchError("Couldn't find a loss in graph")
    candidates = [t for t in given if t.grad_fn is not None]
    if not candidates:
        # No weight takes part in it: there is nothing to train.
        return given[-1]
    below = [(t, _reaches(t) - {t.grad_fn}) for t in candidates]
    last = [t for t, _ in below if not any(t.grad_fn in others for other, others in below if other is not t)]
    if len(last) > 1:
        raise createPoptorchError("Multiple independent losses found in graph. Graph must have one final loss. Wrap final graph loss in poptorch.identity_loss.")
    return last[0]
