"""The networks of networks.py with JAX, PyTorch and ONNX Runtime.

    peers.py NAME PEER [STEPS]      NAME: mlp, encoder (jax, torch, torch-compiled); resnet, inference (onnx). Prints one JSON object.
"""
import json
import resource
import sys
import time

import numpy as np

from data import BATCH, HEADS, MLP_BATCH, ROUNDS, TOKENS, WIDTH, encoder_data, input_of, mlp_data, resnet_data


def timed(step, state, steps, settle, watched):
    """The first step, and the best of a step of ROUNDS calls of `steps`; what the watched array sums up to after them."""
    began = time.perf_counter()
    state = step(state)
    settle(state)
    cold = time.perf_counter() - began
    best = 1e9
    for left in [steps - 1] + [steps] * (ROUNDS - 1):
        start = time.perf_counter()
        for _ in range(left):
            state = step(state)
        settle(state)
        best = min(best, (time.perf_counter() - start) / max(left, 1)) if left else best
    return {"cold": cold, "step": best, "sum": float(np.abs(np.asarray(watched(state), np.float64)).sum())}


def jax_step(name):
    import jax
    import jax.numpy as jnp

    if name == "mlp":
        x, y, weights = mlp_data()

        def loss(ws):
            h = x
            for i in range(0, len(ws), 2):
                h = h @ ws[i] + ws[i + 1]
                if i + 2 < len(ws):
                    h = jax.nn.relu(h)
            return -jnp.mean(jax.nn.log_softmax(h)[jnp.arange(MLP_BATCH), y])

        def step(state):
            ws, ms, vs, t = state
            gs = jax.grad(loss)(ws)
            t = t + 1
            ms = [0.9 * m + 0.1 * g for m, g in zip(ms, gs)]
            vs = [0.999 * v + 0.001 * g * g for v, g in zip(vs, gs)]
            ws = [w - 1e-3 * (m / (1 - 0.9**t)) / (jnp.sqrt(v / (1 - 0.999**t)) + 1e-8) for w, m, v in zip(ws, ms, vs)]
            return ws, ms, vs, t

        zeros = [jnp.zeros_like(w) for w in weights]
        return jax.jit(step, donate_argnums=0), ([jnp.asarray(w) for w in weights], zeros, [jnp.zeros_like(w) for w in weights], jnp.float32(0)), jax.block_until_ready, lambda s: s[0][0]

    x, dy, weights = encoder_data()

    def norm(x, g, b):
        m = x.mean(-1, keepdims=True)
        return (x - m) / jnp.sqrt(((x - m) ** 2).mean(-1, keepdims=True) + 1e-5) * g + b

    def forward(x, w):
        h = norm(x, w["ln1"], w["ln1_b"])
        q, k, v = (t.reshape(BATCH, TOKENS, HEADS, -1).transpose(0, 2, 1, 3) for t in jnp.split(h @ w["qkv"] + w["qkv_b"], 3, axis=1))
        s = jax.nn.softmax(q @ k.transpose(0, 1, 3, 2) / np.sqrt(WIDTH // HEADS))
        x = x + ((s @ v).transpose(0, 2, 1, 3).reshape(BATCH * TOKENS, WIDTH) @ w["out"] + w["out_b"])
        h = norm(x, w["ln2"], w["ln2_b"])
        return x + (jax.nn.gelu(h @ w["up"] + w["up_b"]) @ w["down"] + w["down_b"])

    def step(state):
        x, dy, w, _ = state
        return x, dy, w, jax.vjp(forward, x, w)[1](dy)

    x, dy, weights = jnp.asarray(x), jnp.asarray(dy), {n: jnp.asarray(w) for n, w in weights.items()}
    jitted = jax.jit(lambda x, dy, w: jax.vjp(forward, x, w)[1](dy))
    return (lambda s: (x, dy, weights, jitted(x, dy, weights))), None, (lambda s: jax.block_until_ready(s[3])), (lambda s: s[3][1]["qkv"])


def torch_step(name, compiled):
    import torch
    import torch.nn.functional as F

    torch.set_num_threads(2)
    if name == "mlp":
        x, y, weights = mlp_data()
        x, y = torch.from_numpy(x), torch.from_numpy(y).long()
        ws = [torch.from_numpy(w).requires_grad_() for w in weights]
        adam = torch.optim.Adam(ws, lr=1e-3, fused=True)

        def loss():
            h = x
            for i in range(0, len(ws), 2):
                h = h @ ws[i] + ws[i + 1]
                if i + 2 < len(ws):
                    h = torch.relu(h)
            return F.cross_entropy(h, y)

        run = torch.compile(loss) if compiled else loss

        def step(_):
            adam.zero_grad(set_to_none=True)
            run().backward()
            adam.step()

        return step, None, lambda s: None, lambda s: ws[0].detach()
    x, dy, weights = encoder_data()
    x, dy = torch.from_numpy(x).requires_grad_(), torch.from_numpy(dy)
    w = {n: torch.from_numpy(v).requires_grad_() for n, v in weights.items()}

    def forward():
        h = F.layer_norm(x, (WIDTH,), w["ln1"], w["ln1_b"])
        q, k, v = (t.reshape(BATCH, TOKENS, HEADS, -1).transpose(1, 2) for t in (h @ w["qkv"] + w["qkv_b"]).split(WIDTH, 1))
        s = torch.softmax(q @ k.transpose(2, 3) / np.sqrt(WIDTH // HEADS), -1)
        z = x + ((s @ v).transpose(1, 2).reshape(BATCH * TOKENS, WIDTH) @ w["out"] + w["out_b"])
        h = F.layer_norm(z, (WIDTH,), w["ln2"], w["ln2_b"])
        return z + (F.gelu(h @ w["up"] + w["up_b"], approximate="tanh") @ w["down"] + w["down_b"])

    run = torch.compile(forward) if compiled else forward

    def step(_):
        x.grad = None
        for t in w.values():
            t.grad = None
        run().backward(dy)

    return step, None, lambda s: None, lambda s: w["qkv"].grad


def onnx_nodes(name):
    """The network's nodes and weights, as exporters write them."""
    from onnx import helper, numpy_helper

    if name == "inference":
        _, _, weights = mlp_data()
        names = [f"w{i}" for i in range(len(weights))]
        nodes, last = [], "x"
        for i in range(0, len(names), 2):
            end = i + 2 == len(names)
            nodes.append(helper.make_node("Gemm", [last, names[i], names[i + 1]], ["y" if end else f"h{i}"]))
            if not end:
                nodes.append(helper.make_node("Relu", [f"h{i}"], [f"r{i}"]))
            last = f"r{i}"
        return nodes, [numpy_helper.from_array(w, n) for n, w in zip(names, weights)], (1, 784)
    shape, weights = resnet_data()

    def conv(x, n, y, **rest):
        return helper.make_node("Conv", [x, n, n + "_b"], [y], **rest)

    nodes = [conv("x", "stem", "s", strides=[2, 2], pads=[3] * 4), helper.make_node("Relu", ["s"], ["r"]),
             helper.make_node("MaxPool", ["r"], ["x0"], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)]
    for i in range(2):
        nodes += [conv(f"x{i}", f"a{i}", f"p{i}", pads=[1] * 4), helper.make_node("Relu", [f"p{i}"], [f"q{i}"]), conv(f"q{i}", f"b{i}", f"t{i}", pads=[1] * 4),
                  helper.make_node("Add", [f"x{i}", f"t{i}"], [f"u{i}"]), helper.make_node("Relu", [f"u{i}"], ["y" if i else "x1"])]
    return nodes, [numpy_helper.from_array(w.reshape(-1) if n.endswith("_b") else w, n) for n, w in weights.items()], shape


def onnx_step(name):
    import onnxruntime
    from onnx import TensorProto, helper

    nodes, weights, shape = onnx_nodes(name)
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph(nodes, name, [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)], [y], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 2
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    data = input_of(shape)
    best, result = 1e9, None
    for _ in range(10 * ROUNDS):
        start = time.perf_counter()
        result = session.run(None, {"x": data})[0]
        best = min(best, time.perf_counter() - start)
    return {"step": best, "sum": float(np.abs(result.astype(np.float64)).sum())}


def main():
    name, peer = sys.argv[1], sys.argv[2]
    steps = int(sys.argv[3]) if len(sys.argv) > 3 else 10
    if peer == "onnx":
        result = onnx_step(name)
    else:
        step, state, settle, watched = jax_step(name) if peer == "jax" else torch_step(name, peer == "torch-compiled")
        result = timed(step, state, steps, settle, watched)
    result["peak_mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(result))


if __name__ == "__main__":
    main()
