"""Norms of differences, and norms of weights."""
import torch

aten = torch.ops.aten


def _norm(difference, p):
    """The p-norm along the last dimension."""
    size = difference.abs()
    if p == 0:
        return (difference != 0).to(difference.dtype).sum(-1)
    if p == 1:
        return size.sum(-1)
    if p == 2:
        return difference.square().sum(-1).sqrt()
    return size.amax(-1) if p == float("inf") else size.pow(p).sum(-1).pow(1 / p)


def _norm_backward(gradient, difference, p, norm):
    """The gradient of _norm: gradient and norm have a last dimension of 1."""
    if p == 0:
        return torch.zeros_like(difference)
    if p == 1:
        return gradient * difference.sign()
    if p == float("inf"):
        return gradient * difference.sign() * (difference.abs() == norm).to(difference.dtype)
    power = difference if p == 2 else difference.sign() * difference.abs().pow(p - 1)
    divisor = norm if p == 2 else norm.pow(p - 1)
    nothing = torch.zeros_like(difference)
    return torch.where(norm == 0, nothing, gradient * power / torch.where(norm == 0, torch.ones_like(divisor), divisor))


def _cdist(x1, x2, p, compute_mode=None):
    return _norm(x1.unsqueeze(-2) - x2.unsqueeze(-3), p)


def _cdist_backward(gradient, x1, x2, p, distances):
    made = _norm_backward(gradient.unsqueeze(-1), x1.unsqueeze(-2) - x2.unsqueeze(-3), p, distances.unsqueeze(-1)).sum(-2)
    return made.sum_to_size(x1.shape)


def _pairs(count):
    first, second = torch.triu_indices(count, count, 1).unbind()
    return first, second


def _pdist(x, p=2):
    first, second = _pairs(x.shape[0])
    return _norm(x.index_select(0, first) - x.index_select(0, second), p)


def _pdist_backward(gradient, x, p, distances):
    first, second = _pairs(x.shape[0])
    made = _norm_backward(gradient.unsqueeze(-1), x.index_select(0, first) - x.index_select(0, second), p, distances.unsqueeze(-1))
    return torch.zeros_like(x).index_add(0, first, made).index_add(0, second, -made)


def _but(dim, rank):
    return [i for i in range(rank) if i != dim % rank]


def _weight_norm(v, g, dim=0):
    norms = v.square().sum(_but(dim, v.dim()), keepdim=True).sqrt()
    return v * (g / norms), norms


def _weight_norm_backward(gradient, v, g, norms, dim):
    along = (gradient * v).sum(_but(dim, v.dim()), keepdim=True)
    return g / norms * (gradient - v * (along / norms.square())), along / norms


def _dist(x, y, p=2):
    return _norm((x - y).reshape(-1), p)


def _hypot(a, b):
    large, small = torch.maximum(a.abs(), b.abs()), torch.minimum(a.abs(), b.abs())
    ratio = small / torch.where(large == 0, 1, large)
    # Of an infinity and anything.
    return torch.where(large == float("inf"), large, large * (1 + ratio * ratio).sqrt())


IN_FLOAT32 = True
COMPOSED = {
    aten.hypot.default: _hypot,
    aten.dist.default: _dist, aten._cdist_forward.default: _cdist, aten._cdist_backward.default: _cdist_backward, aten._pdist_forward.default: _pdist,
    aten._pdist_backward.default: _pdist_backward, aten._weight_norm_interface.default: _weight_norm,
    aten._weight_norm_interface_backward.default: _weight_norm_backward}
