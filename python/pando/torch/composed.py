"""Ops of PyTorch, forward and backward, that are made of others: what PyTorch itself does not take apart."""
import functools
import math

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


def _windows(length, count):
    """Where each of `count` windows that cover a length lies: (count, size); a shorter one repeats its last element."""
    starts = [i * length // count for i in range(count)]
    ends = [-(-(i + 1) * length // count) for i in range(count)]
    size = max(e - s for s, e in zip(starts, ends))
    return torch.tensor([[min(s + k, e - 1) for k in range(size)] for s, e in zip(starts, ends)])


def _adaptive_max_pool(x, output_size):
    n = len(output_size)
    lead, space = list(x.shape[:-n]), list(x.shape[-n:])
    places, flat = torch.zeros([], dtype=torch.int64), x.reshape([*lead, -1])
    for length, count in zip(space, output_size):
        window = _windows(length, count)
        # (..., outputs so far, elements of a window so far) to one dimension more of each.
        places = places.unsqueeze(-1).unsqueeze(-1) * length + window if places.dim() else window
    # Dimensions: output, element, output, element ...
    order = [*range(0, 2 * n, 2), *range(1, 2 * n, 2)]
    places = places.permute(order).reshape([*output_size, -1])
    values = flat.index_select(-1, places.reshape(-1)).reshape([*lead, *places.shape])
    best, which = values.max(-1)
    return best, places.expand([*lead, *places.shape]).gather(-1, which.unsqueeze(-1)).squeeze(-1)


def _scattered_back(gradient, x, places, n):
    lead = list(x.shape[:-n])
    zeros = torch.zeros([*lead, math.prod(x.shape[-n:])], dtype=gradient.dtype)
    return zeros.scatter_add(-1, places.reshape([*lead, -1]), gradient.reshape([*lead, -1])).reshape(x.shape)


def _diagonal_scatter(x, source, offset=0, dim1=0, dim2=1):
    moved = x.movedim((dim1, dim2), (0, 1))
    along = torch.arange(source.shape[-1])
    moved = aten.index_put.default(moved, [along + max(-offset, 0), along + max(offset, 0)], source.movedim(-1, 0))
    return moved.movedim((0, 1), (dim1, dim2))


def _as_strided_scatter(x, source, size, stride, storage_offset=None):
    # Of a contiguous tensor: its elements in row-major order.
    places = torch.full([], storage_offset or 0, dtype=torch.int64)
    for count, step in zip(size, stride):
        places = places.unsqueeze(-1) + torch.arange(count) * step
    return aten.index_put.default(x.reshape(-1), [places.reshape(-1)], source.reshape(-1)).reshape(x.shape)


def _nonzero_static(x, *, size, fill_value=-1):
    """The places of the first `size` elements that are not 0, of all dimensions, and fill_value where there are fewer."""
    count = x.numel()
    rest, coordinates = torch.where(x.reshape(-1) != 0, torch.arange(count), count).sort().values[:size], []
    rest = torch.cat([rest, torch.full([max(size - count, 0)], count)])
    missing = rest == count
    for length in reversed(x.shape):
        coordinates.insert(0, torch.where(missing, fill_value, rest % length))
        rest = rest // length
    return torch.stack(coordinates, 1) if coordinates else rest.new_empty([size, 0])


def _nanmedian_dim(x, dim, keepdim=False):
    # NaN counts as more than all: the median of the others is the middle of the first ones.
    if not x.dim():
        return x.clone(), torch.zeros([], dtype=torch.int64)
    values, places = torch.where(x.isnan(), float("inf"), x).sort(dim)
    count = (~x.isnan()).to(torch.int64).sum(dim, keepdim=True)
    middle = ((count - 1) // 2).clamp(min=0)
    found = torch.where(count == 0, float("nan"), values.gather(dim, middle)), places.gather(dim, middle)
    return tuple(t if keepdim else t.squeeze(dim) for t in found)


def _nanmedian(x):
    return _nanmedian_dim(x.reshape(-1), 0)[0]


def _polynomial(x, numbers):
    value = torch.full_like(x, numbers[-1])
    for number in reversed(numbers[:-1]):
        value = value * x + number
    return value


# Polynomials for modified Bessel functions up to 3.75 and above: M. Abramowitz and I. Stegun, Handbook of Mathematical Functions, 9.8.1 to 9.8.4.
_I0 = ([1.0, 3.5156229, 3.0899424, 1.2067492, 0.2659732, 0.0360768, 0.0045813],
       [0.39894228, 0.01328592, 0.00225319, -0.00157565, 0.00916281, -0.02057706, 0.02635537, -0.01647633, 0.00392377])
_I1 = ([0.5, 0.87890594, 0.51498869, 0.15084934, 0.02658733, 0.00301532, 0.00032411],
       [0.39894228, -0.03988024, -0.00362018, 0.00163801, -0.01031555, 0.02282967, -0.02895312, 0.01787654, -0.00420059])


def _bessel(numbers, odd, scaled):
    """A function of a tensor: the modified Bessel function of the first kind of order 0 or 1 (odd), times exp(-|x|) (scaled)."""
    small, large = numbers

    def function(x):
        size = x.abs()
        low = _polynomial((size / 3.75).square(), small) * (size if odd else 1)
        far = size.clamp(min=3.75)
        high = _polynomial(3.75 / far, large) / far.sqrt()
        value = torch.where(size < 3.75, low * (-size).exp(), high) if scaled else torch.where(size < 3.75, low, high * far.exp())
        return torch.where(x < 0, -value, value) if odd else value

    return function


_SHIFT = 8


def _log_gamma_above(x):
    """The logarithm of the gamma function from 0 on: Stirling's series above 8."""
    product = torch.ones_like(x)
    low = x < _SHIFT
    for k in range(_SHIFT):
        product = torch.where(low, product * (x + k), product)
    far = torch.where(low, x + _SHIFT, x)
    series = _polynomial((1 / far).square(), [1 / 12, -1 / 360, 1 / 1260]) / far
    return (far - 0.5) * far.log() - far + math.log(2 * math.pi) / 2 + series - product.log()


def _lgamma(x):
    mirrored = math.log(math.pi) - (math.pi * (x - x.floor())).sin().abs().log() - _log_gamma_above(torch.where(x < 0.5, 1 - x, x))
    return torch.where(x < 0.5, mirrored, _log_gamma_above(torch.where(x < 0.5, 1 - x, x)))


def _digamma(x):
    above = torch.where(x < 0.5, 1 - x, x)
    low, total = above < _SHIFT, torch.zeros_like(x)
    for k in range(_SHIFT):
        total = torch.where(low, total + 1 / (above + k), total)
    far = torch.where(low, above + _SHIFT, above)
    square = (1 / far).square()
    value = far.log() - 0.5 / far - square * _polynomial(square, [1 / 12, -1 / 120, 1 / 252]) - total
    found = torch.where(x < 0.5, value - math.pi / (math.pi * (x - x.floor())).tan(), value)
    # Poles: at 0 with the sign of 0, at negative integers undefined.
    found = torch.where((x < 0) & (x == x.floor()), float("nan"), found)
    return torch.where(x == 0, torch.where(torch.signbit(x), float("inf"), float("-inf")), found)


def _dist(x, y, p=2):
    return _norm((x - y).reshape(-1), p)


def _narrow_copy(x, dim, start, length):
    return x.narrow(dim, start, length).clone()


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
    aten.adaptive_max_pool2d.default: _adaptive_max_pool, aten.adaptive_max_pool3d.default: _adaptive_max_pool,
    aten.adaptive_max_pool2d_backward.default: functools.partial(_scattered_back, n=2),
    aten.adaptive_max_pool3d_backward.default: functools.partial(_scattered_back, n=3),
    aten.diagonal_scatter.default: _diagonal_scatter, aten.as_strided_scatter.default: _as_strided_scatter, aten.nonzero_static.default: _nonzero_static,
    aten.lgamma.default: _lgamma, aten.digamma.default: _digamma, aten.dist.default: _dist, aten.narrow_copy.default: _narrow_copy,
    aten.nanmedian.default: _nanmedian, aten.nanmedian.dim: _nanmedian_dim, aten.i0.default: _bessel(_I0, False, False),
    aten.special_i0e.default: _bessel(_I0, False, True), aten.special_i1.default: _bessel(_I1, True, False),
    aten.special_i1e.default: _bessel(_I1, True, True),
    **{getattr(aten.random, name): function for name, function in _RANDOM.items()},
    **{getattr(aten.random_, name): _in_place(function) for name, function in _RANDOM.items()},
    aten.unfold_backward.default: _unfold_backward,
    aten.rrelu_with_noise_functional.default: _rrelu, aten.rrelu_with_noise_backward.default: _rrelu_backward, aten._cdist_forward.default: _cdist,
    aten._cdist_backward.default: _cdist_backward, aten._pdist_forward.default: _pdist, aten._pdist_backward.default: _pdist_backward,
    aten._weight_norm_interface.default: _weight_norm, aten._weight_norm_interface_backward.default: _weight_norm_backward,
    aten._embedding_bag_forward_only.default: _embedding_bag, aten._embedding_bag.default: _embedding_bag, aten._embedding_bag_backward.default: _embedding_bag_backward_of_any,
    aten._embedding_bag_dense_backward.default: _embedding_bag_backward, aten.masked_scatter_backward.default: _masked_scatter_backward}
