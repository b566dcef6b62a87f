"""Large networks fill the tiles evenly: where a product, a convolution or a vector begins depends on what lies there already.

    python test_balance.py     the networks of bench/model/large.py at their real sizes, on 1,472 tiles (./x test --full long)
"""
import pathlib
import sys

import numpy as np
import popart
import popxl
import pytest
from popxl import ops

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench" / "model"))

import large  # noqa: E402

# Bytes of the fullest tile that are taken for good, by those of all tiles on average.
MOST = 1.5
SMALL = {"products": (256,), "encoder": (4, 96), "resnet": (1, ((16, 2, 1), (32, 2, 2), (64, 2, 2)), 32, 100)}
TILES = 64


def unevenness(session):
    resident = session._engine.resident_bytes()
    return max(resident) * len(resident) / sum(resident)


def session_of(ir, rotates=True):
    ir._pb_ir.getSessionOptions().engineOptions["pando.rotate"] = "true" if rotates else "false"
    return popxl.Session(ir, popart.DeviceManager().createIpuModelDevice({"numIPUs": 1, "tilesPerIPU": TILES}))


def results(session, out):
    inputs = {s: np.random.default_rng(1).normal(0, 1, s.shape).astype(np.float32) for s in session.expected_inputs()}
    with session:
        return session.run(inputs)[out]


@pytest.mark.parametrize("name", SMALL)
def test_tiles_are_filled_evenly(name):
    """The same numbers come out wherever things lie; the same program lies the same each time; without the rotation it is uneven, or full."""
    ir, out = large.program(name, *SMALL[name])
    session, again = session_of(ir), session_of(ir)
    assert unevenness(session) < MOST
    assert session._engine.resident_bytes() == again._engine.resident_bytes()
    found = results(session, out)
    wanted = results(popxl.Session(ir, "cpu"), out)
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4 * np.abs(wanted).max())


def test_without_rotations_weights_of_one_shape_lie_on_the_same_tiles():
    ir, out = large.program("products", *SMALL["products"])
    try:
        uneven = unevenness(session_of(ir, rotates=False))
    except popart.popart_exception:
        return
    except RuntimeError as error:
        assert "out of memory" in str(error)
        return
    assert uneven > 2 * MOST


@pytest.mark.parametrize("count, width", [(200, 32), (100, 64), (100, 128)])
def test_many_weights_of_one_shape_fit(count, width):
    ir = popxl.Ir()
    with ir.main_graph:
        y = popxl.variable(np.ones((16, width), np.float32))
        for _ in range(count):
            y = ops.tanh(y @ popxl.variable(np.full((width, width), 0.01, np.float32)))
        out = popxl.d2h_stream(y.shape, y.dtype)
        ops.host_store(out, y)
    with popxl.Session(ir, "ipu_model") as session:
        assert np.isfinite(session.run()[out]).all()
        assert max(session._engine.resident_bytes()) < 64 << 10


def test_the_switch_takes_true_and_false():
    ir, _ = large.program("products", 1)
    ir._pb_ir.getSessionOptions().engineOptions["pando.rotate"] = "perhaps"
    with pytest.raises(Exception, match="pando.rotate"):
        popxl.Session(ir, "ipu_model")


if __name__ == "__main__":
    for one in ("products", "resnet", "encoder"):
        even = unevenness(popxl.Session(large.program(one)[0], "ipu_model"))
        print(f"{one}: the fullest tile has {even:.2f} of the mean", flush=True)
        if not even < MOST:
            sys.exit(f"{one}: {even:.2f} is more than {MOST}")
