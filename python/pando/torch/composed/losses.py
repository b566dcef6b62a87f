"""Losses: gradients of those that compare classes, and what PyTorch cannot trace."""
import math

import torch
import torch.nn.functional as F

aten = torch.ops.aten

_MEAN = 1


def _per_sample(gradient, count, reduction):
    """The gradient of each sample's own loss, in a column."""
    return (gradient.expand([count]) / (count if reduction == _MEAN else 1)).unsqueeze(1)


def _as_rows(t):
    return t.reshape(-1, t.shape[-1] if t.dim() else 1)


def _multi_margin_backward(gradient, x, target, p, margin, weight=None, reduction=1):
    rows, place = _as_rows(x), target.reshape(-1, 1)
    others = torch.arange(rows.shape[1]).unsqueeze(0) != place
    short = margin - rows.gather(1, place) + rows
    slope = (short > 0).to(x.dtype) if p == 1 else 2 * short.clamp(min=0)
    slope = torch.where(others, slope, 0) / rows.shape[1]
    if weight is not None:
        slope = slope * weight.index_select(0, place.reshape(-1)).unsqueeze(1)
    slope = torch.where(others, slope, -slope.sum(1, keepdim=True))
    return (slope * _per_sample(gradient, rows.shape[0], reduction)).reshape(x.shape)


def _multilabel_margin_backward(gradient, x, target, reduction, is_target):
    rows, targets = _as_rows(x), _as_rows(target)
    # A negative number ends the list of a sample's classes.
    counts = (targets >= 0).to(torch.int64).cumprod(1)
    places = targets.clamp(min=0)
    others = is_target.reshape(rows.shape).unsqueeze(1) == 0
    short = 1 - rows.gather(1, places).unsqueeze(2) + rows.unsqueeze(1) > 0
    pairs = (short & others & (counts != 0).unsqueeze(2)).to(x.dtype)
    slope = pairs.sum(1).scatter_add(1, places, -pairs.sum(2)) / rows.shape[1]
    return (slope * _per_sample(gradient, rows.shape[0], reduction)).reshape(x.shape)


def _gaussian_nll_loss(input, target, var, full=False, eps=1e-6, reduction="mean"):
    """F.gaussian_nll_loss, which looks whether a variance is below 0: here it counts as eps, as smaller ones do."""
    if not isinstance(var, torch.Tensor):
        var = torch.full_like(input, var)
    if var.shape != input.shape and var.shape == input.shape[:-1]:
        var = var.unsqueeze(-1)
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"gaussian_nll_loss: {reduction!r} is not a reduction. There are none, mean and sum.")
    # The gradient goes past the bound.
    bounded = var + (var.clamp(min=eps) - var).detach()
    value = 0.5 * (bounded.log() + (input - target).square() / bounded) + (0.5 * math.log(2 * math.pi) if full else 0)
    return value.mean() if reduction == "mean" else value.sum() if reduction == "sum" else value


def _linear_cross_entropy(*args, options=None, **kwargs):
    """F.linear_cross_entropy; its options say in what parts PyTorch computes it, which changes no number."""
    return F.linear_cross_entropy(*args, **kwargs)


FUNCTIONS = {F.gaussian_nll_loss: _gaussian_nll_loss}
if hasattr(F, "linear_cross_entropy"):
    # PyTorch 2.15 has it.
    FUNCTIONS[F.linear_cross_entropy] = _linear_cross_entropy
IN_FLOAT32 = True
COMPOSED = {aten.multi_margin_loss_backward.default: _multi_margin_backward, aten.multilabel_margin_loss_backward.default: _multilabel_margin_backward}
