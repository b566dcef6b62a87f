"""Compositions are what their docs say, on the interpreter and on the processor."""
import numpy as np
import pytest

import popxl
from popxl import _core, ops

X = np.array([[-2.5, -0.75, -0.25, 0.0], [0.25, 0.5, 0.9, 3.0]], np.float32)
SMALL = X / 4
LARGE = np.abs(X) + 1.25


def composed(device, name, arrays, **attributes):
    ir = popxl.Ir()
    with ir.main_graph:
        tensors = [popxl.constant(a) for a in arrays]
        results = ir._program.compose(0, name, [t._index for t in tensors], attributes)
        streams = []
        for index in results:
            t = popxl.Tensor._of(ir, index)
            streams.append(popxl.d2h_stream(t.shape, t.dtype))
            ops.host_store(streams[-1], t)
    with popxl.Session(ir, device) as session:
        outputs = session.run()
    return [outputs[s] for s in streams]


def softplus(x):
    return np.log1p(np.exp(x))


CASES = {
    "acos": (lambda: [SMALL], {}, np.arccos),
    "acosh": (lambda: [LARGE], {}, np.arccosh),
    "asin": (lambda: [SMALL], {}, np.arcsin),
    "asinh": (lambda: [X], {}, np.arcsinh),
    "atan": (lambda: [X], {}, np.arctan),
    "atanh": (lambda: [SMALL], {}, np.arctanh),
    "celu": (lambda: [X], {"alpha": 2.0}, lambda x: np.where(x > 0, x, 2 * np.expm1(x / 2))),
    "cosh": (lambda: [X], {}, np.cosh),
    "elu": (lambda: [X], {"alpha": 1.5}, lambda x: np.where(x > 0, x, 1.5 * np.expm1(x))),
    "hard_sigmoid": (lambda: [X], {}, lambda x: np.clip(0.2 * x + 0.5, 0, 1)),
    "hard_swish": (lambda: [X], {}, lambda x: x * np.clip(x / 6 + 0.5, 0, 1)),
    "leaky_relu": (lambda: [X], {"alpha": 0.1}, lambda x: np.where(x < 0, 0.1 * x, x)),
    "log_softmax": (lambda: [X], {"axis": 0}, lambda x: x - np.log(np.exp(x).sum(0, keepdims=True))),
    "mish": (lambda: [X], {}, lambda x: x * np.tanh(softplus(x))),
    "pad": (lambda: [X], {"pads": [1, -1, 0, 2], "mode": "constant"}, lambda x: np.pad(x, ((1, 0), (0, 2)))[:, 1:]),
    "remainder": (lambda: [X, np.float32(2)], {}, np.mod),
    "selu": (lambda: [X], {}, lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(x))),
    "shrink": (lambda: [X], {"lambd": 0.5, "bias": 0.25}, lambda x: np.where(x < -0.5, x + 0.25, np.where(x > 0.5, x - 0.25, 0))),
    "silu": (lambda: [X], {"alpha": 2.0}, lambda x: x / (1 + np.exp(-2 * x))),
    "sinh": (lambda: [X], {}, np.sinh),
    "softmax_along": (lambda: [X], {"axis": 0}, lambda x: np.exp(x) / np.exp(x).sum(0, keepdims=True)),
    "softplus": (lambda: [X], {}, softplus),
    "softsign": (lambda: [X], {}, lambda x: x / (1 + np.abs(x))),
    "take": (lambda: [X], {"axis": 1, "indices": [3, 3, 0, 1, 2]}, lambda x: x[:, [3, 3, 0, 1, 2]]),
    "tan": (lambda: [SMALL], {}, np.tan),
    "thresholded_relu": (lambda: [X], {"alpha": 0.3}, lambda x: np.where(x > 0.3, x, 0)),
    "tile": (lambda: [X], {"repeats": [2, 3]}, lambda x: np.tile(x, (2, 3))),
    "triangle": (lambda: [X], {"k": 1, "upper": True}, lambda x: np.triu(x, 1)),
}


@pytest.mark.parametrize("device", ["interpreter", "cpu"])
@pytest.mark.parametrize("name", sorted(CASES))
def test_the_meaning(name, device):
    arrays, attributes, expected = CASES[name]
    found, = composed(device, name, arrays(), **attributes)
    np.testing.assert_allclose(found, expected(*arrays()), rtol=2e-6, atol=2e-6)


@pytest.mark.parametrize("mode", ["edge", "reflect", "symmetric", "wrap"])
def test_pads_repeat_what_is_there(mode):
    found, = composed("interpreter", "pad", [X], pads=[1, 3, 1, 2], mode=mode)
    np.testing.assert_array_equal(found, np.pad(X, ((1, 1), (3, 2)), mode))


def test_what_is_wrong_is_said():
    for name, operands, attributes, message in [
            ("nothing", [X], {}, "there is no composition 'nothing'"),
            ("elu", [X], {"beta": 1.0}, "there is no argument 'beta'"),
            ("elu", [X, X], {}, "takes 1 operands at most, not 2"),
            ("elu", [np.array([1, 2])], {}, "does not take int32 as 'x'"),
            ("tile", [X], {}, "needs the attribute 'repeats'"),
            ("tile", [X], {"repeats": [1]}, "1 repeats for 2 dimensions"),
            ("pad", [X], {"pads": [0, -9, 0, 0]}, "leave less than nothing")]:
        with pytest.raises(Exception, match=message):
            composed("interpreter", name, operands, **attributes)


def test_every_composition_is_listed():
    names = [name for name, _, _, _ in _core.compositions()]
    assert names == sorted(names) and set(CASES) <= set(names)
