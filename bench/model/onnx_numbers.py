#!/usr/bin/env python3
"""What imported ONNX models compute, beside ONNX Runtime.

    onnx_numbers.py make DIR     in the peers' environment: models (two of the onnx package, a perceptron and a transformer that PyTorch
                                 exports), inputs, and what ONNX Runtime makes of them
    onnx_numbers.py check DIR    in build/venv: the same models through popxl.distribution.load_onnx, on the processor; over four devices, too
"""
import pathlib
import sys

import numpy as np

PACKAGE = ["light_squeezenet", "light_resnet50"]
# Of an output's largest element.
ALLOWED = 2e-5


def torch_models(folder):
    import torch

    class Block(torch.nn.Module):
        def __init__(self, width, heads):
            super().__init__()
            self.heads = heads
            self.first, self.second = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
            self.qkv, self.out = torch.nn.Linear(width, 3 * width), torch.nn.Linear(width, width)
            self.up, self.down = torch.nn.Linear(width, 4 * width), torch.nn.Linear(4 * width, width)

        def forward(self, x):
            batch, tokens, width = x.shape
            q, k, v = (t.reshape(batch, tokens, self.heads, width // self.heads).transpose(1, 2) for t in self.qkv(self.first(x)).split(width, dim=2))
            scores = torch.softmax(q @ k.transpose(2, 3) / (width // self.heads) ** 0.5, dim=3)
            x = x + self.out((scores @ v).transpose(1, 2).reshape(batch, tokens, width))
            return x + self.down(torch.relu(self.up(self.second(x))))

    torch.manual_seed(1)
    layers = [torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8), torch.nn.Softmax(1)]
    for name, model, shape in [("perceptron", torch.nn.Sequential(*layers), (8, 32)),
                               ("transformer", torch.nn.Sequential(Block(32, 4), Block(32, 4), torch.nn.Linear(32, 16)), (4, 12, 32))]:
        torch.onnx.export(model.eval(), torch.zeros(shape), str(folder / f"{name}.onnx"), input_names=["x"], output_names=["y"], opset_version=17, dynamo=False)


def make(folder):
    import onnx
    import onnxruntime

    folder.mkdir(parents=True, exist_ok=True)
    light = pathlib.Path(onnx.__file__).parent / "backend/test/data/light"
    for name in PACKAGE:
        (folder / f"{name}.onnx").write_bytes((light / f"{name}.onnx").read_bytes())
    torch_models(folder)
    for path in sorted(folder.glob("*.onnx")):
        session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
        random = np.random.default_rng(3)
        inputs = {i.name: random.normal(size=i.shape).astype(np.float32) for i in session.get_inputs()}
        outputs = dict(zip([o.name for o in session.get_outputs()], session.run(None, inputs)))
        np.savez(path.with_suffix(".npz"), **{f"in:{k}": v for k, v in inputs.items()}, **{f"out:{k}": v for k, v in outputs.items()})
        print(f"{path.stem}: {', '.join(str(v.shape) for v in outputs.values())}")


def difference(session, ir, data):
    with session:
        found = session.run({s: data[f"in:{s.tensor_id}"] for s in ir.get_all_h2d_streams()})
    worst = 0.0
    for stream, array in found.items():
        expected = data[f"out:{stream.tensor_id}"]
        worst = max(worst, float(np.abs(array - expected).max() / np.abs(expected).max()))
    return worst


def check(folder):
    import popxl
    from popxl import distribution

    good = True
    for path in sorted(folder.glob("*.onnx")):
        data = np.load(path.with_suffix(".npz"))
        ir = distribution.load_onnx(path)
        results = {"one device": difference(popxl.Session(ir, "cpu"), ir, data)}
        if path.stem not in PACKAGE:
            words = distribution.search(ir, 4, top=1).best.words
            results[words] = difference(distribution.Session(ir, words, "cpu"), ir, data)
        for what, worst in results.items():
            print(f"{path.stem}, {what}: differs from ONNX Runtime by {worst:.1e} of the largest element")
            good &= worst <= ALLOWED
    return 0 if good else 1


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in ("make", "check"):
        sys.exit(__doc__)
    sys.exit({"make": make, "check": check}[sys.argv[1]](pathlib.Path(sys.argv[2])))
