"""Ops of PyTorch, forward and backward, that are made of others: what PyTorch itself does not take apart."""
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


_SUM, _MEAN, _MAX = 0, 1, 2


def _kept(indices, padding_idx, dtype):
    """1 for each index that counts, 0 for padding, in a column."""
    ones = torch.ones(indices.shape, dtype=dtype)
    return (ones if padding_idx < 0 else torch.where(indices == padding_idx, 0, ones)).unsqueeze(1)


def _embedding_bag(weight, indices, offsets, scale_grad_by_freq=False, mode=0, sparse=False, per_sample_weights=None, include_last_offset=False, padding_idx=-1):
    if scale_grad_by_freq:
        raise NotImplementedError("aten._embedding_bag: scale_grad_by_freq is not there.")
    bags = offsets.shape[0] - int(include_last_offset)
    places = torch.arange(indices.shape[0]).unsqueeze(1)
    bag = (places >= offsets[:bags].unsqueeze(0)).to(torch.int64).sum(1) - 1
    kept = _kept(indices, padding_idx, weight.dtype)
    if mode == _MAX:
        return _largest_of_bags(weight, indices, bag, bags, kept)
    rows = weight.index_select(0, indices) * kept
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.unsqueeze(1)
    whole = torch.zeros((bags, weight.shape[1]), dtype=weight.dtype).index_add(0, bag, rows)
    size = torch.zeros((bags, 1), dtype=weight.dtype).index_add(0, bag, kept)
    if mode == _MEAN:
        whole = whole / size.clamp(min=1)
    size = size.squeeze(1).to(offsets.dtype)
    return whole, bag.to(offsets.dtype), size, torch.zeros_like(size)


def _largest_of_bags(weight, indices, bag, bags, kept):
    """The results of _embedding_bag: the largest of each column; the last one says from which row of the weight it came, -1 of an empty bag."""
    rows = weight.index_select(0, indices).masked_fill(kept == 0, float("-inf"))
    to = bag.unsqueeze(1).expand(rows.shape)
    whole = torch.full((bags, weight.shape[1]), float("-inf"), dtype=weight.dtype).scatter_reduce(0, to, rows, "amax")
    count = indices.shape[0]
    places = torch.arange(count).unsqueeze(1).expand(rows.shape)
    places = torch.where((rows == whole.index_select(0, bag)) & (kept != 0), places, count)
    first = torch.full(whole.shape, count, dtype=torch.int64).scatter_reduce(0, to, places, "amin")
    empty = first == count
    largest = torch.where(empty, -1, indices.index_select(0, first.clamp(max=count - 1).reshape(-1)).reshape(first.shape))
    size = torch.zeros((bags, 1), dtype=weight.dtype).index_add(0, bag, kept).squeeze(1).to(indices.dtype)
    return whole.masked_fill(empty, 0), bag.to(indices.dtype), size, largest.to(indices.dtype)


def _embedding_bag_backward(gradient, indices, bag, size, largest, num_weights, scale_grad_by_freq, mode, per_sample_weights, padding_idx=-1):
    if mode == _MAX:
        taken = gradient.masked_fill(largest < 0, 0)
        return torch.zeros((num_weights, gradient.shape[1]), dtype=gradient.dtype).scatter_add(0, largest.clamp(min=0).to(torch.int64), taken)
    rows = gradient.index_select(0, bag) * _kept(indices, padding_idx, gradient.dtype)
    if mode == _MEAN:
        rows = rows / size.index_select(0, bag).clamp(min=1).to(gradient.dtype).unsqueeze(1)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.unsqueeze(1)
    return torch.zeros((num_weights, gradient.shape[1]), dtype=gradient.dtype).index_add(0, indices, rows)


def _embedding_bag_backward_of_any(gradient, indices, offsets, bag, size, largest, num_weights, scale_grad_by_freq, mode, sparse, per_sample_weights,
                                   padding_idx=-1):
    return _embedding_bag_backward(gradient, indices, bag, size, largest, num_weights, scale_grad_by_freq, mode, per_sample_weights, padding_idx)


def _masked_scatter_backward(gradient, mask, sizes):
    # What the n-th True took came from the n-th element.
    count = 1
    for size in sizes:
        count *= size
    flat = mask.expand(gradient.shape).reshape(-1)
    place = (flat.to(torch.int64).cumsum(0) - 1).clamp(min=0, max=count - 1)
    taken = torch.where(flat, gradient.reshape(-1), torch.zeros_like(gradient.reshape(-1)))
    return torch.zeros(count, dtype=gradient.dtype).index_add(0, place, taken).reshape(sizes)


def _but(dim, rank):
    return [i for i in range(rank) if i != dim % rank]


def _weight_norm(v, g, dim=0):
    norms = v.square().sum(_but(dim, v.dim()), keepdim=True).sqrt()
    return v * (g / norms), norms


def _weight_norm_backward(gradient, v, g, norms, dim):
    along = (gradient * v).sum(_but(dim, v.dim()), keepdim=True)
    return g / norms * (gradient - v * (along / norms.square())), along / norms


def _unfold_backward(gradient, sizes, dim, size, step):
    if not sizes:
        return gradient.sum()
    axis = dim % len(sizes)
    windows = gradient.movedim(-1, axis + 1).flatten(axis, axis + 1)
    places = torch.tensor([i * step + k for i in range(gradient.shape[axis]) for k in range(size)])
    return torch.zeros(sizes, dtype=gradient.dtype).index_add(axis, places, windows)


def _rrelu(x, noise, lower=1 / 8, upper=1 / 3, training=False, generator=None):
    if not training:
        return torch.where(x > 0, x, x * ((lower + upper) / 2)), noise
    slopes = torch.where(x > 0, torch.ones_like(x), aten.uniform.default(torch.empty_like(x), lower, upper))
    return x * slopes, slopes


def _rrelu_backward(gradient, x, noise, lower, upper, training, self_is_result):
    return gradient * (noise if training else torch.where(x > 0, torch.ones_like(x), torch.full_like(x, (lower + upper) / 2)))


def _random_range(dtype):
    """Above the largest number that random_() gives of a type: the largest integer whose neighbours a float tells apart, or that an integer holds."""
    if dtype.is_floating_point:
        return 2 ** {torch.float16: 11, torch.bfloat16: 8, torch.float32: 24}.get(dtype, 53) + 1
    return 2 if dtype == torch.bool else min(torch.iinfo(dtype).max, 2**31 - 1)


def _random_from(x, low, high=None, generator=None):
    return torch.randint(low, _random_range(x.dtype) if high is None else high, x.shape, dtype=x.dtype)


def _random_to(x, high, generator=None):
    return _random_from(x, 0, high)


def _random(x, generator=None):
    return _random_from(x, 0)


def _in_place(function):
    return lambda x, *args, **kwargs: x.copy_(function(x, *args, **kwargs))


# One overload has the name of a statement of Python, which graphs of torch.fx cannot write.
_RANDOM = {"from": _random_from, "to": _random_to, "default": _random}

COMPOSED = {
    **{getattr(aten.random, name): function for name, function in _RANDOM.items()},
    **{getattr(aten.random_, name): _in_place(function) for name, function in _RANDOM.items()},
    aten.unfold_backward.default: _unfold_backward,
    aten.rrelu_with_noise_functional.default: _rrelu, aten.rrelu_with_noise_backward.default: _rrelu_backward, aten._cdist_forward.default: _cdist,
    aten._cdist_backward.default: _cdist_backward, aten._pdist_forward.default: _pdist, aten._pdist_backward.default: _pdist_backward,
    aten._weight_norm_interface.default: _weight_norm, aten._weight_norm_interface_backward.default: _weight_norm_backward,
    aten._embedding_bag_forward_only.default: _embedding_bag, aten._embedding_bag.default: _embedding_bag, aten._embedding_bag_backward.default: _embedding_bag_backward_of_any,
    aten._embedding_bag_dense_backward.default: _embedding_bag_backward, aten.masked_scatter_backward.default: _masked_scatter_backward}
