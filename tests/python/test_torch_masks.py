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
    "places": lambda x, y, m, rows: x[m.nonzero(as_tuple=True)].sum() + (lambda i: (x[i] * y[i]).sum() + x.index_select(0, i).square().sum())(rows.nonzero()[:, 0]),
    "slices added at places": lambda x, y, m, rows: (lambda i, j: torch.zeros(6, 5).index_add(0, i, x[i] * y[i, j].unsqueeze(1)).square().sum())(*torch.where(m)),
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


class Experts(torch.nn.Module):
    """A mixture of experts, each of which takes the tokens that have chosen it."""

    def __init__(self):
        super().__init__()
        self.gate = torch.nn.Linear(8, 4, bias=False)
        self.experts = torch.nn.ModuleList(torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.GELU(), torch.nn.Linear(16, 8)) for _ in range(4))

    def forward(self, x, y):
        rows = x.view(-1, 8)
        weights, chosen = torch.topk(self.gate(rows).softmax(-1), 2)
        weights = weights / weights.sum(-1, keepdim=True)
        result, chosen = torch.zeros_like(rows), F.one_hot(chosen, 4).permute(2, 1, 0)
        for number, expert in enumerate(self.experts):
            which, token = torch.where(chosen[number])
            result.index_add_(0, token, expert(rows[None, token].reshape(-1, 8)) * weights[token, which, None])
        return F.mse_loss(result.view(x.shape), y)


def test_experts_that_take_their_tokens_train_as_eager():
    torch.manual_seed(5)
    model = Experts()
    twin = copy.deepcopy(model)
    optimizers = [torch.optim.SGD(m.parameters(), lr=0.5) for m in (model, twin)]
    step = pando.torch.compile_step(twin, None, optimizers[1])
    for _ in range(3):
        x, y = torch.randn(2, 5, 8), torch.randn(2, 5, 8)
        optimizers[0].zero_grad()
        expected = model(x, y)
        expected.backward()
        optimizers[0].step()
        torch.testing.assert_close(step((x, y)), expected.detach())
    torch.testing.assert_close(twin.state_dict(), model.state_dict(), rtol=1e-4, atol=1e-5)


def test_what_depends_on_data_is_an_error_with_the_line():

    class Sorted(torch.nn.Module):
        def forward(self, x):
            return x[x > 0].sort()[0].sum()

    model = Sorted()
    model.weight = torch.nn.Parameter(torch.zeros(()))
    with pytest.raises(NotImplementedError, match=r"aten.sort.default: .*test_torch_masks.py:\d+: return x\[x > 0\].sort") as caught:
        pando.torch.to_ir(model, torch.randn(4, 3))
    assert "While executing" not in str(caught.value)


def test_counts_have_as_many_places_as_the_program_says():
    model = lambda x, w: [torch.bincount(x, minlength=5), torch.bincount(x, w, minlength=5)]  # noqa: E731
    x, w = torch.tensor([1, 3, 3, 0]), torch.randn(4)
    program = compiled(model, [x, w])
    torch.testing.assert_close(program([x, w]), model(x, w))
    with pytest.raises(IndexError, match="has 5 at"):
        program([x + 2, w])


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
                                      lambda x, m: (x[m].unsqueeze(0) * x[m].unsqueeze(1)).sum(), lambda x, m: m.nonzero(),
                                      lambda x, m: x.index_put((m.nonzero()[:, 0],), torch.zeros([])), lambda x, m: x.round().unique(),
                                      lambda x, m: torch.bincount(m.sum(0)), lambda x, m: x[:m.sum()]],
                         ids=["result", "sort", "pairs", "places", "putting", "numbers", "counts", "length"])
def test_what_has_no_static_form_is_rejected(function):
    with pytest.raises(NotImplementedError, match="depends on data|value of a tensor|asks for a value"):
        compiled(lambda x: [function(x, x > 0)], [torch.randn(4, 3)])
