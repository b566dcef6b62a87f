"""What a training step takes: nested inputs and targets, models that return their loss, settings that change between calls."""
import collections
import copy
import dataclasses

import pytest

torch = pytest.importorskip("torch")

import pando  # noqa: E402
import pando.torch  # noqa: E402

F = torch.nn.functional


@dataclasses.dataclass
class Output:
    loss: object = None
    scores: object = None
    extra: tuple = ()


class Batch(collections.UserDict):
    """As tokenizers give them."""


Pair = collections.namedtuple("Pair", "left right")


class Classifier(torch.nn.Module):
    """Takes ids and a mask by name, as public language models do, and gives an object."""

    def __init__(self):
        super().__init__()
        self.table, self.head = torch.nn.Embedding(20, 8), torch.nn.Linear(8, 3)

    def forward(self, ids, mask=None, labels=None, scale=1.0, kind="mean"):
        x = torch.tanh(self.table(ids))
        x = x if mask is None else x * mask.unsqueeze(-1)
        scores = self.head(x.mean(1) if kind == "mean" else x.amax(1)) * scale
        return Output(None if labels is None else F.cross_entropy(scores, labels), scores, (scores.argmax(1), {"sum": scores.sum()}))


class Two(torch.nn.Module):
    """Takes pairs in a dict, as one argument."""

    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(4, 4)

    def forward(self, batch, factor):
        return {"y": self.inner(batch["pair"].left) * factor, "z": [self.inner(x) for x in batch["more"]] + [batch["pair"].right]}


def data(*lead):
    return {"ids": torch.randint(0, 20, (*lead, 5, 6)), "mask": torch.randint(0, 2, (*lead, 5, 6)), "labels": torch.randint(0, 3, (*lead, 5))}


def optimizer_of(model):
    return torch.optim.SGD(model.parameters(), lr=0.1)


def eager_step(model, optimizer, value):
    optimizer.zero_grad()
    value.backward()
    optimizer.step()
    return value.detach()


def twins(model):
    torch.manual_seed(1)
    return model, copy.deepcopy(model)


@pytest.mark.parametrize("make", [dict, collections.OrderedDict, Batch], ids=lambda cls: cls.__name__)
@pytest.mark.parametrize("keywords", [(), ("mask", "labels")], ids=["inputs", "keywords"])
def test_a_batch_by_name_goes_to_a_model_that_returns_its_loss(make, keywords):
    model, twin = twins(Classifier())
    optimizer, step = optimizer_of(model), pando.torch.compile_step(twin, None, optimizer_of(twin), return_outputs=True)
    for _ in range(3):
        batch = data()
        expected = model(**batch)
        value, output = step(make({k: v for k, v in batch.items() if k not in keywords}), **{k: batch[k] for k in keywords})
        assert type(output) is Output and output.extra[0].dtype is torch.int64
        torch.testing.assert_close(output.scores, expected.scores.detach())
        assert torch.equal(output.extra[0], expected.extra[0])
        torch.testing.assert_close(output.extra[1], {"sum": expected.extra[1]["sum"].detach()})
        torch.testing.assert_close(output.loss, value)
        torch.testing.assert_close(value, eager_step(model, optimizer, expected.loss))
    assert len(step._programs) == 1


def test_the_loss_takes_what_the_model_gives_and_targets_of_any_form():
    model, twin = twins(Two())

    def loss(output, aims, weight):
        return F.mse_loss(output["y"], aims["y"]) + weight * sum(z.square().mean() for z in output["z"]) + aims["others"][0].mean()

    optimizer, step = optimizer_of(model), pando.torch.compile_step(twin, loss, optimizer_of(twin), steps_per_call=2)
    xs, ys = torch.randn(5, 2, 3, 4), torch.randn(2, 2, 3, 4)
    values = step(({"pair": Pair(xs[0], xs[1]), "more": (xs[2], xs[3])}, 2.0), ({"y": ys[0], "others": [ys[1]]}, 0.5))
    for i in range(2):
        output = model({"pair": Pair(xs[0][i], xs[1][i]), "more": (xs[2][i], xs[3][i])}, 2.0)
        torch.testing.assert_close(values[i], eager_step(model, optimizer, loss(output, {"y": ys[0][i], "others": [ys[1][i]]}, 0.5)))


def test_another_constant_is_another_program():
    model, twin = twins(Classifier())
    optimizer, step = optimizer_of(model), pando.torch.compile_step(twin, lambda out, y: F.cross_entropy(out.scores, y), optimizer_of(twin))
    for scale, kind in ((1.0, "mean"), (2.0, "mean"), (2.0, "max"), (1.0, "mean")):
        batch = data()
        expected = F.cross_entropy(model(batch["ids"], scale=scale, kind=kind).scores, batch["labels"])
        torch.testing.assert_close(step(batch["ids"], batch["labels"], scale=scale, kind=kind), eager_step(model, optimizer, expected))
    assert len(step._programs) == 3


def test_programs_and_searches_take_them_too():
    model, batch = Classifier(), data()
    ir = pando.torch.to_ir(model, batch, loss=None, optimizer=optimizer_of(model))
    assert {s.tensor_id for s in ir.get_all_h2d_streams()} == {"input_0", "input_1", "input_2"}
    assert len(pando.torch.to_ir(model, batch).get_all_d2h_streams()) == 4
    assert pando.search(model, {"ids": batch["ids"]}, devices=1, machine="ipu2:64").best.seconds > 0


def test_objects_of_other_classes_are_no_results():
    class Cached(Classifier):
        def forward(self, **given):
            output = super().forward(**given)
            kept = object()
            return {"loss": output.loss, "cache": kept, "scores": output.scores}

    model = Cached()
    value, output = pando.torch.compile_step(model, None, optimizer_of(model), return_outputs=True)(data())
    assert list(output) == ["loss", "cache", "scores"] and output["cache"] is None
    torch.testing.assert_close(output["loss"], value)
    assert len(pando.torch.to_ir(model, data()).get_all_d2h_streams()) == 2


def test_messages_name_the_place():
    model = Classifier()
    step = pando.torch.compile_step(model, None, optimizer_of(model), steps_per_call=2)
    with pytest.raises(ValueError, match=r"inputs\['labels'\] has the shape \(5,\): its first dimensions are \(2,\)"):
        step({**data(2), "labels": torch.zeros(5, dtype=torch.int64)})
    with pytest.raises(TypeError, match=r"inputs\['mask'\]\[1\] is an object"):
        step({"ids": data()["ids"], "mask": [1, object()]})
    with pytest.raises(TypeError, match="gets ids twice"):
        step(data(), ids=1)


def test_parts_and_weights_that_change_their_mode_are_another_program():
    """Normalisation of a part that stops learning, weights that are frozen, and thawed."""
    model, twin = twins(torch.nn.Sequential(torch.nn.Linear(4, 6), torch.nn.BatchNorm1d(6), torch.nn.Linear(6, 2)))
    optimizers = [torch.optim.Adam(m.parameters(), lr=0.1) for m in (model, twin)]
    step = pando.torch.compile_step(twin, F.mse_loss, optimizers[1])

    def train():
        x, y = torch.randn(8, 4), torch.randn(8, 2)
        expected = F.mse_loss(model(x), y)
        torch.testing.assert_close(step(x, y), eager_step(model, optimizers[0], expected))

    def change(trained, mode):
        for m in (model, twin):
            m[0].requires_grad_(trained)
            m[1].train(mode)

    for trained, mode in ((False, True), (False, False), (True, False), (True, True)):
        change(trained, mode)
        train()
        train()
    torch.testing.assert_close(twin.state_dict(), model.state_dict(), rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(optimizers[1].state_dict()["state"], optimizers[0].state_dict()["state"], rtol=1e-4, atol=1e-5)


def test_frozen_weights_have_no_state():
    model = torch.nn.Sequential(torch.nn.Linear(4, 6), torch.nn.Linear(6, 2))
    model[0].requires_grad_(False)
    optimizer = torch.optim.Adam(model.parameters())
    pando.torch.compile_step(model, F.mse_loss, optimizer)(torch.randn(3, 4), torch.randn(3, 2))
    assert set(optimizer.state) == set(model[1].parameters())


@pytest.mark.filterwarnings("error:Detected call of")
@pytest.mark.parametrize("name", ["SGD", "AdamW", "RMSprop"])
def test_settings_of_an_optimizer_may_change(name):
    """A schedule of rate and momentum at once, and one of weight decay."""
    model, twin = twins(torch.nn.Linear(4, 3))
    settings = {"SGD": {"momentum": 0.9}, "AdamW": {}, "RMSprop": {"momentum": 0.5}}[name]
    optimizers = [getattr(torch.optim, name)(m.parameters(), lr=0.05, weight_decay=0.1, **settings) for m in (model, twin)]
    schedules = [torch.optim.lr_scheduler.OneCycleLR(o, max_lr=0.1, total_steps=6) for o in optimizers]
    step = pando.torch.compile_step(twin, F.mse_loss, optimizers[1])
    for i in range(5):
        x, y = torch.randn(6, 4), torch.randn(6, 3)
        torch.testing.assert_close(step(x, y), eager_step(model, optimizers[0], F.mse_loss(model(x), y)))
        for optimizer, schedule in zip(optimizers, schedules):
            schedule.step()
            optimizer.param_groups[0]["weight_decay"] = 0.1 + 0.05 * i
    torch.testing.assert_close(twin.state_dict(), model.state_dict(), rtol=1e-4, atol=1e-5)


def test_gradients_of_an_update_are_clipped():
    model, twin = twins(torch.nn.Sequential(torch.nn.Linear(4, 6), torch.nn.Tanh(), torch.nn.Linear(6, 2)))
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    step = pando.torch.compile_step(twin, F.mse_loss, torch.optim.SGD(twin.parameters(), lr=1.0), max_grad_norm=0.05, gradient_accumulation=2)
    for scale in (0.01, 10.0):
        x, y = torch.randn(2, 3, 4), scale * torch.randn(2, 3, 2)
        values = step(x, y)
        expected = [F.mse_loss(model(a), b) for a, b in zip(x, y)]
        torch.testing.assert_close(values, torch.stack(expected).detach())
        optimizer.zero_grad()
        (sum(expected) / 2).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.05)
        optimizer.step()
    torch.testing.assert_close(twin.state_dict(), model.state_dict(), rtol=1e-4, atol=1e-5)
    with pytest.raises(ValueError, match="max_grad_norm is a number above 0, or None, not -1"):
        pando.torch.compile_step(twin, F.mse_loss, optimizer_of(twin), max_grad_norm=-1)
