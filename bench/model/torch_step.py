"""Training steps of PyTorch modules, by pando.torch.compile_step or by torch.compile with its own compiler.

    torch_step.py NAME WHO [STEPS]    NAME: mlp (Adam), encoder (a layer of a transformer, SGD), encoders (12 of them); WHO: pando, inductor. Prints one JSON
                                      object: seconds of a step, seconds from the module to the first result, the weights' sum after the first call
"""
import json
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import numpy as np  # noqa: E402
import torch  # noqa: E402
from torch import nn  # noqa: E402

from data import BATCH, HEADS, MLP_SIZES, ROUNDS, TOKENS, WIDTH, encoder_data, mlp_data  # noqa: E402

LAYERS = 12  # of encoders


class Encoder(nn.Module):
    def __init__(self, weights):
        super().__init__()
        for name, value in weights.items():
            setattr(self, name, nn.Parameter(torch.from_numpy(value.copy())))

    def forward(self, x):
        h = nn.functional.layer_norm(x, (WIDTH,), self.ln1, self.ln1_b)
        q, k, v = (t.reshape(BATCH, TOKENS, HEADS, -1).transpose(1, 2) for t in (h @ self.qkv + self.qkv_b).split(WIDTH, 1))
        s = torch.softmax(q @ k.transpose(2, 3) / np.sqrt(WIDTH // HEADS), -1)
        z = x + ((s @ v).transpose(1, 2).reshape(BATCH * TOKENS, WIDTH) @ self.out + self.out_b)
        h = nn.functional.layer_norm(z, (WIDTH,), self.ln2, self.ln2_b)
        return z + (nn.functional.gelu(h @ self.up + self.up_b, approximate="tanh") @ self.down + self.down_b)


def mlp():
    x, y, weights = mlp_data()
    layers = []
    for i, (a, b) in enumerate(zip(MLP_SIZES, MLP_SIZES[1:])):
        layer = nn.Linear(a, b)
        layer.weight.data, layer.bias.data = torch.from_numpy(weights[2 * i].T.copy()), torch.from_numpy(weights[2 * i + 1].copy())
        layers += [layer, nn.ReLU()]
    model = nn.Sequential(*layers[:-1])
    return model, torch.from_numpy(x), torch.from_numpy(y).long(), nn.functional.cross_entropy, torch.optim.Adam(model.parameters(), lr=1e-3)


def encoder(layers=1):
    x, dy, weights = encoder_data()
    model = nn.Sequential(*(Encoder(weights) for _ in range(layers)))
    return model, torch.from_numpy(x), torch.from_numpy(dy), lambda y, t: (y * t).sum(), torch.optim.SGD(model.parameters(), lr=1e-6)


def pando_calls(model, x, y, loss, optimizer, steps):
    import pando.torch

    step = pando.torch.compile_step(model, loss, optimizer, steps_per_call=steps)
    lead = (steps,) if steps > 1 else ()
    xs, ys = (t.expand(*lead, *t.shape).contiguous() for t in (x, y))
    return lambda: step(xs, ys), step.sync


def inductor_calls(model, x, y, loss, optimizer, steps):
    forward = torch.compile(lambda: loss(model(x), y))

    def call():
        for _ in range(steps):
            optimizer.zero_grad(set_to_none=True)
            forward().backward()
            optimizer.step()

    return call, lambda: None


def main():
    name, who = sys.argv[1], sys.argv[2]
    steps = int(sys.argv[3]) if len(sys.argv) > 3 else 10
    torch.set_num_threads(2)
    made = {"mlp": mlp, "encoder": encoder, "encoders": lambda: encoder(LAYERS)}[name]()
    began = time.perf_counter()
    call, settle = {"pando": pando_calls, "inductor": inductor_calls}[who](*made, steps)
    call()
    cold = time.perf_counter() - began
    settle()
    total = float(sum(p.detach().double().abs().sum() for p in made[0].parameters()))
    best = float("inf")
    for _ in range(ROUNDS):
        began = time.perf_counter()
        call()
        best = min(best, (time.perf_counter() - began) / steps)
    print(json.dumps({"step": best, "cold": cold, "sum": total}))


if __name__ == "__main__":
    main()
