"""Optimizers of a training step: the numbers that schedules change, those of torch.optim and others, and what cannot be one program."""
import copy

import pytest

torch = pytest.importorskip("torch")

import pando.torch  # noqa: E402
from pando.torch import step as steps  # noqa: E402

loss = torch.nn.functional.cross_entropy


class Lion(torch.optim.Optimizer):
    """An optimizer that makes its state in its first step and counts with a Python number."""

    def __init__(self, params, lr=1e-2, betas=(0.9, 0.99), weight_decay=0.1):
        super().__init__(params, dict(lr=lr, betas=betas, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                state, (beta1, beta2) = self.state[p], group["betas"]
                if not state:
                    state["exp_avg"], state["step"] = torch.zeros_like(p), 0
                state["step"] += 1
                p.mul_(1 - group["lr"] * group["weight_decay"])
                p.add_(state["exp_avg"].mul(beta1).add(p.grad, alpha=1 - beta1).sign_(), alpha=-group["lr"] / state["step"]**0.5)
                state["exp_avg"].mul_(beta2).add_(p.grad, alpha=1 - beta2)


class First(Lion):
    """An optimizer whose first step is another one."""

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                factor = 1 if "seen" in self.state[p] else 10
                self.state[p]["seen"] = torch.tensor(1.0)
                p.add_(p.grad, alpha=-group["lr"] * factor)


class Named(Lion):
    """An optimizer whose state is neither a tensor nor a number."""

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p]["what"] = "parameter"


MAKE = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=1e-2), "adam": lambda p: torch.optim.Adam(p, lr=1e-2),
    "adamw": lambda p: torch.optim.AdamW(p, lr=1e-2), "nadam": lambda p: torch.optim.NAdam(p, lr=1e-2), "radam": lambda p: torch.optim.RAdam(p, lr=1e-2),
    "adamax": lambda p: torch.optim.Adamax(p, lr=1e-2), "rmsprop": lambda p: torch.optim.RMSprop(p, lr=1e-3, momentum=0.9),
    "asgd": lambda p: torch.optim.ASGD(p, lr=1e-2, t0=3), "rprop": lambda p: torch.optim.Rprop(p, lr=1e-2), "adadelta": lambda p: torch.optim.Adadelta(p, lr=0.5),
    "adagrad": lambda p: torch.optim.Adagrad(p, lr=1e-2, lr_decay=0.1), "lion": Lion,
}
if hasattr(torch.optim, "Adafactor"):
    MAKE["adafactor"] = lambda p: torch.optim.Adafactor(p, lr=1e-2, weight_decay=1e-2)


def perceptron():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Tanh(), torch.nn.Linear(8, 3))


def batch():
    return torch.randn(16, 6), torch.randint(0, 3, (16,))


@pytest.fixture(name="programs")
def count_programs(monkeypatch):
    """A list with one entry for each training step that is compiled."""
    made, init = [], steps.StepProgram.__init__
    monkeypatch.setattr(steps.StepProgram, "__init__", lambda self, *args, **kwargs: (made.append(self), init(self, *args, **kwargs))[1])
    return made


def train_both(model, optimizer, step, twin_optimizer, count=10, before=lambda o, i: None, after=lambda o: None):
    """Trains a model in eager mode and by a step of its twin, whose losses are equal."""
    for i in range(count):
        x, y = batch()
        before(optimizer, i)
        before(twin_optimizer, i)
        expected = loss(model(x), y)
        optimizer.zero_grad()
        expected.backward()
        optimizer.step()
        torch.testing.assert_close(step(x, y), expected.detach(), rtol=1e-4, atol=1e-4)
        after(optimizer)
        after(twin_optimizer)


@pytest.mark.parametrize("name", MAKE)
def test_schedules_of_all_numbers_take_one_program(name, programs):
    model = perceptron()
    twin = copy.deepcopy(model)
    optimizers = [MAKE[name](m.parameters()) for m in (model, twin)]
    cycles = "momentum" in optimizers[0].defaults or "betas" in optimizers[0].defaults
    schedules = {o: torch.optim.lr_scheduler.OneCycleLR(o, 0.02, total_steps=12, cycle_momentum=cycles) for o in optimizers}

    def decay(optimizer, i):
        if optimizer.defaults.get("weight_decay"):
            optimizer.param_groups[0]["weight_decay"] = 0.01 + 0.01 * i

    step = pando.torch.compile_step(twin, loss, optimizers[1])
    train_both(model, optimizers[0], step, optimizers[1], before=decay, after=lambda o: schedules[o].step())
    torch.testing.assert_close(twin.state_dict(), model.state_dict(), rtol=1e-3, atol=1e-4)
    assert len(programs) == 1
    if cycles:
        changed = optimizers[1].param_groups[0]
        assert changed.get("momentum", changed.get("betas", (0,))[0]) != optimizers[1].defaults.get("momentum", optimizers[1].defaults.get("betas", (0,))[0])


def test_a_number_that_changes_the_update_takes_another_program(programs):
    model = perceptron()
    twin = copy.deepcopy(model)
    optimizers = [torch.optim.SGD(m.parameters(), lr=0.1) for m in (model, twin)]

    def decay(optimizer, i):
        optimizer.param_groups[0]["weight_decay"] = 0.0 if i < 2 else 0.1 * i

    train_both(model, optimizers[0], pando.torch.compile_step(twin, loss, optimizers[1]), optimizers[1], count=5, before=decay)
    assert len(programs) == 2


def test_what_is_no_number_takes_another_program(programs):
    model = perceptron()
    twin = copy.deepcopy(model)
    optimizers = [torch.optim.SGD(m.parameters(), lr=0.1, momentum=0.9) for m in (model, twin)]

    def look_ahead(optimizer, i):
        optimizer.param_groups[0]["nesterov"] = i >= 2

    train_both(model, optimizers[0], pando.torch.compile_step(twin, loss, optimizers[1]), optimizers[1], count=4, before=look_ahead)
    assert len(programs) == 2


def test_groups_have_numbers_of_their_own(programs):
    model = perceptron()
    twin = copy.deepcopy(model)

    def grouped(m):
        return torch.optim.AdamW([{"params": m[0].parameters(), "lr": 1e-2, "betas": (0.6, 0.9)}, {"params": m[2].parameters(), "weight_decay": 0.0}], lr=1e-3)

    optimizers = [grouped(m) for m in (model, twin)]

    def change(optimizer, i):
        optimizer.param_groups[0]["betas"] = (0.6 + 0.03 * i, 0.9)
        optimizer.param_groups[1]["lr"] = 1e-3 * (i + 1)

    train_both(model, optimizers[0], pando.torch.compile_step(twin, loss, optimizers[1]), optimizers[1], before=change)
    torch.testing.assert_close(twin.state_dict(), model.state_dict(), rtol=1e-3, atol=1e-4)
    assert len(programs) == 1


def test_more_numbers_than_there_is_room_for_are_constants(programs):
    """An update that reads each of many numbers: those beyond the room are constants, for which a change takes another program."""

    class Many(Lion):
        @torch.no_grad()
        def step(self, closure=None):
            for group in self.param_groups:
                for p in group["params"]:
                    for i in range(40):
                        p.add_(p.grad, alpha=-group["lr"] * (i + 1))

    model = perceptron()
    twin = copy.deepcopy(model)
    optimizers = [Many(m.parameters(), lr=1e-4) for m in (model, twin)]

    def change(optimizer, i):
        optimizer.param_groups[0]["lr"] = 1e-4 / (i // 2 + 1)

    train_both(model, optimizers[0], pando.torch.compile_step(twin, loss, optimizers[1]), optimizers[1], count=4, before=change)
    torch.testing.assert_close(twin.state_dict(), model.state_dict(), rtol=1e-3, atol=1e-5)
    assert len(programs) == 2


@pytest.mark.parametrize("make,text", [
    (lambda p: torch.optim.LBFGS(p), "LBFGS: its step computes the loss several times"),
    (lambda p: torch.optim.SparseAdam(p), "SparseAdam takes sparse gradients"),
    (lambda p: torch.optim.SGD(p, lr=1, momentum=0.9, dampening=0.5), "dampening"),
    (First, "First: its first step is another one than a step from a state of zeros. Give it a method _init_group"),
    (Named, "Named: its state has 'what', which is neither a tensor nor a number"),
])
def test_what_cannot_be_one_program_is_said(make, text):
    model = perceptron()
    x, y = batch()
    with pytest.raises(NotImplementedError) as error:
        pando.torch.compile_step(model, loss, make([*model.parameters()]))(x, y)
    assert text in str(error.value)


def test_an_update_that_asks_for_a_value_is_said_with_its_line():
    class Stops(Lion):
        @torch.no_grad()
        def step(self, closure=None):
            for group in self.param_groups:
                for p in group["params"]:
                    if p.grad.norm() > 1:
                        p.sub_(p.grad)

    model = perceptron()
    x, y = batch()
    with pytest.raises(NotImplementedError, match=r"An update of Stops asks for the value of a tensor.*test_torch_optimizers.py:\d+: if p.grad.norm\(\) > 1:"):
        pando.torch.compile_step(model, loss, Stops(model.parameters()))(x, y)


HALF = {"adam": lambda p: torch.optim.Adam(p, lr=1e-2, eps=1e-3), "sgd": MAKE["sgd"], **{name: MAKE[name] for name in ("adafactor",) if name in MAKE}}


@pytest.mark.parametrize("name", HALF)
def test_half_weights_are_updated_as_kernels_do(name):
    """A weight of 16 bits changes by what PyTorch computes with 32 bits and rounds once."""
    torch.manual_seed(0)
    model = torch.nn.Linear(8, 8).half()
    twin = copy.deepcopy(model)
    optimizers = [HALF[name](m.parameters()) for m in (model, twin)]
    step = pando.torch.compile_step(twin, lambda y: y.float().square().mean(), optimizers[1])
    for _ in range(5):
        x = torch.randn(16, 8).half()
        expected = model(x).float().square().mean()
        optimizers[0].zero_grad()
        expected.backward()
        optimizers[0].step()
        torch.testing.assert_close(step(x), expected.detach(), rtol=2e-3, atol=2e-3)
    torch.testing.assert_close(twin.state_dict(), model.state_dict(), rtol=5e-3, atol=2e-3)
