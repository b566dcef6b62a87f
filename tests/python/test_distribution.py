"""Programs over many devices: found, run, equal to the sequential program."""
import numpy as np
import pytest

import popxl
import popxl.ops as ops
from popxl import distribution, transforms

import onnx_bytes

BATCH, WIDTH, CLASSES = 8, 12, 4


class Network(popxl.Module):
    def build(self, x):
        self.w1 = popxl.graph_input((WIDTH, 16), popxl.float32, "w1")
        self.b1 = popxl.graph_input((16,), popxl.float32, "b1")
        self.w2 = popxl.graph_input((16, CLASSES), popxl.float32, "w2")
        return ops.relu(x @ self.w1 + self.b1) @ self.w2


class Step:
    """A step of training of two layers, with plain gradient descent or Adam."""

    def __init__(self, adam=False):
        self.ir = popxl.Ir()
        random = np.random.default_rng(3)
        shapes = {"w1": (WIDTH, 16), "b1": (16,), "w2": (16, CLASSES)}
        with self.ir.main_graph, popxl.in_sequence():
            self.x = popxl.h2d_stream((BATCH, WIDTH), popxl.float32, "x")
            self.y = popxl.h2d_stream((BATCH,), popxl.int32, "y")
            self.loss = popxl.d2h_stream((), popxl.float32, "loss")
            network = Network()
            forward = self.ir.create_graph(network, popxl.TensorSpec((BATCH, WIDTH), popxl.float32))
            gradient = transforms.autodiff(forward, grads_required=[getattr(network, n) for n in shapes])
            self.weights = {n: popxl.variable(random.integers(-2, 3, s).astype(np.float32), name=n) for n, s in shapes.items()}
            x, y = ops.host_load(self.x), ops.host_load(self.y)
            info = ops.call_with_info(forward, x, inputs_dict={getattr(network, n): w for n, w in self.weights.items()})
            loss, dx = ops.nll_loss_with_softmax_grad(ops.softmax(info.outputs[0], axis=-1), y)
            ops.host_store(self.loss, loss)
            gradients = ops.call(gradient.graph, dx, inputs_dict=gradient.inputs_dict(info))
            self.moments = []
            for n, g in zip(shapes, gradients):
                if adam:
                    first, second, step = (popxl.variable(np.zeros(s, np.float32), name=f"{n}_{k}") for k, s in [("m", shapes[n]), ("v", shapes[n]), ("t", ())])
                    self.moments += [first, second]
                    ops.var_updates.accumulate_moving_average_(first, g, f=0.9)
                    ops.var_updates.accumulate_moving_average_square_(second, g, f=0.999)
                    g = ops.var_updates.adam_updater(first, second, time_step=step, beta1=0.9, beta2=0.999, epsilon=0.25)
                ops.scaled_add_(self.weights[n], g, b=-0.125)

    def train(self, session, steps=3):
        """Losses, and what the variables are then."""
        random = np.random.default_rng(4)
        losses = []
        with session:
            for _ in range(steps):
                x, y = random.integers(-2, 3, (BATCH, WIDTH)).astype(np.float32), random.integers(0, CLASSES, BATCH).astype(np.int32)
                losses.append(float(session.run({self.x: x, self.y: y})[self.loss]))
        return losses, [session.get_tensor_data(t) for t in [*self.weights.values(), *self.moments]]


WORDS = ["data=2", "tensor=2", "data=2 tensor=2 microbatches=2", "pipeline=2 microbatches=4 schedule=1F1B", "data=4 zero=1", "data=2 zero=3 recompute=full",
         "data=2 pipeline=2 microbatches=2 schedule=GPipe zero=2"]


@pytest.mark.parametrize("words", WORDS)
@pytest.mark.parametrize("adam", [False, True])
def test_equal_to_the_sequential_program(words, adam):
    step = Step(adam)
    expected, weights = step.train(popxl.Session(step.ir, "interpreter"))
    losses, found = step.train(distribution.Session(step.ir, words, "interpreter"))
    np.testing.assert_allclose(losses, expected, rtol=2e-5)
    for a, b in zip(found, weights):
        np.testing.assert_allclose(a, b, rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("words", WORDS)
def test_ipus_do_what_the_interpreter_does(words):
    step = Step(adam=True)
    expected, weights = step.train(distribution.Session(step.ir, words, "interpreter"))
    losses, found = step.train(distribution.Session(step.ir, words, "cpu"))
    np.testing.assert_allclose(losses, expected, rtol=1e-5)
    for a, b in zip(found, weights):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


def test_options_of_a_session_hold_for_the_program_over_devices():
    step = Step()
    engine = step.ir._pb_ir.getSessionOptions().engineOptions
    seconds = {}
    for objective in ("hostTime", "cycles"):
        engine["pando.planObjective"] = objective
        session = distribution.Session(step.ir, "data=2", "ipu_model")
        step.train(session)
        seconds[objective] = session.measured_seconds()
    assert seconds["cycles"] < seconds["hostTime"]
    engine["pando.planObjective"] = "both"
    with pytest.raises(Exception, match="hostTime.*cycles"):
        distribution.Session(step.ir, "data=2", "ipu_model").get_tensor_data(next(iter(step.weights.values())))


def test_the_best_is_a_program_that_runs():
    step = Step()
    result = distribution.search(step.ir, 4, top=3, frontier=True, why_not=["tensor=4", "data=3"])
    assert len(result.found) == 3 and result.found[0].seconds <= result.found[1].seconds
    c = result.certificate
    assert c.points == c.evaluated + c.against_a_rule + c.too_large_by_a_bound + c.slower_by_a_bound and c.best == result.best.seconds
    assert "devices: it takes 3" in result.why_not["data=3"]
    assert result.best.words in result.table
    bytes_ = [f.bytes for f in result.frontier]
    assert bytes_ == sorted(bytes_) and any(f.words == result.best.words for f in result.frontier)
    session = distribution.Session(step.ir, result.best.words, "interpreter")
    assert session.predicted_seconds() == pytest.approx(result.best.seconds)
    compiled = session.predicted_seconds("ipu2:16", cost="compiled")
    assert compiled > 0 and compiled == session.predicted_seconds("ipu2:16", cost="compiled") != session.predicted_seconds("ipu2:16")
    with pytest.raises(ValueError, match="cost is 'guessed'"):
        session.predicted_seconds(cost="guessed")
    with pytest.raises(RuntimeError, match="'selene' is neither"):
        session.predicted_seconds("selene", cost="compiled")
    assert session.text().startswith("module") and "..." not in session.text()
    losses, _ = step.train(session)
    other = Step()
    np.testing.assert_allclose(losses, other.train(popxl.Session(other.ir, "interpreter"))[0], rtol=2e-5)


def test_demands_and_limits():
    step = Step()
    assert "zero=3" in distribution.search(step.ir, 2, require="zero=3 data=2").best.words
    named = distribution.search(step.ir, 2, require="pipeline=2", schedules=["GPipe"], microbatches=2)
    assert all("schedule=GPipe" in f.words for f in named.found)
    points = [distribution.search(step.ir, 2, require="tensor=2", cuts=n).certificate.points for n in (0, 1, 2)]
    # Two weights at once lead to layouts that one leads to, in a network so small.
    assert points[0] < points[1] <= points[2]
    sets = [distribution.search(step.ir, 1, require="recompute=full", recompute_sets=n, top=100) for n in (0, 4)]
    assert sets[0].certificate.points < sets[1].certificate.points
    assert any("recompute-layers=" in f.words for f in sets[1].found) and not any("recompute-layers=" in f.words for f in sets[0].found)
    none = distribution.search(step.ir, 2, memory=100)
    assert none.certificate.too_large_by_a_bound > 0
    assert not none.found and none.certificate.too_large == none.certificate.evaluated
    with pytest.raises(ValueError, match="No strategy fits"):
        none.best
    assert distribution.search(step.ir, 2, samples={step.x: 0, "y": 0}, top=1).found
    with pytest.raises(ValueError, match="no input 'z'"):
        distribution.search(step.ir, 2, samples={"z": 0})
    with pytest.raises(ValueError, match="does not divide"):
        distribution.Session(step.ir, "data=3")


def test_by_time_or_by_price():
    step = Step()
    one, four = (distribution.search(step.ir, n, top=1) for n in (1, 4))
    for by in ("time", "price"):
        devices = [1, 4]
        cost = {r.devices: r.best.seconds * (r.devices if by == "price" else 1) for r in (one, four)}
        result = distribution.search(step.ir, devices, by=by, top=1)
        assert result.devices == min(cost, key=cost.get) and result.best in (one.best, four.best)
    # A step so small is cheapest on one device.
    assert distribution.search(step.ir, (4, 1), by="price").devices == 1
    with pytest.raises(ValueError, match="'time' or 'price'"):
        distribution.search(step.ir, 2, by="weight")
    with pytest.raises(ValueError, match="at least one number"):
        distribution.search(step.ir, [])


def test_variables_are_written_in_parts():
    step = Step()
    session = distribution.Session(step.ir, "data=2 zero=3", "interpreter")
    new = np.arange(WIDTH * 16, dtype=np.float32).reshape(WIDTH, 16)
    session.write_variable_data(step.weights["w1"], new)
    np.testing.assert_array_equal(session.get_tensor_data(step.weights["w1"]), new)


# --- ONNX -------------------------------------------------------------------------------------------------------------

@pytest.fixture
def perceptron(tmp_path):
    """A file of three layers, and what they compute."""
    random = np.random.default_rng(5)
    weights = [random.normal(0, 0.5, s).astype(np.float32) for s in [(6, 16), (16, 16), (16, 4)]]
    biases = [random.normal(0, 0.5, w.shape[1]).astype(np.float32) for w in weights]
    path = tmp_path / "perceptron.onnx"
    path.write_bytes(onnx_bytes.perceptron(weights, biases))

    def compute(x):
        for i, (w, b) in enumerate(zip(weights, biases)):
            x = x @ w + b
            x = np.maximum(x, 0) if i < 2 else x
        e = np.exp(x - x.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)

    return path, compute


@pytest.mark.parametrize("device", ["interpreter", "cpu", "ipu_model"])
def test_an_onnx_model_runs(perceptron, device):
    path, compute = perceptron
    ir = distribution.load_onnx(path, {"batch": 8})
    (x,), (p,) = ir.get_all_h2d_streams(), ir.get_all_d2h_streams()
    assert (x.tensor_id, x.shape, p.tensor_id, p.shape) == ("x", (8, 6), "p", (8, 4))
    data = np.random.default_rng(6).normal(size=(8, 6)).astype(np.float32)
    with popxl.Session(ir, device) as session:
        np.testing.assert_allclose(session.run({x: data})[p], compute(data), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("demand", ["", "tensor=4", "pipeline=2", "data=4"])
def test_an_onnx_model_runs_over_devices(perceptron, demand):
    path, compute = perceptron
    ir = distribution.load_onnx(path, {"batch": 8})
    (x,), (p,) = ir.get_all_h2d_streams(), ir.get_all_d2h_streams()
    best = distribution.search(ir, 4, require=demand).best
    data = np.random.default_rng(6).normal(size=(8, 6)).astype(np.float32)
    for device in ("interpreter", "cpu"):
        with distribution.Session(ir, best.words, device) as session:
            np.testing.assert_allclose(session.run({x: data})[p], compute(data), rtol=1e-5, atol=1e-6)


def test_onnx_errors(tmp_path):
    with pytest.raises(ValueError, match="cannot be read"):
        distribution.load_onnx(tmp_path / "none.onnx")


def test_arguments_that_say_nothing_are_named():
    for call, kind, said in ((lambda: distribution.search(None, 2), TypeError, "search takes an Ir, not None of type NoneType"),
                             (lambda: distribution.search(popxl.Ir(), 1.5), TypeError, "search: a number of devices is an integer, not 1.5 of type float"),
                             (lambda: distribution.search(popxl.Ir(), 2**40), ValueError, "search: 1099511627776 devices; 1 to 1048576 are possible"),
                             (lambda: distribution.search(popxl.Ir(), 2, samples=3), TypeError, "search: samples is a dict of dimensions, not 3 of type int"),
                             (lambda: distribution.search(popxl.Ir(), 2, sequence={"x": 0.5}), TypeError, "search: sequence: a dimension is an integer, not 0.5"),
                             (lambda: distribution.Session(None, "data=2"), TypeError, "Session takes an Ir, not None of type NoneType"),
                             (lambda: distribution.Session(popxl.Ir(), None), TypeError, "Session: the strategy is a text, not None of type NoneType")):
        with pytest.raises(kind) as error:
            call()
        assert str(error.value).startswith(said), str(error.value)
