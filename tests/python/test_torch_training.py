"""Training programs as people have them: what PyTorch does around a step, and what a program says that it cannot do."""
import copy

import pytest

torch = pytest.importorskip("torch")

import pando.torch  # noqa: E402
from torch.utils.checkpoint import checkpoint  # noqa: E402

loss = torch.nn.functional.cross_entropy


def perceptron():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Tanh(), torch.nn.Linear(8, 3))


def batch(count=16):
    return torch.randn(count, 6), torch.randint(0, 3, (count,))


def sgd(model):
    return torch.optim.SGD(model.parameters(), lr=0.5)


def train_both(model, twin, batches, after=lambda m: None):
    """Trains a model in eager mode and its twin by a compiled step: losses and weights are equal."""
    optimizer, other = sgd(model), sgd(twin)
    step = pando.torch.compile_step(twin, loss, other)
    for x, y in batches:
        expected = loss(model(x), y)
        optimizer.zero_grad()
        expected.backward()
        optimizer.step()
        after(model)
        torch.testing.assert_close(step(x, y), expected.detach(), rtol=1e-5, atol=1e-6)
        step.sync()
        after(twin)
    torch.testing.assert_close(twin.state_dict(), model.state_dict(), rtol=1e-5, atol=1e-6)


class Checkpointed(torch.nn.Module):
    def __init__(self, reentrant):
        super().__init__()
        torch.manual_seed(0)
        self.first, self.inner, self.last, self.reentrant = torch.nn.Linear(6, 6), perceptron(), torch.nn.Linear(3, 3), reentrant

    def forward(self, x):
        return self.last(checkpoint(self.inner, self.first(x), use_reentrant=self.reentrant))


@pytest.mark.parametrize("reentrant", [False, True])
def test_what_is_checkpointed_is_computed_again_with_the_weights_of_the_step(reentrant):
    model = Checkpointed(reentrant)
    train_both(model, copy.deepcopy(model), [batch() for _ in range(3)])


def hooked():
    model = perceptron()
    model[0].register_forward_hook(lambda module, given, made: made * 2)
    model[2].register_full_backward_hook(lambda module, given, taken: (given[0] * 3,))
    model[0].weight.register_hook(lambda gradient: gradient.clamp(-0.01, 0.01))
    model[2].weight.register_hook(lambda gradient: None)
    return model


def test_hooks_of_modules_and_of_weights_count():
    train_both(hooked(), hooked(), [batch() for _ in range(3)])


def test_a_hook_after_a_gradient_is_said():
    model = perceptron()
    model[0].weight.register_post_accumulate_grad_hook(lambda p: None)
    with pytest.raises(NotImplementedError, match="register_post_accumulate_grad_hook"):
        pando.torch.compile_step(model, loss, sgd(model))(*batch())


def test_weights_that_are_written_on_the_host_reach_the_next_call():

    def halve(model):
        with torch.no_grad():
            model[0].weight.mul_(0.5)
            model[2].bias.data = model[2].bias.data + 0.1

    model = perceptron()
    train_both(model, copy.deepcopy(model), [batch() for _ in range(3)], after=halve)


def test_a_weight_that_is_written_leaves_the_others_of_the_device():
    model = perceptron()
    twin = copy.deepcopy(model)
    x, y = batch()
    steps = [pando.torch.compile_step(m, loss, sgd(m)) for m in (model, twin)]
    for step in steps:
        step(x, y)
    steps[0].sync()
    with torch.no_grad():
        for m in (model, twin):
            m[2].bias.fill_(0.25)
    assert torch.equal(steps[0](x, y), steps[1](x, y))


class Profiled(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = perceptron()
        self.compiled = torch.compile(self.inner, backend="eager")

    def forward(self, x):
        with torch.profiler.record_function("inner"):
            return self.compiled(x)


def test_notes_for_a_profiler_and_functions_that_are_compiled_inside():
    model = Profiled()
    step = pando.torch.compile_step(model, loss, sgd(model))
    x, y = batch()
    torch.testing.assert_close(step(x, y), loss(perceptron()(x), y).detach())


class Convolutions(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.layers = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3, padding=1, bias=False), torch.nn.BatchNorm2d(8), torch.nn.ReLU(inplace=True), torch.nn.MaxPool2d(2))
        self.head = torch.nn.Linear(8, 3)

    def forward(self, x):
        return self.head(torch.nn.functional.adaptive_avg_pool2d(self.layers(x), 1).flatten(1))


def test_channels_last_and_a_small_last_batch():
    model = Convolutions().to(memory_format=torch.channels_last)
    images = [torch.randn(n, 3, 8, 8).to(memory_format=torch.channels_last) for n in (4, 4, 3)]
    train_both(model, copy.deepcopy(model), [(x, torch.randint(0, 3, (len(x),))) for x in images])


def test_a_loop_with_scaled_losses_and_accumulation():
    model = perceptron()
    twin = copy.deepcopy(model)
    compiled = torch.compile(twin, backend="pando")
    for m, call in ((model, model), (twin, compiled)):
        torch.manual_seed(1)
        optimizer, scaler = sgd(m), torch.amp.GradScaler("cpu")
        for i in range(4):
            x, y = batch()
            with torch.autocast("cpu", dtype=torch.bfloat16):
                value = loss(call(x), y) / 2
            scaler.scale(value).backward()
            if i % 2:
                scaler.step(optimizer)
                scaler.update()
                optimizer.zero_grad()
    torch.testing.assert_close(twin.state_dict(), model.state_dict(), rtol=2e-2, atol=2e-2)


class Elsewhere(torch.nn.Module):
    """A model that keeps a weight in a list, which no program sees."""

    def __init__(self):
        super().__init__()
        self.inner = perceptron()
        self.kept = [self.inner[0].bias]

    def forward(self, x):
        return self.inner(x) * self.kept[0].sum()


@pytest.mark.parametrize("make,call,error,text", [
    (Elsewhere, lambda step, x, y: step(x, y), NotImplementedError, "uses its weight inner.0.bias as a tensor that it keeps elsewhere"),
    (perceptron, lambda step, x, y: step((x, y)), TypeError, "A tuple or list of inputs holds the model's arguments"),
    (perceptron, lambda step, x, y: step(x), TypeError, "The loss gets the model's output and 0 targets"),
])
def test_what_to_do_is_said(make, call, error, text):
    model = make()
    with pytest.raises(error) as found:
        call(pando.torch.compile_step(model, loss, sgd(model)), *batch())
    assert text in "\n".join([str(found.value), *getattr(found.value, "__notes__", [])])


def test_a_scripted_module_is_said():
    with pytest.warns(FutureWarning) if torch.__version__ >= "2.15" else pytest.MonkeyPatch.context():
        model = torch.jit.script(torch.nn.Linear(2, 2))
    with pytest.raises(TypeError, match="Give the module that it was made of"):
        pando.torch.compile_step(model, loss, sgd(model))
