"""Comparison of nested results."""
import torch


def allclose(ref, other):
    """Whether two tensors, or nested tuples and lists of them, are close."""
    if isinstance(ref, (tuple, list)):
        return isinstance(other, type(ref)) and len(ref) == len(other) and all(allclose(a, b) for a, b in zip(ref, other))
    return torch.allclose(ref, other)
