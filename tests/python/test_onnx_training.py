"""Training from ONNX files: the same weights as by gradients that are written out here."""
import numpy as np
import popxl
import pytest
from popxl import distribution
from onnx_bytes import _field, _node, _tensor, _value

BATCH = 8


@pytest.fixture
def model(tmp_path):
    """A file of two layers, y = relu(x w0 + b0) w1, and its weights."""
    random = np.random.default_rng(3)
    weights = {"w0": random.normal(0, 0.6, (5, 7)), "b0": random.normal(0, 0.3, (7,)), "w1": random.normal(0, 0.6, (7, 3))}
    weights = {name: w.astype(np.float32) for name, w in weights.items()}
    graph = b"".join([_field(1, _node("MatMul", ["x", "w0"], "m")), _field(1, _node("Add", ["m", "b0"], "a")), _field(1, _node("Relu", ["a"], "r")),
                      _field(1, _node("MatMul", ["r", "w1"], "y")), *(_field(5, _tensor(name, w)) for name, w in weights.items()),
                      _field(11, _value("x", ["batch", 5])), _field(12, _value("y", ["batch", 3]))])
    path = tmp_path / "two_layers.onnx"
    path.write_bytes(_field(1, 8) + _field(8, _field(1, "") + _field(2, 13)) + _field(7, graph))
    return path, weights


def gradients(weights, x, target, loss):
    """(loss, {name: gradient}) in float64."""
    w0, b0, w1 = (weights[n].astype(np.float64) for n in ("w0", "b0", "w1"))
    hidden = np.maximum(x @ w0 + b0, 0)
    y = hidden @ w1
    if loss == "mse":
        value, dy = np.mean((y - target)**2), 2 * (y - target) / y.size
    else:
        logs = y - y.max(1, keepdims=True)
        logs -= np.log(np.exp(logs).sum(1, keepdims=True))
        value = -np.mean(logs[np.arange(BATCH), target])
        dy = (np.exp(logs) - np.eye(3)[target]) / BATCH
    da = (dy @ w1.T) * (hidden > 0)
    return value, {"w0": x.T @ da, "b0": da.sum(0), "w1": hidden.T @ dy}


class Reference:
    """The optimizers of torch, in NumPy."""

    def __init__(self, name, lr, momentum=0.0, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0):
        self.name, self.lr, self.momentum, self.betas, self.eps, self.decay = name, lr, momentum, betas, eps, weight_decay
        self.step, self.m, self.v = 0, {}, {}

    def update(self, weights, grads):
        self.step += 1
        for n, g in grads.items():
            w = weights[n].astype(np.float64)
            if self.decay and self.name != "adamw":
                g = g + self.decay * w
            if self.name == "sgd":
                self.m[n] = self.momentum * self.m.get(n, 0) + g
                weights[n] = w - self.lr * self.m[n]
                continue
            if self.name == "adamw":
                w = w * (1 - self.lr * self.decay)
            b1, b2 = self.betas
            self.m[n] = b1 * self.m.get(n, 0) + (1 - b1) * g
            self.v[n] = b2 * self.v.get(n, 0) + (1 - b2) * g * g
            size = np.sqrt(self.v[n] / (1 - b2**self.step)) + self.eps
            weights[n] = w - self.lr / (1 - b1**self.step) * self.m[n] / size


def stream(ir, name):
    return next(s for s in (*ir.get_all_h2d_streams(), *ir.get_all_d2h_streams()) if s.tensor_id == name)


def batch(step, loss):
    random = np.random.default_rng(100 + step)
    x = random.normal(size=(BATCH, 5)).astype(np.float32)
    return x, random.integers(0, 3, BATCH).astype(np.int32) if loss == "cross_entropy" else random.normal(size=(BATCH, 3)).astype(np.float32)


OPTIMIZERS = [{"name": "sgd", "lr": 0.1}, {"name": "sgd", "lr": 0.05, "momentum": 0.9, "weight_decay": 0.02}, {"name": "adam", "lr": 0.02},
              {"name": "adam", "lr": 0.02, "betas": (0.8, 0.95), "weight_decay": 0.1}, {"name": "adamw", "lr": 0.02, "weight_decay": 0.1}]


@pytest.mark.parametrize("device", ["cpu", "ipu_model"])
@pytest.mark.parametrize("optimizer", OPTIMIZERS, ids=lambda o: "-".join(str(v) for v in o.values()))
@pytest.mark.parametrize("loss", ["mse", "cross_entropy"])
def test_a_model_trains_as_its_gradients_say_and_is_written_back(model, loss, optimizer, device, tmp_path):
    path, weights = model
    ir = distribution.load_onnx(path, {"batch": BATCH}, loss={loss: "y"}, optimizer=optimizer)
    reference, expected = Reference(**optimizer), dict(weights)
    inputs = stream(ir, "x"), stream(ir, "target")
    losses = []
    with popxl.Session(ir, device) as session:
        for step in range(5):
            x, target = batch(step, loss)
            value, grads = gradients(expected, x, target, loss)
            reference.update(expected, grads)
            out = session.run(dict(zip(inputs, (x, target))))
            np.testing.assert_allclose(out[stream(ir, "loss")], value, rtol=1e-5)
            losses.append(value)
        held = distribution.onnx_weights(session)
        distribution.save_onnx(session, path, tmp_path / "trained.onnx")
    for name, w in expected.items():
        np.testing.assert_allclose(held[name], w, rtol=2e-4, atol=2e-5, err_msg=name)
        assert not np.allclose(held[name], weights[name], atol=1e-3)
    trained = distribution.load_onnx(tmp_path / "trained.onnx", {"batch": BATCH})
    x, _ = batch(9, loss)
    with popxl.Session(trained, "cpu") as session:
        y = session.run({stream(trained, "x"): x})[stream(trained, "y")]
        again = distribution.onnx_weights(session)
    np.testing.assert_allclose(y, np.maximum(x @ held["w0"] + held["b0"], 0) @ held["w1"], rtol=1e-5, atol=1e-5)
    assert all(again[name].tobytes() == held[name].tobytes() for name in weights)


def test_frozen_weights_stay(model):
    path, weights = model
    ir = distribution.load_onnx(path, {"batch": BATCH}, loss={"mse": "y"}, optimizer="adam", frozen=["b0"])
    x, target = batch(0, "mse")
    with popxl.Session(ir, "cpu") as session:
        session.run({stream(ir, "x"): x, stream(ir, "target"): target})
        held = distribution.onnx_weights(session)
    assert held["b0"].tobytes() == weights["b0"].tobytes() and not np.array_equal(held["w0"], weights["w0"])
    assert sorted(held) == ["b0", "step", "w0", "w0.m", "w0.v", "w1", "w1.m", "w1.v"]


def test_what_is_wrong_is_named(model, tmp_path):
    path, _ = model
    load = distribution.load_onnx
    for arguments, says in (({"loss": "p"}, "the model has no such output; it has 'y'"),
                            ({"loss": "y"}, "a loss is one floating number"),
                            ({"loss": {"hinge": "y"}}, "{'cross_entropy': output} or {'mse': output} is expected"),
                            ({"loss": {"mse": "y"}, "optimizer": "lion"}, "there is no optimizer 'lion'; sgd, adam, adamw are possible"),
                            ({"loss": {"mse": "y"}, "optimizer": {"name": "adam", "momentum": 1}}, "adam has no 'momentum'"),
                            ({"loss": {"mse": "y"}, "optimizer": {"name": "sgd", "lr": -1}}, "lr of sgd is -1"),
                            ({"loss": {"mse": "y"}, "frozen": ["b9"]}, "'b9' is to stay as it is, and is not a weight"),
                            ({"loss": {"mse": "y"}, "frozen": ["b0", "w0", "w1"]}, "it follows from no weight that could be trained"),
                            ({"optimizer": "adam"}, "go with a loss")):
        with pytest.raises(ValueError) as error:
            load(path, {"batch": BATCH}, **arguments)
        assert says in str(error.value)
    ir = load(path, {"batch": BATCH})
    other = tmp_path / "other.onnx"
    other.write_bytes(_field(1, 8) + _field(7, b""))
    (tmp_path / "text.onnx").write_bytes(b"\x3a\xff no model")
    with popxl.Session(ir, "cpu") as session:
        with pytest.raises(ValueError, match="has no weight 'b0'"):
            distribution.save_onnx(session, other, tmp_path / "x.onnx")
        with pytest.raises(ValueError, match="it is not an ONNX file"):
            distribution.save_onnx(session, tmp_path / "text.onnx", tmp_path / "x.onnx")
