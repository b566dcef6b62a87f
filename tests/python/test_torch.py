"""pando.torch where torch is installed: the ways in, and what they reject. `./x test --full torch` runs tests/torch, which loops over ops and modules."""
import copy
import gc

import pytest

torch = pytest.importorskip("torch")

import pando.torch  # noqa: E402

DEVICES = ["cpu", "ipu_model"]


def perceptron(seed=0):
    torch.manual_seed(seed)
    return torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.LayerNorm(16), torch.nn.Linear(16, 4))


def batch(*lead):
    return torch.randn(*lead, 6, 8), torch.randint(0, 4, (*lead, 6))


@pytest.mark.parametrize("device", DEVICES)
def test_a_compiled_model_has_the_outputs_and_gradients_of_eager(device):
    model = perceptron()
    twin = copy.deepcopy(model)
    compiled = torch.compile(twin, backend=pando.torch.backend, options={"device": device})
    x, y = batch()
    for m, f in ((model, model), (twin, compiled)):
        torch.nn.functional.cross_entropy(f(x), y).backward()
    for a, b in zip(model.parameters(), twin.parameters()):
        torch.testing.assert_close(a.grad, b.grad)


OPTIMIZERS = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True, weight_decay=1e-3),
    "adam": lambda p: torch.optim.Adam(p, lr=1e-2, amsgrad=True),
    "adamw": lambda p: torch.optim.AdamW(p, lr=1e-2),
    "rmsprop": lambda p: torch.optim.RMSprop(p, lr=1e-2, centered=True),
    "adagrad": lambda p: torch.optim.Adagrad(p, lr=1e-2, lr_decay=0.1),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_step_trains_as_eager(name):
    model = perceptron()
    twin = copy.deepcopy(model)
    optimizers = [OPTIMIZERS[name](m.parameters()) for m in (model, twin)]
    loss = torch.nn.functional.cross_entropy
    step = pando.torch.compile_step(twin, loss, optimizers[1])
    for _ in range(3):
        x, y = batch()
        expected = loss(model(x), y)
        optimizers[0].zero_grad()
        expected.backward()
        optimizers[0].step()
        torch.testing.assert_close(step(x, y), expected.detach())
    torch.testing.assert_close(twin.state_dict(), model.state_dict(), rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(optimizers[1].state_dict()["state"], optimizers[0].state_dict()["state"], rtol=1e-4, atol=1e-5)


def test_several_steps_of_a_call_are_as_many_calls():
    model = perceptron()
    twin = copy.deepcopy(model)
    loss = torch.nn.functional.cross_entropy
    one = pando.torch.compile_step(model, loss, torch.optim.SGD(model.parameters(), lr=0.1))
    four = pando.torch.compile_step(twin, loss, torch.optim.SGD(twin.parameters(), lr=0.1), steps_per_call=4)
    x, y = batch(4)
    assert torch.equal(four(x, y), torch.stack([one(a, b) for a, b in zip(x, y)]))
    with pytest.raises(ValueError, match="first dimensions are"):
        four(*batch(3))


def test_a_rate_that_changes_reaches_the_program():
    model = perceptron()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    step = pando.torch.compile_step(model, torch.nn.functional.cross_entropy, optimizer)
    x, y = batch()
    step(x, y)
    before = copy.deepcopy(model.state_dict())
    optimizer.param_groups[0]["lr"] = 0.0
    step(x, y)
    torch.testing.assert_close(model.state_dict(), before, rtol=0, atol=0)
    assert len(step._programs) == 1


def test_weights_go_to_the_device_once_and_a_rate_alone(monkeypatch):
    import popxl

    model = perceptron()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    step = pando.torch.compile_step(model, torch.nn.functional.cross_entropy, optimizer)
    written, attached, write = [], [], popxl.Session._write_variables
    monkeypatch.setattr(popxl.Session, "_write_variables",
                        lambda s, contents: (written.append(len(contents)), attached.append(s.is_attached), write(s, contents)) and None)
    step(*batch())
    step(*batch())
    # Before the session has its device: with all others, when it gets it.
    assert (written, attached) == ([len(list(model.parameters()))], [False])
    optimizer.param_groups[0]["lr"] = 0.05
    step(*batch())
    assert (written[1:], attached[1:]) == ([1], [True])


def test_graphs_that_write_nowhere_are_traced_once(monkeypatch):
    from torch.fx.experimental import proxy_tensor

    model, made, make = perceptron(), [], proxy_tensor.make_fx
    monkeypatch.setattr(proxy_tensor, "make_fx", lambda *args, **kwargs: made.append(True) or make(*args, **kwargs))
    x, _ = batch()
    pando.torch.to_ir(model, x)
    assert len(made) == 1
    # Running statistics are written: a second time, without writes.
    made.clear()
    pando.torch.to_ir(torch.nn.BatchNorm1d(8), x)
    assert len(made) == 2


def test_state_that_is_loaded_counts():
    model = perceptron()
    step = pando.torch.compile_step(model, torch.nn.functional.cross_entropy, torch.optim.SGD(model.parameters(), lr=0.1))
    x, y = batch()
    saved = copy.deepcopy(model.state_dict())
    first = step(x, y)
    assert not torch.equal(step(x, y), first)
    model.load_state_dict(saved)
    assert torch.equal(step(x, y), first)


def test_other_shapes_go_on_with_the_same_weights():
    model = perceptron()
    twin = copy.deepcopy(model)
    loss = torch.nn.functional.cross_entropy
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    step = pando.torch.compile_step(twin, loss, torch.optim.SGD(twin.parameters(), lr=0.1))
    for size in (6, 3, 6):
        x, y = torch.randn(size, 8), torch.randint(0, 4, (size,))
        expected = loss(model(x), y)
        optimizer.zero_grad()
        expected.backward()
        optimizer.step()
        torch.testing.assert_close(step(x, y), expected.detach())


def test_random_numbers_follow_the_generator():
    model = torch.compile(torch.nn.Dropout(0.5), backend=pando.torch.backend)
    x = torch.ones(1000)
    torch.manual_seed(1)
    first, second = model(x), model(x)
    torch.manual_seed(1)
    assert torch.equal(model(x), first) and not torch.equal(first, second)
    assert set(first.tolist()) == {0.0, 2.0} and 400 < int((first == 0).sum()) < 600


def test_ops_without_a_rule_are_named_together():
    def f(x):
        return torch.nextafter(x, x + 1) + torch.special.airy_ai(x).sum()

    with pytest.raises(Exception, match=r"no rule") as error:
        torch.compile(f, backend=pando.torch.backend)(torch.eye(3))
    assert "aten.nextafter.default (1 time)" in str(error.value) and "aten.special_airy_ai.default (1 time)" in str(error.value)
    assert "test_torch.py" in str(error.value)
    assert torch.equal(torch.compile(f, backend=pando.torch.backend, options={"fallback": True})(torch.eye(3)), f(torch.eye(3)))


@pytest.mark.parametrize("arguments, error, message", [
    (lambda m, o: (None, None, o), TypeError, "nn.Module"),
    (lambda m, o: (m, None, None), TypeError, "torch.optim"),
    (lambda m, o: (m, 3, o), TypeError, "function"),
    (lambda m, o: (torch.nn.Linear(2, 2), None, o), ValueError, "does not have"),
    (lambda m, o: (m, None, torch.optim.SGD(m.parameters(), lr=1, momentum=0.9, dampening=0.5)), NotImplementedError, "dampening"),
])
def test_what_cannot_be_compiled_is_said(arguments, error, message):
    model = perceptron()
    with pytest.raises(error, match=message):
        step = pando.torch.compile_step(*arguments(model, torch.optim.SGD(model.parameters(), lr=0.1)))
        step(*batch())


def test_bfloat16_is_computed_as_float32_and_said():
    torch.manual_seed(2)
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.GELU(), torch.nn.Linear(16, 3)).to(torch.bfloat16)
    twin = copy.deepcopy(model)
    x, y = torch.randn(4, 8, dtype=torch.bfloat16), torch.randint(0, 3, (4,))
    with pytest.warns(UserWarning, match="bfloat16 tensors are computed as float32"):
        found = torch.compile(model, backend=pando.torch.backend)(x)
    assert found.dtype is torch.bfloat16
    torch.testing.assert_close(found, model(x), rtol=0.03, atol=0.03)
    optimizers = [torch.optim.SGD(m.parameters(), lr=0.1) for m in (model, twin)]
    step = pando.torch.compile_step(twin, torch.nn.functional.cross_entropy, optimizers[1])
    with pytest.warns(UserWarning, match="bfloat16"):
        losses = [step(x, y) for _ in range(5)]
    for loss in losses:
        optimizers[0].zero_grad()
        wanted = torch.nn.functional.cross_entropy(model(x), y)
        wanted.backward()
        optimizers[0].step()
        assert loss.dtype is torch.bfloat16
        torch.testing.assert_close(loss, wanted.detach(), rtol=0.05, atol=0.05)
    # Between calls weights are those of the program, of float32; the model gets them as its own type.
    assert all(p.dtype is torch.bfloat16 for p in twin.state_dict().values())


def test_types_that_programs_do_not_have_are_named():
    with pytest.raises(Exception, match="float8_e4m3fn"):
        torch.compile(lambda x: x.float(), backend=pando.torch.backend)(torch.ones(2).to(torch.float8_e4m3fn))
    with pytest.raises(Exception, match="Unknown options"):
        torch.compile(lambda x: x + 1, backend=pando.torch.backend, options={"devise": "cpu"})(torch.ones(2))


def test_integers_that_do_not_fit_are_an_error():
    double = torch.compile(lambda x: x * 2, backend=pando.torch.backend)
    assert torch.equal(double(torch.tensor([1, -2**30])), torch.tensor([2, -2**31]))
    with pytest.raises(ValueError, match="2147483648"):
        double(torch.tensor([2**31]))


@pytest.mark.parametrize("options", [dict(gradient_accumulation=3), dict(replicas=2), dict(steps_per_call=2, gradient_accumulation=2, replicas=2)],
                         ids=["accumulation", "replicas", "all"])
def test_micro_batches_are_one_batch(options):
    model = perceptron()
    twin = copy.deepcopy(model)
    steps, parts, replicas = (options.get(k, 1) for k in ("steps_per_call", "gradient_accumulation", "replicas"))
    x, y = torch.randn(steps, parts, replicas, 6, 8), torch.randint(0, 4, (steps, parts, replicas, 6))
    loss = torch.nn.functional.cross_entropy
    whole = pando.torch.compile_step(model, loss, torch.optim.Adam(model.parameters(), lr=1e-2))
    step = pando.torch.compile_step(twin, loss, torch.optim.Adam(twin.parameters(), lr=1e-2), **options)
    lead = [n for n in (steps * parts, replicas) if n > 1]
    given = step(x.reshape(*lead, 6, 8), y.reshape(*lead, 6))
    expected = torch.stack([whole(a.reshape(-1, 8), b.reshape(-1)) for a, b in zip(x, y)])
    assert given.shape == tuple(lead)
    torch.testing.assert_close(given.reshape(steps, -1).mean(1), expected)
    torch.testing.assert_close(twin.state_dict(), model.state_dict(), rtol=1e-4, atol=1e-5)


def test_the_backend_has_a_name():
    model = perceptron()
    x, _ = batch()
    torch.testing.assert_close(torch.compile(model, backend="pando", options={"device": "ipu_model"})(x), model(x))
    assert "pando" in torch._dynamo.list_backends()


def test_a_strategy_for_a_module_is_found_and_runs():
    import pando
    from popxl import distribution

    model = perceptron()
    x, y = torch.randn(8, 8), torch.randint(0, 4, (8,))
    step = dict(loss=torch.nn.functional.cross_entropy, optimizer=torch.optim.SGD(model.parameters(), lr=0.1))
    found = pando.search(model, x, y, **step, devices=2, machine="ipu2:64", require="data=2")
    ir = pando.torch.to_ir(model, x, y, **step)
    assert [v.name for v in ir.main_graph.variables][:2] == ["0.weight", "0.bias"]
    streams = {s.tensor_id: s for s in ir.get_all_h2d_streams()}
    with distribution.Session(ir, found.best.words, "cpu") as session:
        loss, = session.run({streams["input_0"]: x.numpy(), streams["input_1"]: y.numpy()}).values()
    torch.testing.assert_close(torch.from_numpy(loss), torch.nn.functional.cross_entropy(model(x), y).detach())
    assert pando.search(model, x, devices=[1, 2], machine="ipu2:64").devices in (1, 2)
    assert pando.search(pando.torch.to_ir(model, x), devices=1, machine="ipu2:64").best.seconds > 0
    for arguments, options in (((model,), {}), ((3,), {}), ((ir, x), {}), ((model, x), dict(loss=torch.nn.functional.mse_loss))):
        with pytest.raises(TypeError):
            pando.search(*arguments, devices=2, machine="ipu2:64", **options)


COMPOSED = {
    "cdist": (lambda a, b: torch.cdist(a, b, 3.0), lambda: (torch.randn(2, 5, 4), torch.randn(2, 3, 4))),
    "pdist": (torch.pdist, lambda: (torch.randn(6, 3),)),
    "embedding_bag": (lambda w, i, o: torch.nn.functional.embedding_bag(i, w, o, mode="mean", padding_idx=2),
                      lambda: (torch.randn(10, 3), torch.tensor([1, 2, 4, 5, 4, 3, 2, 9]), torch.tensor([0, 4, 4]))),
    "largest of bags": (lambda w, i, o: torch.nn.functional.embedding_bag(i, w, o, mode="max", padding_idx=2),
                        lambda: (torch.randn(10, 3), torch.tensor([1, 2, 4, 5, 4, 2, 9]), torch.tensor([0, 4, 4, 5]))),
    "weight_norm": (lambda v, g: torch._weight_norm(v, g, 1), lambda: (torch.randn(3, 4), torch.rand(1, 4))),
    "scatter_reduce": (lambda x, i, s: torch.stack([x.scatter_reduce(1, i, s, reduce, include_self=own) for own in (True, False)
                                                    for reduce in ("sum", "mean", "amax", "amin", "prod")]),
                       lambda: (torch.randn(3, 4), torch.tensor([[0, 1, 0], [3, 3, 3], [2, 1, 2]]), torch.randn(3, 3))),
    "index_reduce": (lambda x, i, s: torch.stack([x.index_reduce(1, i, s, reduce, include_self=own) for own in (True, False)
                                                  for reduce in ("mean", "amax", "amin", "prod")]),
                     lambda: (torch.randn(3, 4), torch.tensor([0, 2, 0]), torch.randn(3, 3))),
    "erfc": (torch.erfc, lambda: (torch.linspace(-3, 6, 30),)),
    "unfold": (lambda x: x.unfold(1, 3, 2), lambda: (torch.randn(2, 8, 3),)),
    "bucketize": (lambda x, b: torch.bucketize(x, b, right=True) * x, lambda: (torch.tensor([0.5, 2.0, 2.5, 9.0]), torch.tensor([1, 2, 3]))),
    "cumprod": (lambda x: x.cumprod(1), lambda: (torch.randn(2, 5),)),
    "attention of the host": (lambda q, k, v: torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(q, k, v, 0.0, True)[0],
                              lambda: (torch.randn(2, 4, 5, 8), torch.randn(2, 4, 5, 8), torch.randn(2, 4, 5, 8))),
    "multi_margin_loss": (lambda x, t, w: torch.stack([torch.nn.functional.multi_margin_loss(x, t, p, 0.5, w.detach(), reduction=how)
                                                       for p in (1, 2) for how in ("mean", "sum")]),
                          lambda: (torch.randn(4, 5), torch.tensor([0, 4, 2, 2]), torch.rand(5))),
    "multilabel_margin_loss": (torch.nn.functional.multilabel_margin_loss,
                               lambda: (torch.randn(3, 4), torch.tensor([[3, 0, -1, 1], [-1, 2, 2, 2], [0, 1, 2, 3]]))),
    "images of another size": (lambda x: torch.stack([torch.nn.functional.interpolate(x, (5, 9), mode=mode, antialias=True, align_corners=corners)
                                                      for mode in ("bilinear", "bicubic") for corners in (False, True)]), lambda: (torch.randn(1, 2, 8, 6),)),
    "adaptive_max_pool2d": (lambda x: torch.nn.functional.adaptive_max_pool2d(x, (3, 4)), lambda: (torch.randn(2, 7, 5),)),
    "special": (lambda x: torch.stack([torch.polygamma(1, x), torch.polygamma(2, x), torch.special.zeta(torch.tensor(3.0), x), torch.erfinv(x / 8)]),
                lambda: (torch.tensor([-3.7, -1.2, -0.5, 0.3, 1.0, 6.5]),)),
    "ctc_loss": (lambda x, y, n, m: torch.nn.functional.ctc_loss(x.log_softmax(2), y, n, m, zero_infinity=True),
                 lambda: (torch.randn(6, 3, 5), torch.tensor([[1, 2, 2], [3, 3, 1], [4, 1, 2]]), torch.tensor([6, 5, 2]), torch.tensor([3, 2, 3]))),
    "factors of matrices": (lambda a, b: torch.stack([torch.linalg.solve(a, b), torch.linalg.inv(a) @ b, torch.linalg.qr(a)[0] @ b,
                                                      torch.linalg.cholesky(a @ a.mT + torch.eye(3)) @ b, b * torch.linalg.slogdet(a)[1]]),
                            lambda: (torch.randn(3, 3), torch.randn(3, 2))),
    "grids": (lambda x, g, v, h: torch.cat([f(*p, mode=mode, padding_mode=padding, align_corners=corners).reshape(-1) for corners in (False, True)
                                            for f in [torch.nn.functional.grid_sample] for padding in ("zeros", "border", "reflection")
                                            for p, mode in [((x, g), "bilinear"), ((x, g), "bicubic"), ((v, h), "bilinear"), ((v, h), "nearest")]]),
              lambda: (torch.randn(2, 3, 5, 4), torch.randn(2, 3, 2, 2), torch.randn(1, 2, 3, 4, 2), torch.randn(1, 2, 2, 2, 3))),
    "rotated pairs": (lambda x, a: torch.view_as_real(torch.view_as_complex(x.reshape(4, 3, 2)) * torch.polar(torch.ones_like(a), a)).flatten(1),
                      lambda: (torch.randn(4, 6), torch.randn(4, 3))),
    "spectra": (lambda x, w: torch.fft.irfft(torch.einsum("bim,iom->bom", torch.fft.rfft(x, norm="ortho"), torch.view_as_complex(w)), n=10),
                lambda: (torch.randn(2, 3, 10), torch.randn(3, 2, 6, 2))),
    "long spectra": (lambda x: torch.fft.ifft2(torch.fft.fftn(x) / (1 + torch.fft.rfft(x, dim=1)[:, :1].abs())).abs() + torch.fft.irfft(torch.fft.rfft(x), n=600)[:, :514],
                     lambda: (torch.randn(3, 514),)),
    "hypot": (torch.hypot, lambda: (torch.tensor([3.0, -1e25, 1e-25, 2.0]), torch.tensor([4.0, 1e25, 0.0, -5.0]))),
    "a constant of the model": (lambda x: x * torch.tensor([2.0, 3.0]) + torch.tensor(1.0), lambda: (torch.randn(4, 2),)),
    "logcumsumexp": (lambda x: x.logcumsumexp(0), lambda: (torch.randn(7, 3) * 20,)),
    "parts of numbers": (lambda x: torch.stack([x.frexp()[0], x.frexp()[1] * x, x.round(decimals=1) * x, x.angle() * x]),
                         lambda: (torch.tensor([0.0, 1.0, -0.75, 8.0, 1e-30, -3e35, 0.125]),)),
    "integers": (lambda x, m: torch.where(m, x, 0.0).masked_scatter(m, x * 2), lambda: (torch.randn(3, 4), torch.rand(3, 4) > 0.5)),
}


@pytest.mark.parametrize("name", COMPOSED)
def test_ops_that_are_composed(name):
    function, inputs = COMPOSED[name]
    torch.manual_seed(4)
    given = inputs()
    results = []
    for f in (function, torch.compile(function, backend="pando")):
        leaves = [t.clone().requires_grad_() if t.is_floating_point() else t for t in given]
        y = f(*leaves)
        y.square().sum().backward()
        results.append([y.detach(), *(t.grad for t in leaves if t.requires_grad)])
    torch.testing.assert_close(results[1], results[0], rtol=1e-4, atol=1e-5)


def test_normalisation_of_batches_trains_through_the_backend():
    torch.manual_seed(7)
    model = torch.nn.Sequential(torch.nn.Conv2d(2, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU(), torch.nn.Conv2d(4, 1, 3))
    # The last batch is a smaller one.
    twin, batches = copy.deepcopy(model), [torch.randn(n, 2, 8, 8) for n in (3, 2)]
    for m, f in ((model, model), (twin, torch.compile(twin, backend="pando"))):
        for x in batches:
            f(x).square().sum().backward()
    torch.testing.assert_close(twin.state_dict(), model.state_dict())
    for a, b in zip(model.parameters(), twin.parameters()):
        torch.testing.assert_close(b.grad, a.grad, rtol=1e-4, atol=1e-4)


def test_transposed_convolution_with_more_padding_than_a_stride():
    torch.manual_seed(9)
    more = dict(stride=(3, 2), padding=(1, 2), output_padding=(2, 3), groups=2, dilation=(4, 4))
    eager = torch.nn.ConvTranspose2d(2, 4, (4, 5), **more)
    twin = copy.deepcopy(eager)
    x = torch.randn(2, 2, 4, 4)
    grads = []
    for f in (eager, torch.compile(twin, backend="pando")):
        at = x.clone().requires_grad_()
        f(at).square().sum().backward()
        grads.append(at.grad)
    torch.testing.assert_close(grads[1], grads[0], rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(twin.weight.grad, eager.weight.grad, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("lengths", [[3, 1, 2], torch.tensor([3, 1, 2])], ids=["list", "tensor"])
def test_alignment_loss_trains_with_its_mean(lengths):
    def loss(y, labels):
        return torch.nn.functional.ctc_loss(y.log_softmax(-1), labels, [6] * 3 if isinstance(lengths, list) else torch.tensor([6] * 3), lengths)

    torch.manual_seed(11)
    model = torch.nn.Linear(4, 5)
    twin = copy.deepcopy(model)
    x, labels = torch.randn(6, 3, 4), torch.randint(1, 5, (3, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    expected = loss(model(x), labels)
    expected.backward()
    optimizer.step()
    step = pando.torch.compile_step(twin, loss, torch.optim.SGD(twin.parameters(), lr=0.1))
    torch.testing.assert_close(step(x, labels), expected.detach(), rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(twin.state_dict(), model.state_dict(), rtol=1e-4, atol=1e-4)


def test_a_step_that_is_deleted_leaves_what_it_trained():
    torch.manual_seed(10)
    model = torch.nn.Linear(3, 2)
    twin = copy.deepcopy(model)
    x, y = torch.randn(4, 3), torch.randn(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    step = pando.torch.compile_step(twin, torch.nn.functional.mse_loss, torch.optim.SGD(twin.parameters(), lr=0.1))
    for _ in range(2):
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
        step(x, y)
    del step
    gc.collect()
    torch.testing.assert_close(twin.state_dict(), model.state_dict())


def test_complex_weights_train_as_eager():
    class Spectral(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.randn(3, 6, dtype=torch.complex64))

        def forward(self, x):
            return torch.fft.irfft(torch.fft.rfft(x) * self.weight, n=10)

    torch.manual_seed(8)
    model = Spectral()
    twin = copy.deepcopy(model)
    x, y = torch.randn(2, 3, 10), torch.randn(2, 3, 10)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    step = pando.torch.compile_step(twin, torch.nn.functional.mse_loss, torch.optim.Adam(twin.parameters(), lr=0.1), gradient_accumulation=2)
    for _ in range(3):
        expected = torch.nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        expected.backward()
        optimizer.step()
        torch.testing.assert_close(step(torch.stack([x, x]), torch.stack([y, y]))[1], expected.detach())
    torch.testing.assert_close(twin.state_dict(), model.state_dict(), rtol=1e-4, atol=1e-4)


def test_what_a_mask_puts_has_a_gradient():
    class Puts(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.value = torch.nn.Parameter(torch.tensor([1.0, -2.0, 3.0]))

        def forward(self, x):
            y = x.clone()
            y[x[:, 0] > 0] = self.value
            return (y * x).sum()

    model, x = Puts(), torch.randn(6, 3)
    model(x).backward()
    expected = model.value.detach() - model.value.grad
    step = pando.torch.compile_step(model, None, torch.optim.SGD(model.parameters(), lr=1.0))
    step(x)
    torch.testing.assert_close(model.state_dict()["value"], expected)


def test_outputs_of_a_step_have_their_types():
    model = perceptron()

    class Chooses(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, x):
            scores = self.model(x)
            return scores.square().mean(), scores.argmax(1)

    step = pando.torch.compile_step(Chooses(), None, torch.optim.SGD(model.parameters(), lr=0.1), return_outputs=True)
    x, _ = batch()
    expected = model(x).argmax(1)
    chosen = step(x)[1][1]
    assert chosen.dtype == torch.int64 and torch.equal(chosen, expected)


def test_a_weight_with_two_names_is_one():
    class Tied(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = torch.nn.Linear(6, 6), torch.nn.Linear(6, 6)
            self.second.weight = self.first.weight

        def forward(self, x):
            return self.second(torch.tanh(self.first(x)))

    torch.manual_seed(5)
    model = Tied()
    twin = copy.deepcopy(model)
    x, y = torch.randn(4, 6), torch.randn(4, 6)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    step = pando.torch.compile_step(twin, torch.nn.functional.mse_loss, torch.optim.SGD(twin.parameters(), lr=0.1))
    for _ in range(2):
        expected = torch.nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        expected.backward()
        optimizer.step()
        torch.testing.assert_close(step(x, y), expected.detach())
    torch.testing.assert_close(twin.state_dict(), model.state_dict())


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("reduce", ["sum", "mean", "amax", "amin", "prod"])
def test_an_index_that_is_expanded_moves_whole_slices(axis, reduce):
    shape = (5, 3)
    index = torch.randint(0, shape[axis] - 1, (7, 1) if axis == 0 else (1, 7))
    source = torch.rand((8, 4) if axis == 0 else (6, 8))
    full = (7, 3) if axis == 0 else (5, 7)
    x = torch.randn(shape)

    def function(x, index, source):
        index = index.expand(full)
        parts = [x.scatter_reduce(axis, index, source, reduce, include_self=keep) for keep in (True, False)]
        return [*parts, x.gather(axis, index), x.scatter(axis, index, 2.0), x.scatter_add(axis, index, source)]

    from pando.torch import adapter
    from pando.torch.decompositions import decompositions
    from pando.torch.program import Program

    program = Program(adapter.trace(function, [x, index, source], decompositions()))
    assert [gathers for _, gathers in program.sliced] == [False, False, True, False, False]
    for got, wanted in zip(program([x, index, source]), function(x, index, source)):
        torch.testing.assert_close(got, wanted)


def test_random_numbers_of_a_range_have_it():
    @torch.compile(backend="pando")
    def draw(x):
        return x.clone().random_(5, 100), x.clone().random_(7)

    torch.manual_seed(0)
    wide, narrow = draw(torch.zeros(5000))
    assert (wide.min(), wide.max()) == (5, 99) and (narrow.min(), narrow.max()) == (0, 6) and torch.equal(wide, wide.floor())


def test_normalisation_of_half_precision_has_its_statistics():
    model = torch.nn.Sequential(torch.nn.GroupNorm(4, 16), torch.nn.LayerNorm(50)).half()
    x = torch.randn(2, 16, 50, dtype=torch.half)
    torch.testing.assert_close(torch.compile(model, backend="pando")(x), model(x), atol=5e-3, rtol=5e-3)


def test_functions_that_have_other_forms_keep_their_words():
    def function(x, sums):
        torch.cumsum(x, 0, out=sums)
        return torch.prod(input=x, dim=0), torch.var(x, 0, correction=0), torch.std(input=x), x.cumsum(dim=1), torch.cov(input=x)

    x, sums, wanted_sums = torch.rand(3, 4), torch.zeros(3, 4), torch.zeros(3, 4)
    for got, wanted in zip(torch.compile(function, backend="pando")(x, sums), function(x, wanted_sums)):
        torch.testing.assert_close(got, wanted)
    torch.testing.assert_close(sums, wanted_sums)
