"""Sessions on the reference interpreter: shapes of host data, variables, contexts."""
import numpy as np
import pytest

import popxl
import popxl.ops as ops


def increment(ir):
    """x and its stream, the stream of x + w, and w, which then is incremented."""
    with ir.main_graph, popxl.in_sequence():
        h2d = popxl.h2d_stream((2,), popxl.float32)
        w = popxl.variable(np.array([1, 2], np.float32))
        y = ops.host_load(h2d) + w
        w += 1
        d2h = popxl.d2h_stream(y.shape, y.dtype)
        ops.host_store(d2h, y)
    return h2d, d2h, w


def test_runs_keep_variables():
    ir = popxl.Ir()
    h2d, d2h, w = increment(ir)
    session = popxl.Session(ir, "interpreter")
    assert session.expected_inputs() == {h2d}
    with session:
        assert session.run({h2d: [1.0, 1.0]})[d2h].tolist() == [2, 3]
        assert not w.in_sync_with_ipu
        assert session.run({h2d: np.zeros(2)})[d2h].tolist() == [2, 3]
    assert session.get_tensor_data(w).tolist() == [3, 4]
    session.write_variable_data(w, np.zeros(2, np.float32))
    with session:
        assert session.run({h2d: [0.0, 0.0]})[d2h].tolist() == [0, 0]


@pytest.mark.parametrize("device", ["interpreter", "cpu", "ipu_model"])
@pytest.mark.parametrize("replicas", [1, 2])
def test_what_is_written_beside_what_the_device_changed(device, replicas):
    ir = popxl.Ir(replicas)
    with ir.main_graph, popxl.in_sequence():
        changed, read = (popxl.variable(np.full(2, value, np.float32)) for value in (1, 10))
        changed += read
    session = popxl.Session(ir, device, weights_to_host_on_exit=False)
    with session:
        session.run()
        # The host is behind, and stays so: what was changed is still on the device.
        session._write_variables({read: np.full(2, 100, np.float32)})
        session.run()
        assert session.get_tensor_data(changed).tolist() == [111, 111]
        session.run()
        session.write_variables_data({changed: np.zeros(2, np.float32), read: np.ones(2, np.float32)})
        assert [session.get_tensor_data(v).tolist() for v in (changed, read)] == [[0, 0], [1, 1]]
        session.run()
        assert session.get_tensor_data(changed).tolist() == [1, 1]
        with pytest.raises(TypeError):
            session.write_variables_data({read: np.zeros(2, np.float32), changed: np.zeros(2, np.int32)})
        assert session.get_tensor_data(read).tolist() == [1, 1]


def test_replicas_and_transfers_lead():
    ir = popxl.Ir(2)
    ir.num_host_transfers = 3
    with ir.main_graph, popxl.in_sequence():
        h2d, d2h = popxl.h2d_stream((2,), popxl.float32), popxl.d2h_stream((2,), popxl.float32)
        for _ in range(3):
            ops.host_store(d2h, ops.host_load(h2d) + 1)
    data = np.arange(12, dtype=np.float32).reshape(3, 2, 2)
    with popxl.Session(ir, "interpreter") as session:
        assert (session.run({h2d: data})[d2h] == data + 1).all()
        with pytest.raises(ValueError):
            session.run({h2d: data[:2]})


def test_rejections():
    ir = popxl.Ir()
    h2d, d2h, w = increment(ir)
    session = popxl.Session(ir, "interpreter")
    with pytest.raises(ValueError, match="not attached"):
        session.run({h2d: [1.0, 1.0]})
    with session:
        for bad in ({}, {h2d: [1.0]}, {h2d: [1.0, 1.0], d2h: [1.0, 1.0]}):
            with pytest.raises(ValueError):
                session.run(bad)
    with pytest.raises(TypeError, match="^Tensor .* is not of type Constant or Variable"):
        session.get_tensor_data(h2d)
    with pytest.raises(TypeError):
        session.write_variable_data(w, np.zeros(2, np.int32))
    with pytest.raises(ValueError):
        session.write_variable_data(w, np.zeros(3, np.float32))
    with pytest.raises(RuntimeError):
        ir.replication_factor = 2
    with pytest.raises(RuntimeError):
        popxl.Session(popxl.Ir(), "interpreter")


def test_arguments_of_the_wrong_kind_are_named():
    ir = popxl.Ir()
    increment(ir)
    session = popxl.Session(ir, "interpreter")
    with session:
        with pytest.raises(TypeError, match=r"are a dictionary from streams to arrays, not \[1, 2\] of type list"):
            session.run([1, 2])
    with pytest.raises(ValueError, match="was not entered"):
        session.__exit__(None, None, None)
    with pytest.raises(ValueError, match="num_host_transfers is 1 or more, not -1"):
        ir.num_host_transfers = -1
    with pytest.raises(ValueError, match="is not a kind of groups; CommGroupType.All, "):
        popxl.ops.collectives.CommGroupType(object())


def test_only_the_outermost_block_attaches():
    ir = popxl.Ir()
    h2d, _, w = increment(ir)
    session = popxl.Session(ir, "interpreter")
    with session:
        with session:
            session.run({h2d: [0.0, 0.0]})
        assert session.is_attached
    assert not session.is_attached
    with pytest.raises(KeyError):
        with session:
            session.run({h2d: [0.0, 0.0]})
            raise KeyError("what was computed is not downloaded")
    assert session.get_tensor_data(w).tolist() == [2, 3]


def test_groups_begin_with_their_slices():
    ir = popxl.Ir(4)
    with ir.main_graph:
        w = popxl.variable(np.array([1, 2], np.float32), replica_grouping=ir.replica_grouping(2, 2), retrieval_mode="all_replicas")
        v = popxl.variable(np.array([1, 2], np.float32), replica_grouping=ir.replica_grouping(1, 2))
        assert (w.shape, w.shape_on_host) == ((), (2,))
        w += 1
        v += 1
    with popxl.Session(ir, "interpreter") as session:
        session.run()
        assert session.get_tensor_data(w).tolist() == [2, 3, 2, 3]
        assert session.get_tensor_data(v).tolist() == [2, 3]


def test_shards():
    ir = popxl.Ir(2)
    with ir.main_graph:
        whole, shard = popxl.replica_sharded_variable(np.arange(3, dtype=np.float32))
        assert (shard.shape, shard.meta_shape, whole.shape) == ((2,), (3,), (3,)) and shard != whole
        shard += shard
        shard += 1
    with popxl.Session(ir, "interpreter") as session:
        session.run()
        assert session.get_tensor_data(whole).tolist() == [1, 3, 5]


def test_mapped_files_are_written_to(tmp_path):
    data = np.memmap(tmp_path / "w", np.float32, "w+", shape=(2,))
    ir = popxl.Ir()
    with ir.main_graph:
        w = popxl.variable(data)
        w += 1
    with popxl.Session(ir, "interpreter") as session:
        session.run()
        assert session.get_tensor_data(w) is data
    assert np.fromfile(tmp_path / "w", np.float32).tolist() == [1, 1]
    with ir.main_graph, pytest.raises(ValueError):
        popxl.variable(data, popxl.float16)


def test_dump_shows_the_module_after_each_pass(tmp_path, monkeypatch):
    monkeypatch.setenv("PANDO_DUMP_LEVEL", "model")
    monkeypatch.setenv("PANDO_DUMP_FILE", str(tmp_path / "dump"))
    ir = popxl.Ir()
    with ir.main_graph:
        x = popxl.variable(np.ones(3, np.float32), name="x")
        stream = popxl.d2h_stream((3,), popxl.float32)
        ops.host_store(stream, x + 1)
    popxl.Session(ir, "cpu")
    text = (tmp_path / "dump").read_text()
    assert [line.split(":")[0] for line in text.splitlines() if line.startswith("# after")] == [
        "# after build", "# after complete_places", "# after expand", "# after flatten_tuples", "# after prune", "# after schedule"]
    assert "= add(x, " in text and "# after expand: nothing changed" in text
    decisions = text[text.index("# lower decides\n"):]
    assert "\nvariables\n  'x' (3): tile 0" in decisions and "\nmain program\n  add: 'add_out' " in decisions


def test_ops_that_nobody_orders_stay_as_listed_if_the_program_says_so(tmp_path, monkeypatch):
    monkeypatch.setenv("PANDO_DUMP_LEVEL", "model")

    def lowered(steps):
        monkeypatch.setenv("PANDO_DUMP_FILE", str(tmp_path / f"dump{steps}"))
        ir = popxl.Ir()
        with ir.main_graph:
            x = popxl.variable(np.ones((8, 8), np.float32), name="x")
            products = [x @ x for _ in range(4)]
            stream = popxl.d2h_stream((), popxl.float32)
            for p in products:
                ops.host_store(stream, ops.sum(p))
        if steps is not None:
            ir._pb_ir.getSessionOptions().swapLimitScheduler = steps
        popxl.Session(ir, "cpu")
        text = (tmp_path / f"dump{steps}").read_text()
        last = [part for part in text.split("# ") if "graph main" in part][-1]
        return [line.split(" = ")[1].split("(")[0] for line in last.splitlines() if line.startswith("    ") and " = " in line]

    assert lowered(0) == ["matmul"] * 4 + ["sum"] * 4
    assert lowered(None) == lowered(-1) == ["matmul", "sum"] * 4


VIEWS = {
    "detach": lambda v: v.detach_(),
    "flatten": lambda v: v.flatten_(),
    "reshape": lambda v: v.reshape_((1,)),
    "slice": lambda v: ops.slice_(v, [0], [1], [1], [0]),
    "transpose": lambda v: v.transpose_(),
}


@pytest.mark.parametrize("device", ["interpreter", "cpu", "ipu_model"])
@pytest.mark.parametrize("view", VIEWS)
def test_a_variable_is_modified_itself_and_through_its_view(view, device):
    ir = popxl.Ir()
    with ir.main_graph, popxl.in_sequence():
        v = popxl.variable(np.float32([1.5]))
        one = popxl.constant(np.float32([1]))
        w = VIEWS[view](v)
        for t in (v, w, v):
            ops.add_(t, one)
        streams = [popxl.d2h_stream((1,), popxl.float32) for _ in range(2)]
        ops.host_store(streams[0], v)
        ops.host_store(streams[1], w)
    with popxl.Session(ir, device) as session:
        for expected in (4.5, 7.5):
            results = session.run()
            assert [results[s].tolist() for s in streams] == [[expected]] * 2
        assert session.get_tensor_data(v).tolist() == [7.5]


@pytest.mark.parametrize("device", ["cpu", "ipu_model"])
def test_variables_that_are_added_to_each_other_many_times(device):
    """Many ways lead from a value to the last one: the compiler looks at each value, not at each way."""
    ir = popxl.Ir()
    with ir.main_graph, popxl.in_sequence():
        a, b = (popxl.variable(np.full(16, 2.0**-100, np.float32)) for _ in range(2))
        for _ in range(60):
            ops.add_(a, b)
            ops.add_(b, a)
        stream = popxl.d2h_stream((16,), popxl.float32)
        ops.host_store(stream, b)
    with popxl.Session(ir, device) as session:
        got = session.run()[stream]
    x = y = np.float32(2.0**-100)
    for _ in range(60):
        x = np.float32(x + y)
        y = np.float32(y + x)
    assert (got == y).all()
