"""Embedding bags, and tables whose rows have a largest norm."""
import torch

aten = torch.ops.aten


_SUM, _MEAN, _MAX = 0, 1, 2


def _kept(indices, padding_idx, dtype):
    """1 for each index that counts, 0 for padding, in a column."""
    ones = torch.ones(indices.shape, dtype=dtype)
    return (ones if padding_idx < 0 else torch.where(indices == padding_idx, 0, ones)).unsqueeze(1)


def _embedding_bag(weight, indices, offsets, scale_grad_by_freq=False, mode=0, sparse=False, per_sample_weights=None, include_last_offset=False, padding_idx=-1):
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
    if scale_grad_by_freq:
        often = torch.zeros([num_weights], dtype=gradient.dtype).index_add(0, indices, torch.ones(indices.shape, dtype=gradient.dtype))
        rows = rows / often.index_select(0, indices).unsqueeze(1)
    return torch.zeros((num_weights, gradient.shape[1]), dtype=gradient.dtype).index_add(0, indices, rows)


def _embedding_bag_backward_of_any(gradient, indices, offsets, bag, size, largest, num_weights, scale_grad_by_freq, mode, sparse, per_sample_weights,
                                   padding_idx=-1):
    return _embedding_bag_backward(gradient, indices, bag, size, largest, num_weights, scale_grad_by_freq, mode, per_sample_weights, padding_idx)


def _of_samples(gradient, weight, indices, offsets, bag, mode, padding_idx=-1):
    """The gradient of the samples' weights."""
    rows = weight.index_select(0, indices) * _kept(indices, padding_idx, weight.dtype)
    return (gradient.index_select(0, bag) * rows).sum(1)


def _renormed(weight, indices, max_norm, norm_type):
    """The table with the rows that some indices name scaled to a norm of at most max_norm."""
    named = torch.zeros([weight.shape[0]], dtype=torch.int64).index_fill(0, indices.reshape(-1), 1) > 0
    norms = torch.linalg.vector_norm(weight, norm_type, 1)
    scale = torch.where(named & (norms > max_norm), max_norm / (norms + 1e-7), 1)
    return weight * scale.unsqueeze(1)


COMPOSED = {
    aten.embedding_renorm.default: _renormed,
    aten._embedding_bag_per_sample_weights_backward.default: _of_samples,
    aten._embedding_bag_forward_only.default: _embedding_bag, aten._embedding_bag.default: _embedding_bag,
    aten._embedding_bag_backward.default: _embedding_bag_backward_of_any, aten._embedding_bag_dense_backward.default: _embedding_bag_backward}
