"""torch.cond, shifts of integers, and gradients of tensors without elements."""
import copy

import pytest

torch = pytest.importorskip("torch")

import pando.torch  # noqa: E402

F = torch.nn.functional


def branching(p, x):
    return torch.cond(p.sum() > 0, lambda x: (x * 2).sin(), lambda x: x * x - 1, (x,)).sum()


@pytest.mark.parametrize("device", ["cpu", "ipu_model"])
def test_a_branch_and_its_gradient(device):
    torch._dynamo.reset()
    x = torch.linspace(-1, 1, 5).requires_grad_()
    compiled = torch.compile(branching, backend="pando", fullgraph=True, options={"device": device})
    for p in (torch.ones(2), -torch.ones(2)):
        values = [f(p, x) for f in (compiled, branching)]
        torch.testing.assert_close(*values)
        torch.testing.assert_close(*(torch.autograd.grad(v, x)[0] for v in values))


def test_branches_of_several_results_and_of_none():
    torch._dynamo.reset()
    weight = torch.randn(3, 3)

    def several(x):
        return torch.cond(x.sum() > 0, lambda x: (x @ weight, x.argmax(), x.clone()), lambda x: (x - weight, x.argmin(), x * 2), (x,))

    compiled = torch.compile(several, backend="pando", fullgraph=True)
    for sign in (1, -1):
        x = torch.rand(3, 3) * sign
        torch.testing.assert_close(compiled(x), several(x))


def test_a_step_with_a_branch():
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(3, 3)

        def forward(self, x):
            y = self.linear(x)
            return torch.cond(y.sum() > 0, lambda y: y * 2, lambda y: y.abs() - 1, (y,)).square().mean()

    torch.manual_seed(4)
    model = Model()
    twin = copy.deepcopy(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    step = pando.torch.compile_step(twin, None, torch.optim.SGD(twin.parameters(), lr=0.1))
    signs = set()
    for _ in range(6):
        x = torch.randn(2, 3)
        signs.add(bool(model.linear(x).sum() > 0))
        expected = model(x)
        optimizer.zero_grad()
        expected.backward()
        optimizer.step()
        torch.testing.assert_close(step(x), expected.detach())
    assert signs == {True, False}
    torch.testing.assert_close(twin.state_dict(), model.state_dict())


@pytest.mark.parametrize("dtype", [torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64], ids=str)
def test_shifts(dtype):
    torch._dynamo.reset()
    x = torch.tensor([-7, -1, 0, 1, 5, 100, 127]).to(dtype)
    count = torch.tensor([0, 1, 2, 3, 6, 7, 5]).to(dtype)

    def shifted(x, count):
        return x << 1, x >> 1, x << count, x >> count, x >> 7, x << 6, 1 << count.int(), torch.bitwise_right_shift(100, count.int())

    torch.testing.assert_close(torch.compile(shifted, backend="pando")(x, count), shifted(x, count))


def test_shifts_at_the_border():
    torch._dynamo.reset()
    x = torch.tensor([-2**31, 2**31 - 1, 5], dtype=torch.int32)
    counts = torch.tensor([[31], [32], [40], [-1], [30]], dtype=torch.int32)

    def shifted(x, counts):
        return x >> 31, x << 31, x << 30, x >> counts, x << counts

    torch.testing.assert_close(torch.compile(shifted, backend="pando")(x, counts), shifted(x, counts))


EMPTY = {
    "layer_norm": lambda x, w: F.layer_norm(x, (4,), w, w),
    "group_norm": lambda x, w: F.group_norm(x, 2, w, w),
    "glu": lambda x, w: F.glu(x * w),
    "sort": lambda x, w: (x * w).sort(0).values,
    "unfold": lambda x, w: F.unfold((x * w).reshape(-1, 1, 2, 2), 2),
    "embedding": lambda x, w: F.embedding(torch.zeros(0, dtype=torch.int64), w.reshape(2, 2)),
    "index_add": lambda x, w: w.index_add(0, torch.zeros(0, dtype=torch.int64), x.reshape(-1)),
}


@pytest.mark.parametrize("name", EMPTY)
def test_gradients_of_tensors_without_elements(name):
    torch._dynamo.reset()
    function = EMPTY[name]
    x, w = torch.randn(0, 4, requires_grad=True), torch.randn(4, requires_grad=True)
    found = [torch.autograd.grad(f(x, w).sum(), (x, w), allow_unused=True) for f in (torch.compile(function, backend="pando"), function)]
    torch.testing.assert_close(*found)
