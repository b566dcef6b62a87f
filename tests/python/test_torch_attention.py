"""Attention in all the forms that PyTorch has, and functional transforms: equal to eager, or to products where eager has no gradient on the host."""
import copy

import pytest

torch = pytest.importorskip("torch")

import pando.torch  # noqa: E402

attend = torch.nn.functional.scaled_dot_product_attention
flex = pytest.importorskip("torch.nn.attention.flex_attention")


def distance(score, batch, head, i, j):
    return score + (i - j) * 0.1


def causal(batch, head, i, j):
    return i >= j


def products(query, key, value, score=None, mask=None):
    """Attention written out."""
    key, value = (t.repeat_interleave(query.shape[1] // key.shape[1], 1) for t in (key, value))
    scores = query @ key.transpose(-1, -2) * query.shape[-1]**-0.5
    places = [torch.arange(n).reshape(-1, *[1] * (3 - d)) for d, n in enumerate(scores.shape)]
    scores = scores if score is None else score(scores, *places)
    scores = scores if mask is None else scores.masked_fill(~mask(*places), float("-inf"))
    return scores.softmax(-1) @ value


LENGTH = 128
MASK = flex.create_block_mask(causal, None, None, LENGTH, LENGTH, device="cpu")
BIAS = torch.linspace(-1, 1, 4)


def biased(score, batch, head, i, j):
    return score * BIAS[head]


def chosen(backend):
    """Attention for which the program asks for one of PyTorch's kernels."""

    def function(q, k, v):
        with torch.nn.attention.sdpa_kernel(backend):
            return attend(q, k, v)

    return function


BACKENDS = torch.nn.attention.SDPBackend
FORMS = {
    "flex": (lambda q, k, v: flex.flex_attention(q, k, v), products),
    "flex_score": (lambda q, k, v: flex.flex_attention(q, k, v, score_mod=distance), lambda q, k, v: products(q, k, v, distance)),
    "flex_bias": (lambda q, k, v: flex.flex_attention(q, k, v, score_mod=biased), lambda q, k, v: products(q, k, v, biased)),
    "flex_mask": (lambda q, k, v: flex.flex_attention(q, k, v, block_mask=MASK), lambda q, k, v: products(q, k, v, None, causal)),
    "flex_both": (lambda q, k, v: flex.flex_attention(q, k, v, score_mod=distance, block_mask=MASK), lambda q, k, v: products(q, k, v, distance, causal)),
    "flex_mask_made": (lambda q, k, v: flex.flex_attention(q, k, v, block_mask=flex.create_block_mask(causal, None, None, LENGTH, LENGTH, device="cpu")),
                       lambda q, k, v: products(q, k, v, None, causal)),
    "flex_groups": (lambda q, k, v: flex.flex_attention(q, k[:, :2], v[:, :2], score_mod=distance, enable_gqa=True),
                    lambda q, k, v: products(q, k[:, :2], v[:, :2], distance)),
    "groups": (lambda q, k, v: attend(q, k[:, :2], v[:, :2], enable_gqa=True), lambda q, k, v: products(q, k[:, :2], v[:, :2])),
    "causal_groups": (lambda q, k, v: attend(q, k[:, :2], v[:, :2], is_causal=True, enable_gqa=True), lambda q, k, v: products(q, k[:, :2], v[:, :2], None, causal)),
    "kernel_flash": (chosen(BACKENDS.FLASH_ATTENTION), products),
    "kernel_of_several": (chosen([BACKENDS.EFFICIENT_ATTENTION, BACKENDS.MATH]), products),
}


class Attention(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.q, self.k, self.v = (torch.nn.Linear(8, 8) for _ in range(3))
        self.function = function

    def forward(self, x):
        return self.function(self.q(x), self.k(x), self.v(x))


def square(y):
    return y.square().mean()


def train_both(model, twin, x, make_loss, count=3):
    """Trains a model in eager mode and its twin by a function of an optimizer that gives the loss of a step."""
    optimizer, other = (torch.optim.SGD(m.parameters(), lr=0.5) for m in (model, twin))
    run = make_loss(twin, other)
    for _ in range(count):
        expected = square(model(x))
        optimizer.zero_grad()
        expected.backward()
        optimizer.step()
        torch.testing.assert_close(run(x), expected.detach(), rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(twin.state_dict(), model.state_dict(), rtol=1e-4, atol=1e-5)


def whole_step(twin, optimizer):
    return pando.torch.compile_step(twin, square, optimizer)


def loop(twin, optimizer):
    torch._dynamo.reset()
    compiled = torch.compile(twin, backend="pando")

    def run(x):
        value = square(compiled(x))
        optimizer.zero_grad()
        value.backward()
        optimizer.step()
        return value.detach()

    return run


@pytest.mark.parametrize("way", [whole_step, loop])
@pytest.mark.parametrize("name", FORMS)
def test_attention(name, way):
    function, wanted = FORMS[name]
    torch.manual_seed(0)
    model, twin = Attention(wanted), Attention(function)
    twin.load_state_dict(model.state_dict())
    train_both(model, twin, torch.randn(2, 4, LENGTH, 8), way)


def test_gradients_of_what_a_score_reads():
    """A function of scores that reads in a tensor which has a gradient."""

    class Biased(torch.nn.Module):
        def __init__(self, function):
            super().__init__()
            self.bias = torch.nn.Parameter(torch.linspace(-1, 1, 4 * 16 * 16).reshape(4, 16, 16))
            self.function = function

        def forward(self, x):
            return self.function(x, x, x, lambda score, b, h, i, j: score + self.bias[h, i, j])

    train_both(Biased(products), Biased(flex.flex_attention), torch.randn(2, 4, 16, 8), loop)
    train_both(Biased(products), Biased(flex.flex_attention), torch.randn(2, 4, 16, 8), whole_step)


def test_a_function_that_is_compiled_inside_of_a_model():
    model, compiled = Attention(products), torch.compile(flex.flex_attention)
    twin = Attention(lambda q, k, v: compiled(q, k, v))
    twin.load_state_dict(model.state_dict())
    train_both(model, twin, torch.randn(2, 4, 16, 8), whole_step)


TRANSFORMS = {
    "vmap": lambda x, w: torch.vmap(lambda a: torch.tanh(a @ w))(x), "grad": lambda x, w: torch.func.grad(lambda a: (a @ w).tanh().sum())(x),
    "vmap_of_grad": lambda x, w: torch.vmap(torch.func.grad(lambda a: (a @ w).tanh().sum()))(x),
    "jacrev": lambda x, w: torch.func.jacrev(lambda a: (a @ w).tanh())(x), "jacfwd": lambda x, w: torch.func.jacfwd(lambda a: (a @ w).tanh())(x),
    "hessian": lambda x, w: torch.vmap(torch.func.hessian(lambda a: (a @ w).tanh().sum()))(x),
    "jvp": lambda x, w: torch.func.jvp(lambda a: (a @ w).tanh(), (x,), (x.cos(),))[1], "vjp": lambda x, w: torch.func.vjp(lambda a: (a @ w).tanh(), x)[1](x)[0],
    "gradient_of_a_gradient": lambda x, w: torch.autograd.grad((x @ w).tanh().sum(), w, create_graph=True)[0],
}


class Transformed(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.w, self.function = torch.nn.Parameter(torch.linspace(-1, 1, 16).reshape(4, 4).cos()), function

    def forward(self, x):
        return self.function(x, self.w)


@pytest.mark.parametrize("way", [whole_step, loop])
@pytest.mark.parametrize("name", TRANSFORMS)
def test_functional_transforms(name, way):
    if name == "gradient_of_a_gradient" and way is loop:
        pytest.skip("torch.compile has no gradients of gradients")
    torch.manual_seed(0)
    model = Transformed(TRANSFORMS[name])
    train_both(model, copy.deepcopy(model), torch.randn(5, 4), way)
