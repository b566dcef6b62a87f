"""Private names that programs ask for."""
from poptorch.tracing import is_tracing


def isDispatchTracing():
    """False: while a model is traced its tensors are of the CPU device."""
    return False


def internal_cast(tensor, dtype):
    """The tensor in float32 or float16."""
    import torch

    if dtype not in (torch.float, torch.float32, torch.half, torch.float16):
        raise ValueError("Invalid poptorch.cast target type. Expecting torch.float or torch.half")
    return tensor.to(dtype)


def _restoreWrapperIfNecessary():
    """What a module that was saved while it was wrapped gets in place of its executor."""
    from poptorch.wrapping import Trainer

    return Trainer()


def _isTracing():
    return is_tracing()
