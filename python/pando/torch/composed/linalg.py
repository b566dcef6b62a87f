"""Factors of matrices and what is solved with them: a step for each column, written out. The last two dimensions are matrices."""
import torch

from pando.torch.rules.loop import written_once

aten = torch.ops.aten


def _outer(column, row):
    return column.unsqueeze(-1) * row.unsqueeze(-2)


def _element(t, k):
    """Element k of the last dimension, of a matrix column k; k: a tensor."""
    return torch.where(torch.arange(t.shape[-1]) == k, t, 0).sum(-1)


def _first_failure(failed):
    """The number of the first step that fails, from 1, or 0. failed: a list of bools, one for each step."""
    number = torch.zeros_like(failed[0], dtype=torch.int32)
    for i in reversed(range(len(failed))):
        number = torch.where(failed[i], i + 1, number)
    return number


def _cholesky(a, *, upper=False, check_errors=False):
    # Of the lower triangle alone, or of the upper one.
    rest, columns, failed = a.mT if upper else a, [], []
    for k in range(a.shape[-1]):
        pivot = rest[..., k, k]
        failed.append(~(pivot > 0))
        column = rest[..., k:, k] / pivot.sqrt().unsqueeze(-1)
        column = torch.cat([torch.zeros_like(rest[..., :k, k]), column], -1)
        columns.append(column)
        rest = rest - _outer(column, column)
    lower = torch.stack(columns, -1)
    return (lower.mT.clone() if upper else lower), _first_failure(failed)


def _solve_triangular(a, b, *, upper, left=True, unitriangular=False):
    if not left:
        return _solve_triangular(a.mT, b.mT, upper=not upper, unitriangular=unitriangular).mT
    count, rest, rows = a.shape[-1], b, {}
    for i in reversed(range(count)) if upper else range(count):
        rows[i] = rest[..., i, :] if unitriangular else rest[..., i, :] / a[..., i, i].unsqueeze(-1)
        rest = rest - _outer(a[..., :, i], rows[i])
    return torch.stack([rows[i].expand(rest[..., 0, :].shape) for i in range(count)], -2)


def _triangular_solve(b, a, upper=True, transpose=False, unitriangular=False):
    found = _solve_triangular(a.mT if transpose else a, b, upper=upper != transpose, unitriangular=unitriangular)
    return found, a.expand([*found.shape[:-2], *a.shape[-2:]]).clone()


def _cholesky_solve(b, factor, upper=False):
    lower = factor.mT if upper else factor
    return _solve_triangular(lower.mT, _solve_triangular(lower, b, upper=False), upper=True)


def _identity(like):
    return torch.eye(like.shape[-2], dtype=like.dtype).expand(like.shape[:-1] + like.shape[-2:-1])


def _cholesky_inverse(factor, upper=False):
    return _cholesky_solve(_identity(factor), factor, upper)


def _rows_by(t, order):
    return t.gather(-2, order.unsqueeze(-1).expand(t.shape))


def _swapped(order, k, other):
    """An order of rows in which the rows k and `other` (a number in a tensor) have changed places."""
    place = torch.arange(order.shape[-1])
    other = other.unsqueeze(-1)
    return order.gather(-1, torch.where(place == k, other, torch.where(place == other, k, place)).expand(order.shape))


def _lu(a, *, pivot=True, check_errors=False):
    if not pivot:
        raise NotImplementedError("aten.linalg_lu_factor_ex: pivot=False is not there, on the host neither.")
    rows, columns = a.shape[-2:]
    row, column = torch.arange(rows), torch.arange(columns)
    pivots, failed = [], []
    for k in range(min(rows, columns)):
        largest = torch.where(row >= k, a[..., :, k].abs(), -1).argmax(-1)
        a = _rows_by(a, _swapped(row.expand(a.shape[:-1]), k, largest))
        pivots.append(largest.to(torch.int32) + 1)
        number = a[..., k, k].unsqueeze(-1)
        failed.append(number.squeeze(-1) == 0)
        factor = torch.where((row > k) & (number != 0), a[..., :, k] / torch.where(number == 0, 1, number), 0)
        a = a - _outer(factor, torch.where(column > k, a[..., k, :], 0))
        a = torch.where((column == k) & (row > k).unsqueeze(-1), factor.unsqueeze(-1), a)
    return a, torch.stack(pivots, -1), _first_failure(failed)


def _order(pivots, rows):
    """Which row of a matrix stands where after the exchanges of a factorisation."""
    order = torch.arange(rows).expand([*pivots.shape[:-1], rows])
    for k in range(pivots.shape[-1]):
        order = _swapped(order, k, pivots[..., k].to(torch.int64) - 1)
    return order


def _lower(lu):
    count = min(lu.shape[-2:])
    return lu[..., :, :count].tril(-1) + torch.eye(lu.shape[-2], count, dtype=lu.dtype)


def _lu_unpack(lu, pivots, unpack_data=True, unpack_pivots=True):
    rows, nothing = lu.shape[-2], lu.new_empty([0])
    exchanged = (_order(pivots, rows).unsqueeze(-2) == torch.arange(rows).unsqueeze(-1)).to(lu.dtype) if unpack_pivots else nothing
    return (exchanged, _lower(lu), lu[..., :min(lu.shape[-2:]), :].triu()) if unpack_data else (exchanged, nothing, nothing.clone())


def _linalg_lu(a, *, pivot=True):
    lu, pivots, _ = _lu(a, pivot=pivot)
    return _lu_unpack(lu, pivots)


def _lu_solve(lu, pivots, b, *, left=True, adjoint=False):
    if not left:
        return _lu_solve(lu, pivots, b.mT, adjoint=not adjoint).mT
    batch = torch.broadcast_shapes(lu.shape[:-2], b.shape[:-2])
    b, order = b.expand([*batch, *b.shape[-2:]]), _order(pivots, lu.shape[-2]).expand([*batch, lu.shape[-2]])
    if not adjoint:
        return _solve_triangular(lu, _solve_triangular(lu, _rows_by(b, order), upper=False, unitriangular=True), upper=True)
    found = _solve_triangular(lu.mT, _solve_triangular(lu.mT, b, upper=False), upper=True, unitriangular=True)
    return _rows_by(found, order.argsort(-1))


def _turned(a):
    """What PyTorch factors, as its gradients know: a matrix whose rows lie together is transposed."""
    return a.mT if a.is_contiguous() else a


def _solve_ex(a, b, *, left=True, check_errors=False):
    vector = b.dim() == 1 or (b.dim() + 1 == a.dim() and b.shape == a.shape[:-1])
    lu, pivots, info = _lu(a)
    found = _lu_solve(lu, pivots, b.unsqueeze(-1) if vector else b, left=left or vector)
    return (found.squeeze(-1) if vector else found), lu, pivots, info


def _inverse(a, *, check_errors=False):
    lu, pivots, info = _lu(a)
    return _lu_solve(lu, pivots, _identity(a)), info


def _sign(pivots):
    """-1 for an odd number of exchanges."""
    odd = (pivots != torch.arange(1, pivots.shape[-1] + 1)).to(torch.int32).sum(-1) % 2
    return torch.where(odd == 0, 1.0, -1.0)


def _det(a):
    lu, pivots, _ = _lu(_turned(a))
    return lu.diagonal(0, -2, -1).prod(-1) * _sign(pivots), lu, pivots


def _slogdet(a):
    lu, pivots, _ = _lu(_turned(a))
    diagonal = lu.diagonal(0, -2, -1)
    return diagonal.sign().prod(-1) * _sign(pivots), diagonal.abs().log().sum(-1), lu, pivots


def _geqrf(a):
    """Householder's reflections, below the diagonal, and their factors."""
    rows, columns = a.shape[-2:]
    count = min(rows, columns)

    def step(a, factors, k):
        row, column = torch.arange(rows), torch.arange(columns)
        at = _element(a, k)
        first, below = _element(at, k), torch.where(row > k, at, 0)
        size = (first * first + (below * below).sum(-1)).sqrt()
        turned = torch.where(first < 0, size, -size)
        plain = (below == 0).all(-1)
        turned = torch.where(plain, first, turned)
        factor = torch.where(plain, 0, (turned - first) / torch.where(turned == 0, 1, turned))
        vector = below / torch.where(plain, 1, first - turned).unsqueeze(-1)
        whole = vector + (row == k).to(a.dtype)
        applied = a - _outer(factor.unsqueeze(-1) * whole, (whole.unsqueeze(-1) * a).sum(-2))
        kept = torch.where((row == k).unsqueeze(-1) & (column == k), turned.unsqueeze(-1).unsqueeze(-1), applied)
        kept = torch.where((row > k).unsqueeze(-1) & (column == k), vector.unsqueeze(-1), kept)
        return [torch.where(column >= k, kept, a), torch.where(torch.arange(count) == k, factor.unsqueeze(-1), factors), k + 1]

    a, factors, _ = written_once(count, step, [a, torch.zeros_like(a[..., 0, :count]), torch.zeros([], dtype=torch.int64)])
    return a, factors


def _reflected(vectors, factors, other, transpose):
    """The product of the reflections, or of its transpose, and a matrix."""
    count = factors.shape[-1]

    def step(other, k):
        row = torch.arange(vectors.shape[-2])
        whole = torch.where(row > k, _element(vectors, k), (row == k).to(vectors.dtype))
        return [other - _outer(_element(factors, k).unsqueeze(-1) * whole, (whole.unsqueeze(-1) * other).sum(-2)), k + (1 if transpose else -1)]

    return written_once(count, step, [other, torch.full([], 0 if transpose else count - 1, dtype=torch.int64)])[0]


def _householder_product(vectors, factors):
    return _reflected(vectors, factors, torch.eye(*vectors.shape[-2:], dtype=vectors.dtype).expand(vectors.shape), False)


def _ormqr(vectors, factors, other, left=True, transpose=False):
    return _reflected(vectors, factors, other, transpose) if left else _reflected(vectors, factors, other.mT, not transpose).mT


def _qr(a, mode="reduced"):
    rows, columns = a.shape[-2:]
    made, factors = _geqrf(a)
    count = rows if mode == "complete" else min(rows, columns)
    upper = made[..., :count, :].triu()
    if mode == "r":
        return a.new_empty([0]), upper
    return _reflected(made, factors, torch.eye(rows, count, dtype=a.dtype).expand([*a.shape[:-1], count]), False), upper


COMPOSED = {aten.linalg_cholesky_ex.default: _cholesky, aten.linalg_solve_triangular.default: _solve_triangular,
            aten.triangular_solve.default: _triangular_solve, aten.cholesky_solve.default: _cholesky_solve, aten.cholesky_inverse.default: _cholesky_inverse,
            aten.linalg_lu_factor_ex.default: _lu, aten.lu_unpack.default: _lu_unpack, aten.linalg_lu.default: _linalg_lu,
            aten.linalg_lu_solve.default: _lu_solve, aten._linalg_solve_ex.default: _solve_ex, aten.linalg_inv_ex.default: _inverse,
            aten._linalg_det.default: _det, aten._linalg_slogdet.default: _slogdet, aten.geqrf.default: _geqrf,
            aten.linalg_householder_product.default: _householder_product, aten.ormqr.default: _ormqr, aten.linalg_qr.default: _qr}
