"""Element types, factors of matrices and special functions of PyTorch in programs of Pando, over sizes and ranges."""
import pytest

torch = pytest.importorskip("torch")
F = torch.nn.functional

from pando.torch import adapter  # noqa: E402
from pando.torch.decompositions import decompositions  # noqa: E402
from pando.torch.program import Program  # noqa: E402
from pando.torch.types import UnsupportedType  # noqa: E402


def run(function, *tensors, device="cpu"):
    """The results of a program, a list."""

    def results(*given):
        made = function(*given)
        return list(made) if isinstance(made, (tuple, list)) else [made]

    return Program(adapter.trace(results, list(tensors), decompositions()), device)(list(tensors))


def integers(low, high, *shape, dtype=torch.int64):
    return torch.randint(low, high, shape).to(dtype)


@pytest.mark.parametrize("device", ["cpu", "ipu_model"])
@pytest.mark.parametrize("dtype, most", [(torch.int64, 2000), (torch.int32, 2**31 - 1), (torch.int16, 3000), (torch.int8, 127), (torch.uint8, 255)])
def test_products_of_integers_are_exact(dtype, most, device):
    torch.manual_seed(1)
    a, b = integers(0 if dtype is torch.uint8 else -most, most, 5, 300, dtype=dtype), integers(0 if dtype is torch.uint8 else -most, most, 300, 7, dtype=dtype)
    assert torch.equal(run(torch.mm, a, b, device=device)[0], a @ b)


def test_convolutions_windows_and_powers_of_integers_are_exact():
    torch.manual_seed(2)
    x, w = integers(-900, 900, 2, 6, 9, 8), integers(-900, 900, 4, 3, 3, 2)
    for function, tensors in [(lambda x, w: F.conv2d(x, w, stride=2, padding=1, groups=2), (x, w)), (lambda x: F.max_pool2d(x, 3, 2, 1, return_indices=True), (x,)),
                              (lambda x: F.avg_pool2d(x, (2, 3), padding=1), (x,)), (lambda x: F.pad(x, (2, 1, 3, 0), mode="reflect"), (x,)),
                              (torch.pow, (torch.tensor([9, -3, 7, 1, -1, 0, 2]), torch.tensor([9, 13, 0, -2, -3, 5, -1])))]:
        wanted = function(*tensors)
        for got, value in zip(run(function, *tensors), wanted if isinstance(wanted, tuple) else (wanted,)):
            assert torch.equal(got, value)


def test_bools_have_extremes_signs_orders_and_sums():
    torch.manual_seed(3)
    a, b, index = torch.rand(6, 4) > 0.5, torch.rand(6, 4) > 0.5, torch.tensor([0, 3, 3, 1, 0, 2])
    for function in (torch.maximum, torch.minimum, lambda a, b: a.sign(), lambda a, b: torch.zeros_like(a).index_add(0, index, b),
                     lambda a, b: a.sort(stable=True, dim=1, descending=True), lambda a, b: a.sum(0)):
        wanted = function(a, b)
        for got, value in zip(run(function, a, b), wanted if isinstance(wanted, tuple) else (wanted,)):
            assert torch.equal(got, value)


def test_tensors_without_elements():
    empty, x = torch.zeros(0, 3), torch.ones(2, 3)
    for function in (lambda e, x: e + x[:1], lambda e, x: torch.cat([e, x]), lambda e, x: x @ e.t(), lambda e, x: e.t() @ e, lambda e, x: e.sum(0),
                     lambda e, x: e.mean(), lambda e, x: e.var(), lambda e, x: torch.var_mean(e, 0, keepdim=True)[0], lambda e, x: x[:0].softmax(1)):
        torch.testing.assert_close(run(function, empty, x)[0], function(empty, x), equal_nan=True)


def test_a_type_that_an_op_does_not_take_is_named():
    with pytest.raises(UnsupportedType, match=r"aten\.grid_sampler_2d.*torch\.int64|aten\.\w+\.\w+ of torch\.int"):
        run(lambda x: torch.ops.aten.gelu(x), torch.zeros(2, 3, dtype=torch.int32))


# --- factors of matrices


def matrices(rows, columns):
    """Matrices of all kinds."""
    low = min(rows, columns)
    scales = torch.logspace(-5, 0, low)
    yield "random", torch.randn(rows, columns)
    yield "zero", torch.zeros(rows, columns)
    yield "rank 1", torch.outer(torch.randn(rows), torch.randn(columns))
    yield "graded", torch.linalg.qr(torch.randn(rows, low))[0] * scales @ torch.linalg.qr(torch.randn(columns, low))[0].mT
    yield "equal", torch.eye(rows, columns) * 3
    yield "small", torch.randn(rows, columns) * 1e-25


def close(got, wanted, scale, tolerance=1e-5):
    assert (got.double() - wanted.double()).abs().max() <= tolerance * max(float(scale), 1e-30)


@pytest.mark.parametrize("count", [1, 2, 9, 24])
def test_eigenvalues_of_symmetric_matrices(count):
    torch.manual_seed(count)
    kinds = [a + a.mT for _, a in matrices(count, count)]
    a = torch.stack(kinds)
    values, vectors = run(torch.linalg.eigh, a)
    for i, whole in enumerate(kinds):
        scale = whole.abs().max() * count**0.5
        close(values[i], torch.linalg.eigvalsh(whole.double()), scale)
        close((vectors[i].double() * values[i]) @ vectors[i].double().mT, whole, scale)
        close(vectors[i].double().mT @ vectors[i].double(), torch.eye(count), 1)


@pytest.mark.parametrize("rows, columns", [(1, 1), (2, 5), (9, 9), (33, 12)])
@pytest.mark.parametrize("full", [False, True], ids=["reduced", "full"])
def test_singular_values(rows, columns, full):
    torch.manual_seed(rows)
    kinds = [a for _, a in matrices(rows, columns)]
    left, values, right = run(lambda a: torch.linalg.svd(a, full_matrices=full), torch.stack(kinds))
    low = min(rows, columns)
    assert left.shape == (len(kinds), rows, rows if full else low) and right.shape == (len(kinds), columns if full else low, columns)
    for i, whole in enumerate(kinds):
        scale = whole.abs().max() * max(rows, columns)**0.5
        close(values[i], torch.linalg.svdvals(whole.double()), scale)
        close((left[i][:, :low].double() * values[i]) @ right[i][:low].double(), whole, scale)
        close(left[i].double().mT @ left[i].double(), torch.eye(left.shape[-1]), 1)
        close(right[i].double() @ right[i].double().mT, torch.eye(right.shape[-2]), 1)


FACTORS = {
    "eigh": lambda a: (lambda v, w: (v * torch.arange(6.0)).sum() + (w * w).cumsum(0).sum())(*torch.linalg.eigh(a + a.mT)),
    "svd": lambda a: (lambda u, s, v: (s * torch.arange(6.0)).sum() + ((u * s) @ v).square().cumsum(1).sum())(*torch.linalg.svd(a)),
    "pinv": lambda a: torch.linalg.pinv(a[:, :4]).square().sum(),
    "nuclear norm": lambda a: torch.linalg.matrix_norm(a, "nuc") + torch.linalg.matrix_norm(a, 2) + torch.linalg.cond(a).log(),
    "matrix_exp": lambda a: torch.linalg.matrix_exp(a).square().sum(),
}


@pytest.mark.parametrize("name", FACTORS)
def test_factors_have_gradients_of_eager(name):

    def both(a):
        a = a.detach().requires_grad_()
        value = FACTORS[name](a)
        return value.detach(), torch.autograd.grad(value, a)[0]

    torch.manual_seed(6)
    a = torch.randn(6, 6)
    for got, wanted in zip(run(both, a), both(a)):
        torch.testing.assert_close(got, wanted, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("size", [0.0, 1e-3, 1.0, 20.0])
def test_exponentials_of_matrices(size):
    torch.manual_seed(7)
    a = torch.randn(4, 12, 12) * size / 12**0.5
    a[1] = -a[1] @ a[1].mT
    wanted = torch.linalg.matrix_exp(a.double())
    close(run(torch.linalg.matrix_exp, a)[0], wanted, wanted.abs().max(), 1e-5)


# --- functions

FUNCTIONS = {
    "bessel_j0": (-300, 300), "bessel_j1": (-300, 300), "bessel_y0": (1e-3, 300), "bessel_y1": (1e-3, 300), "modified_bessel_k0": (1e-3, 80),
    "modified_bessel_k1": (1e-3, 80), "scaled_modified_bessel_k0": (1e-3, 500), "scaled_modified_bessel_k1": (1e-3, 500), "ndtri": (1e-6, 1 - 1e-6),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_are_as_near_as_eager(name):
    function, (low, high) = getattr(torch.special, name), FUNCTIONS[name]
    x = torch.cat([torch.linspace(low, high, 4001), torch.logspace(-2, 0, 200) * high, torch.tensor([0.0, -1.0, float("inf"), float("nan")])])
    # These have no form of float64 but the exact one.
    wanted = function(x.double())
    got = run(function, x)[0].double()
    assert torch.equal(got.isnan(), wanted.isnan()) and torch.equal(got.isinf(), wanted.isinf())
    finite = wanted.isfinite()
    torch.testing.assert_close(got[finite], wanted[finite], rtol=5e-6, atol=3e-6)


@pytest.mark.parametrize("limits", [(0, 0), (-1, 2), (0.5, 0.5)])
def test_histograms(limits):
    torch.manual_seed(8)
    x = torch.cat([torch.randn(500), torch.tensor([-1.0, 2.0, 0.0, 0.5])])
    assert torch.equal(run(lambda x: x.histc(7, *limits), x)[0], x.histc(7, *limits))
    counts, edges = run(lambda x: torch.histogram(x, 6), x)
    wanted = torch.histogram(x, 6)
    assert torch.equal(counts, wanted.hist)
    torch.testing.assert_close(edges, wanted.bin_edges)


def test_rows_by_groups():
    torch.manual_seed(9)
    x, w, ends = torch.randn(10, 8), torch.randn(3, 8, 4), torch.tensor([4, 4, 9], dtype=torch.int32)
    wanted = torch.cat([x[:4] @ w[0], x[4:9] @ w[2], torch.zeros(1, 4)])
    torch.testing.assert_close(run(lambda *t: torch._grouped_mm(t[0], t[1], offs=t[2]), x, w, ends)[0], wanted, rtol=1e-4, atol=1e-5)
