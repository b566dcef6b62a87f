"""Options of the engine that look closer, from a PopXL program: a session stops where a tensor changes."""
import json

import numpy as np
import pytest

from popart import poplar_application_runtime_error
import popxl
from popxl import ops


def program(**engine_options):
    """Divides the weights by what comes, and stores them; its stream, and its Ir."""
    ir = popxl.Ir()
    with ir.main_graph:
        weights = popxl.variable(np.array([1, 0, 4], np.float32), name="weights")
        x = popxl.h2d_stream((3,), popxl.float32, name="x")
        ops.var_updates.copy_var_update_(weights, ops.div(weights, ops.host_load(x)))
    ir._pb_ir.getSessionOptions().engineOptions.update({f"pando.{name}": value for name, value in engine_options.items()})
    return ir, x


def stop_of(device, given, **engine_options):
    ir, x = program(**engine_options)
    with popxl.Session(ir, device) as session:
        with pytest.raises(poplar_application_runtime_error) as error:
            session.run({x: np.array(given, np.float32)})
    return str(error.value)


@pytest.mark.parametrize("device", ["cpu", "ipu_model"])
def test_a_watched_variable_stops_the_session(device):
    said = stop_of(device, [2, 1, 2], watch="weights")
    assert "weights' on tile " in said and "[watched-tensor]" in said
    assert "changed from 1 to 0.5" in said or "changed from 4 to 2" in said


@pytest.mark.parametrize("device", ["cpu", "ipu_model"])
def test_only_nan_may_stop_it(device):
    assert "element 1 of " in (said := stop_of(device, [2, 0, 2], watch="weights", watchNaN="true")) and "nan" in said
    ir, x = program(watch="weights", watchNaN="true")
    with popxl.Session(ir, device) as session:
        session.run({x: np.array([2, 1, 2], np.float32)})


def test_bad_names_are_rejected(monkeypatch):
    ir, _ = program(watch="wights")
    with pytest.raises(Exception, match="the graph has no variable of that name.*did you mean '.*weights'"):
        popxl.Session(ir, "cpu")
    monkeypatch.setenv("POPLAR_ENGINE_OPTIONS", json.dumps({"pando.break": "worker=1"}))
    with pytest.raises(Exception, match="'worker' is unknown"):
        popxl.Session(program()[0], "cpu")
