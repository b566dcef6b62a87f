"""Eigenvalues of symmetric matrices and singular values, by Jacobi's rotations: as many sweeps for each matrix of a size. The last two dimensions are matrices."""
import torch

from pando.torch.composed.linalg import _qr
from pando.torch.rules.loop import written_once

aten = torch.ops.aten


def _sweeps(count):
    """How often each pair of columns meets. Errors are squared from sweep to sweep once the columns are nearly orthogonal."""
    return 5 + count.bit_length()


def _halves(t, dim):
    return t.chunk(2, dim)


def _exchanged(t, dim):
    """The columns as the next round of a sweep pairs them, those of the first half with those of the second: in count - 1 rounds each meets each other."""
    half = t.shape[dim] // 2
    if half == 1:
        return t
    left, right = _halves(t, dim)
    return torch.cat([left.narrow(dim, 0, 1), right.narrow(dim, 0, 1), left.narrow(dim, 1, half - 2), right.narrow(dim, 1, half - 1),
                      left.narrow(dim, half - 1, 1)], dim)


def _rotation(first, second, both):
    """(cosine, sine) of the angles that make `both` 0, the product of two columns whose products with themselves are `first` and `second`."""
    plain = both == 0
    slope = (second - first) / (2 * torch.where(plain, 1, both))
    tangent = torch.where(slope < 0, -1.0, 1.0) / (slope.abs() + (1 + slope * slope).sqrt())
    tangent = torch.where(plain, 0, tangent).to(first.dtype)
    cosine = (1 + tangent * tangent).rsqrt()
    return cosine, tangent * cosine


def _turned(t, cosine, sine, dim):
    left, right = _halves(t, dim)
    return torch.cat([cosine * left - sine * right, sine * left + cosine * right], dim)


def _columns_turned(t, cosine, sine):
    return _exchanged(_turned(t, cosine.unsqueeze(-2), sine.unsqueeze(-2), -1), -1)


def _identity(like, count):
    return torch.eye(count, dtype=like.dtype).expand([*like.shape[:-2], count, count])


def _orthonormal(t):
    """A matrix that is nearly orthogonal, one step nearer: what rounding has left after many rotations is squared."""
    return 1.5 * t - 0.5 * (t @ (t.mT @ t))


def _by(t, order):
    """Columns in an order."""
    return t.gather(-1, order.unsqueeze(-2).expand(t.shape))


def _eigh(a, UPLO="L", compute_v=True):
    count = a.shape[-1]
    lower = (a if UPLO.upper() == "L" else a.mT).tril()
    whole = lower + lower.tril(-1).mT
    # An even number of columns: one of zeros meets the others and stays what it is.
    even = count + count % 2
    whole = aten.constant_pad_nd(whole, [0, even - count, 0, even - count])
    half = even // 2

    def turn(whole, vectors):
        diagonal = whole.diagonal(0, -2, -1)
        cosine, sine = _rotation(diagonal[..., :half], diagonal[..., half:], whole[..., :half, half:].diagonal(0, -2, -1))
        whole = _columns_turned(whole, cosine, sine)
        whole = _exchanged(_turned(whole, cosine.unsqueeze(-1), sine.unsqueeze(-1), -2), -2)
        return [whole, _columns_turned(vectors, cosine, sine)]

    _, vectors = written_once(_sweeps(even) * (even - 1), turn, [whole, _identity(whole, even)])
    vectors = _orthonormal(vectors)
    # Errors of these are the squares of errors of the vectors.
    values, order = ((whole @ vectors) * vectors).sum(-2)[..., :count].sort(-1)
    return values, _by(vectors[..., :count, :count], order) if compute_v else a.new_empty([0])


def _orthogonal_columns(a):
    """(columns that are orthogonal, a matrix V of rotations: the columns are those of a V), by falling length, and their lengths"""
    count = a.shape[-1]
    even = count + count % 2
    half = even // 2

    def turn(columns, vectors):
        left, right = _halves(columns, -1)
        cosine, sine = _rotation((left * left).sum(-2), (right * right).sum(-2), (left * right).sum(-2))
        return [_columns_turned(columns, cosine, sine), _columns_turned(vectors, cosine, sine)]

    # Squares of large and of small numbers stay inside of the range.
    size = a.abs().amax((-2, -1), keepdim=True)
    size = torch.where(size == 0, 1, size)
    padded = aten.constant_pad_nd(a / size, [0, even - count])
    _, vectors = written_once(_sweeps(even) * (even - 1), turn, [padded, _identity(a, even)])
    vectors = _orthonormal(vectors[..., :count, :count])
    columns = padded[..., :count] @ vectors
    lengths, order = (columns * columns).sum(-2).sqrt().sort(-1, descending=True)
    return _by(columns, order), _by(vectors, order), lengths * size.squeeze(-1)


def _svd(a, full_matrices=False, compute_uv=True, *, driver=None):
    if a.shape[-2] < a.shape[-1]:
        left, values, right = _svd(a.mT, full_matrices, compute_uv)
        return (right.mT.clone(), values, left.mT.clone()) if compute_uv else (left, values, right)
    columns, right, values = _orthogonal_columns(a)
    if not compute_uv:
        return a.new_empty([0]), values, a.new_empty([0])
    # Orthogonal columns, some of which may be 0, as columns of length 1, with those that are missing.
    left, upper = _qr(columns, "complete" if full_matrices else "reduced")
    signs = torch.where(upper.diagonal(0, -2, -1) < 0, -1.0, 1.0).to(a.dtype)
    signs = aten.constant_pad_nd(signs, [0, left.shape[-1] - signs.shape[-1]], 1.0)
    return left * signs.unsqueeze(-2), values, right.mT.clone()


def _smallest(a, largest, atol, rtol):
    """Which singular values count as 0: those up to a bound."""
    if rtol is None:
        rtol = torch.finfo(a.dtype).eps * max(a.shape[-2:])
        if atol is not None:
            rtol = torch.where(atol > 0, 0.0, rtol) if isinstance(atol, torch.Tensor) else 0.0 if atol > 0 else rtol
    bound = largest * (rtol.unsqueeze(-1) if isinstance(rtol, torch.Tensor) else rtol)
    atol = 0.0 if atol is None else atol.unsqueeze(-1) if isinstance(atol, torch.Tensor) else atol
    return torch.maximum(bound, atol) if isinstance(atol, torch.Tensor) else bound.clamp(min=atol)


def _pinv(a, *, atol=None, rtol=None, hermitian=False):
    if hermitian:
        values, vectors = _eigh(a)
        bound = _smallest(a, values.abs().amax(-1, keepdim=True), atol, rtol)
        inverse = torch.where(values.abs() > bound, 1 / values, 0)
        return (vectors * inverse.unsqueeze(-2)) @ vectors.mT
    left, values, right = _svd(a)
    inverse = torch.where(values > _smallest(a, values.amax(-1, keepdim=True), atol, rtol), 1 / values, 0)
    return (right.mT * inverse.unsqueeze(-2)) @ left.mT


# Of a matrix with a norm of 2 the series of exp ends here: 2^16 / 16! is below float32's rounding.
_TERMS = 15
# Matrices up to a norm of 2^(_SQUARINGS + 1); of others the result is not a number.
_SQUARINGS = 20


def _matrix_exp(a):
    norm = a.abs().sum(-2).amax(-1)
    times = (torch.where(norm == 0, 1, norm).log2().floor()).clamp(min=0)
    scaled = a * (-times).exp2().unsqueeze(-1).unsqueeze(-1)
    identity = _identity(a, a.shape[-1])
    found = identity
    for k in range(_TERMS, 0, -1):
        found = identity + scaled @ found / k

    def square(found, left):
        again = (left > 0).unsqueeze(-1).unsqueeze(-1)
        return [torch.where(again, found @ found, found), left - 1]

    found, _ = written_once(_SQUARINGS, square, [found, times])
    return torch.where((times > _SQUARINGS).unsqueeze(-1).unsqueeze(-1), float("nan"), found)


def _polar(a):
    """(a matrix of orthonormal columns, a symmetric one without negative eigenvalues) whose product is the given one."""
    left, values, right = _svd(a)
    return left @ right, (right.mT * values.unsqueeze(-2)) @ right


def _sqrt_of_symmetric(a):
    values, vectors = _eigh(a)
    return (vectors * values.sqrt().unsqueeze(-2)) @ vectors.mT


COMPOSED = {aten._linalg_eigh.default: _eigh, aten._linalg_svd.default: _svd, aten.linalg_pinv.atol_rtol_tensor: _pinv,
            aten.linalg_matrix_exp.default: _matrix_exp}
# PyTorch 2.15 has these.
for _name, _function in (("linalg_polar", _polar), ("linalg_matrix_sqrth", _sqrt_of_symmetric)):
    if hasattr(aten, _name):
        COMPOSED[getattr(aten, _name).default] = _function
