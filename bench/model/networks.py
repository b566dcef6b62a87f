"""The two training steps of the model level's figures, as popxl programs: an MLP with Adam, and an encoder layer both ways.

    networks.py NAME DEVICE [STEPS]     NAME: mlp, encoder, tiny; prints one JSON object

`steps` are run by one call: a repeated graph, so that a step's time is the program's and not Python's.
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

MLP_BATCH, MLP_SIZES = 256, [784, 1024, 1024, 10]
BATCH, TOKENS, WIDTH, HEADS = 8, 128, 768, 12


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


def mlp(ir, steps, random):
    x = popxl.variable(random.normal(0, 1, (MLP_BATCH, 784)).astype(np.float32), name="x")
    y = popxl.variable(random.integers(0, 10, MLP_BATCH).astype(np.int32), name="y")
    weights = []
    for i, (a, b) in enumerate(zip(MLP_SIZES, MLP_SIZES[1:])):
        weights.append(popxl.variable(random.normal(0, np.sqrt(2 / a), (a, b)).astype(np.float32), name=f"w{i}"))
        weights.append(popxl.variable(np.zeros(b, np.float32), name=f"b{i}"))
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


def encoder(ir, steps, random):
    x = popxl.variable(random.normal(0, 1, (BATCH * TOKENS, WIDTH)).astype(np.float32), name="x")
    shapes = {"qkv": (WIDTH, 3 * WIDTH), "qkv_b": (3 * WIDTH,), "out": (WIDTH, WIDTH), "out_b": (WIDTH,), "up": (WIDTH, 4 * WIDTH), "up_b": (4 * WIDTH,),
              "down": (4 * WIDTH, WIDTH), "down_b": (WIDTH,), "ln1": (WIDTH,), "ln1_b": (WIDTH,), "ln2": (WIDTH,), "ln2_b": (WIDTH,)}
    weights = {n: popxl.variable((np.ones(s) if n in ("ln1", "ln2") else random.normal(0, 0.02, s)).astype(np.float32), name=n) for n, s in shapes.items()}
    inputs = {}

    def network(x):
        for n, s in shapes.items():
            inputs[n] = popxl.graph_input(s, popxl.float32, n)
        w = inputs
        h = ops.layer_norm(x, w["ln1"], w["ln1_b"])
        heads = (BATCH, TOKENS, HEADS, WIDTH // HEADS)
        q, k, v = (t.reshape(heads).transpose((0, 2, 1, 3)) for t in ops.split(h @ w["qkv"] + w["qkv_b"], 3, axis=1))
        scores = ops.softmax((q @ k.transpose((0, 1, 3, 2))) * (1 / np.sqrt(WIDTH // HEADS)), axis=-1)
        mixed = (scores @ v).transpose((0, 2, 1, 3)).reshape((BATCH * TOKENS, WIDTH))
        x = x + (mixed @ w["out"] + w["out_b"])
        h = ops.layer_norm(x, w["ln2"], w["ln2_b"])
        return x + (ops.gelu(h @ w["up"] + w["up_b"]) @ w["down"] + w["down_b"])

    forward = ir.create_graph(network, x)
    gradient = transforms.autodiff(forward, grads_required=[forward.inputs[0], *inputs.values()])
    dy = popxl.variable(random.normal(0, 1, x.shape).astype(np.float32), name="dy")
    sums = [popxl.variable(np.zeros(t.shape, np.float32), name=f"d{t.name}") for t in (x, *weights.values())]

    def step(state):
        n = len(weights)
        info = ops.call_with_info(forward, state[0], inputs_dict=dict(zip(inputs.values(), state[2 : 2 + n])))
        for s, g in zip(state[2 + n :], ops.call(gradient.graph, state[1], inputs_dict=gradient.inputs_dict(info))):
            ops.var_updates.copy_var_update_(s, g)

    repeat_step(ir, [x, dy, *weights.values(), *sums], steps, step)
    return sums[1]


def tiny(ir, steps, random):
    x = popxl.variable(np.ones((2, 2), np.float32))
    stream = popxl.d2h_stream((2, 2), popxl.float32)
    ops.host_store(stream, x + 1)
    return x


def main():
    name, device = sys.argv[1], sys.argv[2]
    steps = int(sys.argv[3]) if len(sys.argv) > 3 else 10
    random = np.random.default_rng(0)
    began = time.perf_counter()
    ir = popxl.Ir()
    with ir.main_graph, popxl.in_sequence():
        watched = {"mlp": mlp, "encoder": encoder, "tiny": tiny}[name](ir, steps, random)
    built = time.perf_counter()
    session = popxl.Session(ir, device)
    compiled = time.perf_counter()
    times = []
    with session:
        for _ in range(3):
            start = time.perf_counter()
            session.run()
            times.append(time.perf_counter() - start)
        result = session.get_tensor_data(watched)
    print(json.dumps({
        "import": IMPORTED - BEGAN, "build": built - began, "compile": compiled - built, "first": times[0], "step": min(times) / steps,
        "cold": compiled - began + times[0], "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "sum": float(np.abs(result.astype(np.float64)).sum()),
    }))


if __name__ == "__main__":
    main()
