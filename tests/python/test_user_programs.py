"""Whole programs as users write them, on both kinds of machines, against NumPy."""
import numpy as np
import pytest

import popxl
import popxl.ops as ops
from popxl.transforms import autodiff


@pytest.fixture(params=["cpu", "ipu_model"])
def device(request):
    return request.param


@pytest.fixture
def rng():
    return np.random.default_rng(5)


def expect_close(found, expected, tolerance=1e-5):
    found, expected = np.asarray(found, np.float64), np.asarray(expected, np.float64)
    assert found.shape == expected.shape
    assert np.max(np.abs(found - expected) / (1 + np.abs(expected))) <= tolerance


def slopes(f, arguments):
    """The gradient of each argument, by differences."""
    result = []
    for argument in arguments:
        flat, slope = argument.reshape(-1), np.zeros(argument.size)
        for i in range(flat.size):
            old = flat[i]
            flat[i] = old + 1e-6
            above = f(*arguments)
            flat[i] = old - 1e-6
            slope[i] = (above - f(*arguments)) / 2e-6
            flat[i] = old
        result.append(slope.reshape(argument.shape))
    return result


def test_phases_over_layers_in_a_remote_buffer(device, rng):
    """Weights and activations of the layers are remote rows; one graph, whose code is loaded before each phase, computes all layers."""
    layers, width, batch = 5, 8, 3
    start, x_data = rng.normal(0, .4, (layers, width, width)).astype(np.float32), rng.normal(size=(batch, width)).astype(np.float32)
    ir = popxl.Ir()
    with ir.main_graph, popxl.in_sequence():
        stream, out = popxl.h2d_stream((batch, width), popxl.float32), popxl.d2h_stream((batch, width), popxl.float32)
        weights = popxl.remote_buffer((width, width), popxl.float32, layers)
        inputs = popxl.remote_buffer((batch, width), popxl.float32, layers)
        variables = [popxl.remote_variable(start[i], weights, i) for i in range(layers)]
        x, first, last = ops.host_load(stream), popxl.constant(0, popxl.uint32), popxl.constant(layers - 1, popxl.uint32)
        layer = ir.create_graph(lambda x, w: ops.tanh(x @ w), x, popxl.TensorSpec((width, width), popxl.float32))
        gradient = autodiff(layer)

        def forward(x, i):
            ops.remote_store(inputs, i, x)
            return ops.call(layer, x, ops.remote_load(weights, i))[0], i + 1

        def backward(dy, i):
            w = ops.remote_load(weights, i)
            info = ops.call_with_info(layer, ops.remote_load(inputs, i), w)
            dx, dw = ops.call(gradient.graph, dy, inputs_dict=gradient.inputs_dict(info))
            ops.remote_store(weights, i, ops.scaled_add_(w, dw, b=-0.5))
            return dx, i - 1

        ops.remote_code_load(layer, "executable")
        y, _ = ops.repeat(ir.create_graph(forward, x, first), layers, x, first)
        ops.remote_code_load(gradient.graph, "executable")
        ops.repeat(ir.create_graph(backward, y, last), layers, y, last)
        ops.host_store(out, y)
    values = [x_data.astype(np.float64)]
    for w in start:
        values.append(np.tanh(values[-1] @ w))
    with popxl.Session(ir, device) as session:
        expect_close(session.run({stream: x_data})[out], values[-1])
    dy = values[-1]
    for i in reversed(range(layers)):
        dz = dy * (1 - values[i + 1]**2)
        expect_close(session.get_tensor_data(variables[i]), start[i] - 0.5 * values[i].T @ dz)
        dy = dz @ start[i].T


@pytest.mark.parametrize("inside", [False, True])
def test_loaded_code_is_there_in_each_round(device, inside):
    ir = popxl.Ir()
    with ir.main_graph, popxl.in_sequence():
        x, out = popxl.variable(1.0, popxl.float32), popxl.d2h_stream((), popxl.float32)
        double = ir.create_graph(lambda x: x * 2.0, x)

        def body(x):
            if inside:
                ops.remote_code_load(double, "executable")
            return ops.call(double, x)[0] + 1.0

        if not inside:
            ops.remote_code_load(double, "executable")
        y, = ops.repeat(ir.create_graph(body, x), 3, x)
        ops.host_store(out, ops.call(double, y)[0])
    with popxl.Session(ir, device) as session:
        assert session.run()[out] == 2 * (((2 + 1) * 2 + 1) * 2 + 1)


def test_tokens_are_generated_with_a_cache(device, rng):
    words, width, length = 11, 6, 7
    table, keys = rng.normal(size=(words, width)).astype(np.float32), rng.normal(size=(width, width)).astype(np.float32)
    ir = popxl.Ir()
    with ir.main_graph, popxl.in_sequence():
        t, w = popxl.variable(table), popxl.variable(keys)
        cache, said = popxl.variable(np.zeros((length, width), np.float32)), popxl.variable(np.zeros(length, np.int32))

        def step(token, at, t, w, cache: popxl.TensorByRef, said: popxl.TensorByRef):
            e = ops.gather(t, token)
            ops.dynamic_update_(cache, at, e @ w, [0], [1], True)
            h = ops.softmax(e @ cache.T, axis=-1) @ cache
            following = ops.argmax(h @ t.T, dim=1)
            ops.dynamic_update_(said, at, following, [0], [1], True)
            return following, at + 1

        token, at = popxl.constant(np.array([3], np.int32)), popxl.constant(np.array([0], np.uint32))
        ops.repeat(ir.create_graph(step, token, at, t, w, cache, said), length, token, at, t, w, cache, said)
    with popxl.Session(ir, device) as session:
        session.run()
    expected, rows, token = [], np.zeros((length, width)), 3
    for i in range(length):
        e = table[token].astype(np.float64)
        rows[i] = e @ keys
        p = np.exp(rows @ e - np.max(rows @ e))
        token = int(np.argmax(table @ (p / p.sum() @ rows)))
        expected.append(token)
    assert session.get_tensor_data(said).tolist() == expected
    expect_close(session.get_tensor_data(cache), rows)


def test_each_trip_of_a_loop_has_its_weights(device, rng):
    """The gradient of a loop whose body takes a row of the weights by number."""
    width, trips = 3, 4
    x_data, w_data = rng.normal(size=(2, width)).astype(np.float32), rng.normal(0, .5, (trips, width, width)).astype(np.float32)
    ir = popxl.Ir()
    with ir.main_graph, popxl.in_sequence():
        x, w = popxl.variable(x_data), popxl.variable(w_data)

        def body(h, i, w):
            return ops.tanh(h @ ops.dynamic_slice(w, i, [0], [1], True).reshape((width, width))) + h, i + 1

        def network(x, w):
            i = popxl.constant(np.array([0], np.uint32))
            h, _ = ops.repeat(ir.create_graph(body, x, i, w), trips, x, i, w)
            return ops.sum(h * h)

        graph = ir.create_graph(network, x, w)
        info, gradient = ops.call_with_info(graph, x, w), autodiff(graph)
        results = ops.call(gradient.graph, popxl.constant(1.0, popxl.float32), inputs_dict=gradient.inputs_dict(info))
        outs = [popxl.d2h_stream(r.shape, r.dtype) for r in results]
        for out, r in zip(outs, results):
            ops.host_store(out, r)

    def loss(x, w):
        for row in w:
            x = np.tanh(x @ row) + x
        return np.sum(x * x)

    with popxl.Session(ir, device) as session:
        found = session.run()
    for out, expected in zip(outs, slopes(loss, [x_data.astype(np.float64), w_data.astype(np.float64)])):
        expect_close(found[out], expected, 1e-4)


def test_replicas_share_a_sharded_momentum(device, rng):
    """Weights in a remote buffer, split over the replicas; gradients scattered; what all have gathered is the same."""
    replicas, n = 4, 10
    start = rng.normal(size=n).astype(np.float32)
    ir = popxl.Ir(replication=replicas)
    with ir.main_graph, popxl.in_sequence():
        stream, out = popxl.h2d_stream((n,), popxl.float32), popxl.d2h_stream((n,), popxl.float32)
        buffer = popxl.replica_sharded_buffer((n,), popxl.float32)
        w = popxl.remote_replica_sharded_variable(start, buffer, 0)
        momentum, shard = popxl.replica_sharded_variable(np.zeros(n, np.float32))
        mine = ops.remote_load(buffer, 0)
        gradient = ops.collectives.replicated_reduce_scatter(ops.host_load(stream), "mean", None, True)
        ops.var_updates.accumulate_moving_average_(shard, gradient, f=0.9)
        ops.scaled_add_(mine, shard, b=-0.5)
        ops.remote_store(buffer, 0, mine)
        ops.host_store(out, ops.collectives.replicated_all_gather(mine))
    expected, mean = start.astype(np.float64), np.zeros(n)
    with popxl.Session(ir, device) as session:
        for _ in range(3):
            data = rng.normal(size=(replicas, n)).astype(np.float32)
            found = session.run({stream: data})[out]
            mean = 0.9 * mean + 0.1 * data.mean(0)
            expected = expected - 0.5 * mean
            expect_close(found, np.tile(expected, (replicas, 1)))
    expect_close(session.get_tensor_data(w), expected)
    expect_close(session.get_tensor_data(momentum), mean)


def test_remote_rows_by_groups_of_replicas(device, rng):
    ir = popxl.Ir(replication=4)
    by_group, common = rng.normal(size=(2, 3)).astype(np.float32), rng.normal(size=3).astype(np.float32)
    with ir.main_graph, popxl.in_sequence():
        buffer, stream = popxl.remote_buffer((3,), popxl.float32, 2), popxl.h2d_stream((3,), popxl.float32)
        a = popxl.remote_variable(by_group, buffer, 0, replica_grouping=ir.replica_grouping(stride=2, group_size=2))
        b = popxl.remote_variable(common, buffer, 1, retrieval_mode="all_replicas")
        x, y, z = ops.remote_load(buffer, 0), ops.remote_load(buffer, popxl.constant(1, popxl.uint32)), ops.host_load(stream)
        ops.remote_store(buffer, 1, x + y + z)
        ops.remote_store(buffer, 0, x * 2.0)
    data = rng.normal(size=(4, 3)).astype(np.float32)
    with popxl.Session(ir, device) as session:
        session.run({stream: data})
    expect_close(session.get_tensor_data(a), by_group * 2)
    expect_close(session.get_tensor_data(b), by_group[[0, 1, 0, 1]] + common + data)
