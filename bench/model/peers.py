"""The same training steps with JAX and PyTorch: peers.py NAME PEER [STEPS]; NAME: mlp, encoder; PEER: jax, torch, torch-compiled. Prints JSON."""
import json
import resource
import sys
import time

import numpy as np

MLP_BATCH, MLP_SIZES = 256, [784, 1024, 1024, 10]
BATCH, TOKENS, WIDTH, HEADS = 8, 128, 768, 12
SHAPES = {"qkv": (WIDTH, 3 * WIDTH), "qkv_b": (3 * WIDTH,), "out": (WIDTH, WIDTH), "out_b": (WIDTH,), "up": (WIDTH, 4 * WIDTH), "up_b": (4 * WIDTH,),
          "down": (4 * WIDTH, WIDTH), "down_b": (WIDTH,), "ln1": (WIDTH,), "ln1_b": (WIDTH,), "ln2": (WIDTH,), "ln2_b": (WIDTH,)}


def mlp_data():
    random = np.random.default_rng(0)
    x, y = random.normal(0, 1, (MLP_BATCH, 784)).astype(np.float32), random.integers(0, 10, MLP_BATCH).astype(np.int32)
    weights = []
    for a, b in zip(MLP_SIZES, MLP_SIZES[1:]):
        weights += [random.normal(0, np.sqrt(2 / a), (a, b)).astype(np.float32), np.zeros(b, np.float32)]
    return x, y, weights


def encoder_data():
    random = np.random.default_rng(0)
    x = random.normal(0, 1, (BATCH * TOKENS, WIDTH)).astype(np.float32)
    weights = {n: (np.ones(s) if n in ("ln1", "ln2") else random.normal(0, 0.02, s)).astype(np.float32) for n, s in SHAPES.items()}
    return x, random.normal(0, 1, x.shape).astype(np.float32), weights


def timed(step, state, steps, settle):
    began = time.perf_counter()
    state = step(state)
    settle(state)
    cold = time.perf_counter() - began
    best = 1e9
    for _ in range(3):
        start = time.perf_counter()
        for _ in range(steps):
            state = step(state)
        settle(state)
        best = min(best, (time.perf_counter() - start) / steps)
    return {"cold": cold, "step": best}


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
        return jax.jit(step, donate_argnums=0), ([jnp.asarray(w) for w in weights], zeros, [jnp.zeros_like(w) for w in weights], jnp.float32(0)), jax.block_until_ready

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
    return (lambda s: (x, dy, weights, jitted(x, dy, weights))), None, (lambda s: jax.block_until_ready(s[3]))


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

        return step, None, lambda s: None
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

    return step, None, lambda s: None


def main():
    name, peer = sys.argv[1], sys.argv[2]
    steps = int(sys.argv[3]) if len(sys.argv) > 3 else 10
    step, state, settle = jax_step(name) if peer == "jax" else torch_step(name, peer == "torch-compiled")
    result = timed(step, state, steps, settle)
    result["peak_mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(result))


if __name__ == "__main__":
    main()
