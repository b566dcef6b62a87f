"""Products of groups of rows by a matrix for each group, as mixtures of experts have them; where groups end depends on data."""
import torch

aten = torch.ops.aten


def _members(ends, length):
    """For each group a column of bools: which of `length` rows are in it. Groups follow each other."""
    places, begin, found = torch.arange(length).unsqueeze(1), 0, []
    for i in range(ends.shape[0]):
        found.append((places >= begin) & (places < ends[i]))
        begin = ends[i]
    return found


def _rows_by_groups(x, weight, ends):
    """(S, D) by (groups, D, N): each row by the matrix of its group, 0 after the last group."""
    total = None
    for i, members in enumerate(_members(ends, x.shape[0])):
        part = torch.where(members, x, 0) @ weight[i]
        total = part if total is None else total + part
    return total


def _sums_by_groups(x, y, ends):
    """(M, S) by (S, N): a product for each group of the S."""
    return torch.stack([x @ torch.where(members, y, 0) for members in _members(ends, y.shape[0])])


def _grouped_mm(x, weight, offs=None, bias=None, out_dtype=None):
    if offs is None:
        found = torch.bmm(x, weight)
    elif x.dim() == 2 and weight.dim() == 3:
        found = _rows_by_groups(x, weight, offs)
    elif x.dim() == 2:
        found = _sums_by_groups(x, weight, offs)
    elif weight.dim() == 2:
        found = _rows_by_groups(weight.mT, x.mT, offs).mT
    else:
        raise NotImplementedError("aten._grouped_mm: matrices of three dimensions have no groups: leave out offs.")
    found = found if bias is None else found + bias
    return found if out_dtype is None else found.to(out_dtype)


def _backward(x, weight, ends, gradient):
    return _rows_by_groups(gradient, weight.mT, ends), _sums_by_groups(x.mT, gradient, ends)


COMPOSED = {aten._grouped_mm.default: _grouped_mm}
FOREIGN = {"transformers::grouped_mm_fallback": _rows_by_groups, "transformers::grouped_mm_fallback_backward": _backward}
