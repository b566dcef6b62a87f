#!/usr/bin/env python3
"""Training steps of PyTorch modules, beside torch.compile's own compiler and the same program in popxl: `./x bench torch`.

    torch_figures.py BUILD    BUILD: the build tree; PyTorch's environment is made in BUILD/bench/peers, from the package index, when it is missing

Programs run in turns, each in a process of its own; the best of each counts. Results that differ fail the benchmark.
"""
import os
import pathlib
import subprocess
import sys

import figures
from figures import HERE, better, run, show

TURNS, STEPS = 3, {"mlp": 10, "encoder": 3, "encoders": 1}
IMPORT = ("import time, torch; t = time.perf_counter(); import pando.torch; a = time.perf_counter(); pando.torch.compile_step; "
          "print(a - t, time.perf_counter() - t)")


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    python = figures.peers_environment(build)
    if python is None:
        sys.exit("torch: there is no PyTorch to compare with")
    os.environ["PYTHONPATH"] = str(build / "python")
    times = [tuple(map(float, subprocess.run([python, "-c", IMPORT], stdout=subprocess.PIPE, text=True, check=True).stdout.split())) for _ in range(TURNS)]
    show("PyTorch: import pando.torch, after torch", 1e3 * min(t[0] for t in times), "ms", 200)
    for name, what in (("mlp", "an MLP with Adam"), ("encoder", "an encoder layer with SGD"), ("encoders", "twelve encoder layers with SGD")):
        best = {}
        for _ in range(TURNS):
            for who in ("pando", "inductor"):
                best[who] = better(best.get(who), run([python, HERE / "torch_step.py", name, who, STEPS[name]], 900))
            # popxl has one layer.
            best["popxl"] = None if name == "encoders" else better(best.get("popxl"), run([build / "venv/bin/python", HERE / "networks.py", name, "cpu", STEPS[name]], 300))
        ours, inductor, popxl = best["pando"], best["inductor"], best["popxl"]
        if ours is None or inductor is None or abs(ours["sum"] - inductor["sum"]) > 1e-5 * ours["sum"]:
            print(f"{name}: {ours} and {inductor}", flush=True)
            figures.failed.append(name)
            continue
        show(f"PyTorch: a step of {what}, cpu", 1e3 * ours["step"], "ms", None, "torch.compile, inductor", 1e3 * inductor["step"], 1)
        if name != "encoders":
            # The encoder in popxl has no update.
            show(f"PyTorch: a step of {what}, cpu", 1e3 * ours["step"], "ms", None, "popxl", 1e3 * popxl["step"] if popxl else None, 1.05 if name == "mlp" else None)
        show(f"PyTorch: {what}, from the module to the first result", ours["cold"], "s", None, "torch.compile, inductor", inductor["cold"], 1)
    sys.exit(1 if figures.failed else 0)


if __name__ == "__main__":
    main()
