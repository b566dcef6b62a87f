"""The networks of the model level's figures, as popxl programs.

    networks.py NAME DEVICE [STEPS]     prints one JSON object

NAME: mlp (a training step with Adam), encoder (a layer of a transformer, forward and backward): the steps are run by one call, a repeated
graph, so that a step's time is the program's and not Python's. resnet (the first blocks), inference (the MLP, batch 1): forward, from a host
array to a host array, one call of Python each. tiny: the smallest program. Peers of all but the last: peers.py.
"""
import json
import resource
import sys
import time

BEGAN = time.perf_counter()

import numpy as np  # noqa: E402

import popxl  # noqa: E402
import popxl.ops as ops  # noqa: E402
import popxl.transforms as transforms  # noqa: E402

IMPORTED = time.perf_counter()

from data import BATCH, HEADS, MLP_SIZES, ROUNDS, SHAPES, TOKENS, WIDTH, encoder_data, encoder_flops, input_of, mlp_data, mlp_flops, resnet_data  # noqa: E402


def adam_step(w, g, m, v, step):
    ops.var_updates.accumulate_moving_average_(m, g, f=0.9)
    ops.var_updates.accumulate_moving_average_square_(v, g, f=0.999)
    update = ops.var_updates.adam_updater(m, v, time_step=step, beta1=0.9, beta2=0.999, epsilon=1e-8)
    ops.scaled_add_(w, update, b=-1e-3)


def repeat_step(ir, everything, steps, body):
    graph = ir.create_empty_graph("step")
    with graph, popxl.in_sequence():
        body([popxl.graph_input(t.shape, t.dtype, t.name, by_ref=True) for t in everything])
    ops.repeat(graph, steps, *everything)


def mlp(ir, steps):
    x, y, weights = mlp_data()
    x, y = popxl.variable(x, name="x"), popxl.variable(y, name="y")
    weights = [popxl.variable(w, name=f"{'wb'[i % 2]}{i // 2}") for i, w in enumerate(weights)]
    inputs = []

    def network(x):
        for i in range(0, len(weights), 2):
            w, b = (popxl.graph_input(t.shape, t.dtype, t.name) for t in weights[i : i + 2])
            inputs.extend([w, b])
            x = x @ w + b
            if i + 2 < len(weights):
                x = ops.relu(x)
        return x

    forward = ir.create_graph(network, x)
    gradient = transforms.autodiff(forward, grads_required=inputs)
    moments = [popxl.variable(np.zeros(w.shape, np.float32)) for w in weights for _ in range(2)]
    counts = [popxl.variable(0.0, popxl.float32) for _ in weights]

    def step(state):
        n = len(weights)
        x, y, ws, ms, cs = state[0], state[1], state[2 : 2 + n], state[2 + n : 2 + 3 * n], state[2 + 3 * n :]
        info = ops.call_with_info(forward, x, inputs_dict=dict(zip(inputs, ws)))
        _, dx = ops.nll_loss_with_softmax_grad(ops.softmax(info.outputs[0], axis=-1), y)
        for i, g in enumerate(ops.call(gradient.graph, dx, inputs_dict=gradient.inputs_dict(info))):
            adam_step(ws[i], g, ms[2 * i], ms[2 * i + 1], cs[i])

    repeat_step(ir, [x, y, *weights, *moments, *counts], steps, step)
    return weights[0]


def encoder_layer(x, w):
    """Attention and an MLP, each behind a normalisation and with a residual; w: tensors of SHAPES."""
    h = ops.layer_norm(x, w["ln1"], w["ln1_b"])
    rows, width = x.shape
    heads = (rows // TOKENS, TOKENS, HEADS, width // HEADS)
    q, k, v = (t.reshape(heads).transpose((0, 2, 1, 3)) for t in ops.split(h @ w["qkv"] + w["qkv_b"], 3, axis=1))
    scores = ops.softmax((q @ k.transpose((0, 1, 3, 2))) * (1 / np.sqrt(width // HEADS)), axis=-1)
    mixed = (scores @ v).transpose((0, 2, 1, 3)).reshape((rows, width))
    x = x + (mixed @ w["out"] + w["out_b"])
    h = ops.layer_norm(x, w["ln2"], w["ln2_b"])
    return x + (ops.gelu(h @ w["up"] + w["up_b"]) @ w["down"] + w["down_b"])


def encoder(ir, steps):
    x, dy, weights = encoder_data()
    x, dy = popxl.variable(x, name="x"), popxl.variable(dy, name="dy")
    weights = {n: popxl.variable(w, name=n) for n, w in weights.items()}
    inputs = {}

    def network(x):
        for n, s in SHAPES.items():
            inputs[n] = popxl.graph_input(s, popxl.float32, n)
        return encoder_layer(x, inputs)

    forward = ir.create_graph(network, x)
    gradient = transforms.autodiff(forward, grads_required=[forward.inputs[0], *inputs.values()])
    sums = [popxl.variable(np.zeros(t.shape, np.float32), name=f"d{t.name}") for t in (x, *weights.values())]

    def step(state):
        n = len(weights)
        info = ops.call_with_info(forward, state[0], inputs_dict=dict(zip(inputs.values(), state[2 : 2 + n])))
        for s, g in zip(state[2 + n :], ops.call(gradient.graph, state[1], inputs_dict=gradient.inputs_dict(info))):
            ops.var_updates.copy_var_update_(s, g)

    repeat_step(ir, [x, dy, *weights.values(), *sums], steps, step)
    return sums[1]


def forward_only(graph_of, x_shape, y_shape):
    """A program that is called from Python: what runs it once."""
    x = popxl.h2d_stream(x_shape, popxl.float32, name="x")
    y = popxl.d2h_stream(y_shape, popxl.float32, name="y")
    ops.host_store(y, graph_of(ops.host_load(x)))
    return x, y


def resnet(ir, steps):
    x_shape, weights = resnet_data()
    w = {n: popxl.variable(v, name=n) for n, v in weights.items()}

    def conv(x, n, stride, pad):
        return ops.conv(x, w[n], (stride, stride), (pad,) * 4) + w[n + "_b"]

    def network(x):
        x = ops.max_pool(ops.relu(conv(x, "stem", 2, 3)), (3, 3), (2, 2), (1, 1, 1, 1))
        for i in range(2):
            x = ops.relu(x + conv(ops.relu(conv(x, f"a{i}", 1, 1)), f"b{i}", 1, 1))
        return x

    return forward_only(network, x_shape, (x_shape[0], 64, x_shape[2] // 4, x_shape[3] // 4))


def inference(ir, steps):
    _, _, weights = mlp_data()
    w = [popxl.variable(v) for v in weights]

    def network(x):
        for i in range(0, len(w), 2):
            x = x @ w[i] + w[i + 1]
            x = ops.relu(x) if i + 2 < len(w) else x
        return x

    return forward_only(network, (1, MLP_SIZES[0]), (1, MLP_SIZES[-1]))


def tiny(ir, steps):
    x = popxl.variable(np.ones((2, 2), np.float32))
    stream = popxl.d2h_stream((2, 2), popxl.float32)
    ops.host_store(stream, x + 1)
    return x


def trained(session, watched, steps):
    """The first call and the best of a step of all calls; what a variable sums up to in the end."""
    times = []
    with session:
        for _ in range(ROUNDS):
            start = time.perf_counter()
            session.run()
            times.append(time.perf_counter() - start)
        result = session.get_tensor_data(watched)
    return times[0], min(times) / steps, result


def called(session, streams, steps):
    x, y = streams
    data = input_of(x.shape)
    times = []
    with session:
        for _ in range(ROUNDS * steps):
            start = time.perf_counter()
            result = session.run({x: data})[y]
            times.append(time.perf_counter() - start)
    return times[0], min(times), result


def main():
    name, device = sys.argv[1], sys.argv[2]
    steps = int(sys.argv[3]) if len(sys.argv) > 3 else 10
    {"mlp": mlp_data, "encoder": encoder_data, "resnet": resnet_data, "inference": mlp_data, "tiny": int}[name]()  # not a part of the times
    began = time.perf_counter()
    ir = popxl.Ir()
    with ir.main_graph, popxl.in_sequence():
        watched = {"mlp": mlp, "encoder": encoder, "resnet": resnet, "inference": inference, "tiny": tiny}[name](ir, steps)
    built = time.perf_counter()
    session = popxl.Session(ir, device)
    compiled = time.perf_counter()
    first, step, result = (called if isinstance(watched, tuple) else trained)(session, watched, steps)
    print(json.dumps({
        "import": IMPORTED - BEGAN, "build": built - began, "compile": compiled - built, "first": first, "step": step, "calls": ROUNDS,
        "cold": compiled - began + first, "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "flops": {"mlp": mlp_flops, "encoder": encoder_flops}.get(name, int)(),  # of a step's products
        "sum": float(np.abs(result.astype(np.float64)).sum()),
    }))


if __name__ == "__main__":
    main()
