"""What a mask of bools picks, x[mask], in programs of Pando: reductions of it, and their gradients."""
import copy

import pytest

torch = pytest.importorskip("torch")
F = torch.nn.functional

import pando.torch  # noqa: E402
from pando.torch import adapter  # noqa: E402
from pando.torch.decompositions import decompositions  # noqa: E402
from pando.torch.program import Program  # noqa: E402

# Functions of numbers (6, 5), others (6, 5), a mask of the elements and one of the rows.
SELECTED = {
    "sum": lambda x, y, m, rows: x[m].sum(),
    "mean": lambda x, y, m, rows: x[m].mean(),
    "mean of rows": lambda x, y, m, rows: x[rows].mean(0).square().sum() + x[rows].mean(1).sum() + x[rows].mean(),
    "product": lambda x, y, m, rows: (x[m] / 2).prod() + x[rows].prod(0).sum() + x[rows].prod(1).sum(),
    "product with a zero": lambda x, y, m, rows: (x[m] - x[m].max().detach()).prod(),
    "extremes": lambda x, y, m, rows: x[m].max() + x[m].min() + x[rows].amax(0).sum() + x[rows].amin(1).sum(),
    "comparisons": lambda x, y, m, rows: (x[m] > 0).sum() + x.sum() + torch.where((x[rows] < y[rows]).all(1), x[rows][:, 0], 0).sum(),
    "logarithm of positive numbers": lambda x, y, m, rows: x[x > 0].log().sum(),
    "mask of what is picked": lambda x, y, m, rows: (lambda s: s[s > 0].sqrt().sum())(x[m]),
    "masked_select": lambda x, y, m, rows: torch.masked_select(x, rows.unsqueeze(1)).square().sum(),
    "squared error": lambda x, y, m, rows: F.mse_loss(x[m], y[m]) + F.l1_loss(x[m], y[m], reduction="sum"),
    "logistic loss": lambda x, y, m, rows: F.binary_cross_entropy_with_logits(x[m], (y[m] > 0.5).float()),
    "cross entropy": lambda x, y, m, rows: F.cross_entropy(x[rows], y[rows].argmax(1)),
    "variance": lambda x, y, m, rows: x[m].var() + x[rows].std(0).sum() + torch.var(x[m], unbiased=False) + x[rows].std(1, False).sum()
                                      + sum(t.sum() for t in torch.var_mean(x[rows], 0, correction=0)) + torch.std_mean(x[m])[0],
    "norm": lambda x, y, m, rows: x[m].norm() + x[rows].norm(dim=1).sum(),
    "product of matrices": lambda x, y, m, rows: (x[rows].t() @ y[rows]).square().sum() + (x[rows] @ y.t()).square().mean(),
    "softmax": lambda x, y, m, rows: (x[rows].softmax(0) * y[rows]).sum() + x[rows].softmax(1)[:, 0].sum(),
    "running sum": lambda x, y, m, rows: (x[m].cumsum(0) * y[m]).mean() + x[rows].cumsum(1).square().sum() + torch.cumsum(x[rows], 0).square().sum(),
    "one behind the other": lambda x, y, m, rows: (lambda low: F.mse_loss(torch.cat([x[m], x[low], x[0]]), torch.cat([y[m], x.detach()[low], y[1]])))(y < -0.3)
                                                  + torch.cat([x[rows], y], 0).square().sum(),
    "side by side": lambda x, y, m, rows: torch.cat([x[rows], y[rows]], 1).square().sum(1).sqrt().sum(),
    "different numbers": lambda x, y, m, rows: (lambda found: (found[0] * found[2]).sum() * x.sum() + found[1].float().mul(x).sum())(
        torch.unique((y * 2).round(), return_inverse=True, return_counts=True)),
    "different neighbours": lambda x, y, m, rows: torch.unique_consecutive((y * 2).round()).square().sum() * x.mean(),
    "rows of three dimensions": lambda x, y, m, rows: x.reshape(6, 5, 1)[rows].expand(-1, 5, 3).flatten(1).square().sum(),
    "elements in one row": lambda x, y, m, rows: (x[rows].reshape(-1) * y[rows].reshape(-1)).sum() / 3,
    "count": lambda x, y, m, rows: x[m].sum() / x[m].numel() + x[rows].shape[0] * x.sum(),
    "put back": lambda x, y, m, rows: (lambda z: z.index_put((m,), x[m] * 2).square().sum())(torch.zeros_like(x)),
}


def with_gradient(function):
    def run(x, y):
        x = x.detach().requires_grad_()
        value = function(x, y, y > 0, y.sum(1) > 0)
        return [value.detach(), torch.autograd.grad(value, x)[0]]

    return run


def compiled(function, tensors, device="cpu"):
    graph = adapter.trace(function, tensors, decompositions())
    return Program(graph, device)


@pytest.mark.parametrize("name", SELECTED)
def test_what_a_mask_picks_has_values_and_gradients_of_eager(name):
    function = with_gradient(SELECTED[name])
    torch.manual_seed(3)
    tensors = [torch.randn(6, 5), torch.randn(6, 5)]
    program = compiled(function, tensors)
    # How many a mask picks changes; the program does not.
    for _ in range(3):
        for got, wanted in zip(program(tensors), function(*tensors)):
            torch.testing.assert_close(got, wanted, rtol=1e-4, atol=1e-5)
        tensors = [torch.randn(6, 5), torch.randn(6, 5)]


def test_what_a_mask_does_not_pick_counts_for_nothing():
    function = with_gradient(lambda x, y, m, rows: (x[m].log() * y[m]).sum() + x[m].max() + (x[rows].t() @ y[rows]).sum())
    x, y = torch.rand(4, 3) + 1, torch.tensor([[1.0, -1.0, 2.0], [-1.0, -2.0, -3.0], [0.5, 0.5, -0.5], [-2.0, 1.0, 0.0]])
    x[1], x[3, 0] = float("nan"), float("inf")
    for device in ("cpu", "ipu_model"):
        for got, wanted in zip(compiled(function, [x, y], device)([x, y]), function(x, y)):
            torch.testing.assert_close(got, wanted)


def test_a_mask_that_picks_nothing():
    tensors = [torch.randn(3, 2), -torch.rand(3, 2)]
    total, gradient = compiled(with_gradient(SELECTED["sum"]), tensors)(tensors)
    assert total == 0 and not gradient.any()
    assert compiled(with_gradient(SELECTED["mean"]), tensors)(tensors)[0].isnan()


class Masked(torch.nn.Module):
    """A model of tokens whose loss counts those that are masked."""

    def __init__(self):
        super().__init__()
        self.table, self.head = torch.nn.Embedding(11, 8), torch.nn.Linear(8, 11)

    def forward(self, tokens, labels):
        wanted = labels >= 0
        return F.cross_entropy(self.head(self.table(tokens)[wanted]), labels[wanted])


def test_a_loss_of_masked_tokens_trains_as_eager():
    torch.manual_seed(5)
    model = Masked()
    twin = copy.deepcopy(model)
    optimizers = [torch.optim.SGD(m.parameters(), lr=0.5) for m in (model, twin)]
    step = pando.torch.compile_step(twin, None, optimizers[1])
    for _ in range(3):
        tokens = torch.randint(0, 11, (4, 6))
        labels = torch.where(torch.rand(4, 6) < 0.4, tokens, -1)
        optimizers[0].zero_grad()
        expected = model(tokens, labels)
        expected.backward()
        optimizers[0].step()
        torch.testing.assert_close(step((tokens, labels)), expected.detach())
    torch.testing.assert_close(twin.state_dict(), model.state_dict())


@pytest.mark.parametrize("function", [lambda x, m: x[m], lambda x, m: x[m].sort()[0].sum(),
                                      lambda x, m: (x[m].unsqueeze(0) * x[m].unsqueeze(1)).sum(), lambda x, m: x[m.nonzero(as_tuple=True)].sum(),
                                      lambda x, m: x.round().unique()],
                         ids=["result", "sort", "pairs", "places", "numbers"])
def test_what_has_no_static_form_is_refused(function):
    with pytest.raises(NotImplementedError, match="depends on data|value of a tensor"):
        compiled(lambda x: [function(x, x > 0)], [torch.randn(4, 3)])
