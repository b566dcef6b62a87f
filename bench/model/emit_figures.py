#!/usr/bin/env python3
"""What `pando emit torch` writes, on two gloo ranks, beside the same steps written by hand in PyTorch: `./x bench emitted`.

    emit_figures.py BUILD    BUILD: the build tree; PyTorch's environment is made in BUILD/bench/peers, from the package index, when it is missing;
                             PANDO_TORCH_PYTHON names another one

Both run in turns, in processes of their own; the best of each counts.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import figures
from figures import HERE, show

TURNS, STEPS = 5, 30
LAYERS, WIDTH, BATCH = 4, 512, 512


def seconds_of(python, folder, words):
    launch = [python, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", *map(str, words)]
    done = subprocess.run(launch, cwd=folder, capture_output=True, text=True, timeout=600)
    if done.returncode:
        sys.exit(f"emitted: {words[0]} failed\n{done.stderr[-2000:]}")
    quickest = re.search(r"([\d.]+) s the quickest", done.stdout)
    return float(quickest[1]) if quickest else json.loads(done.stdout.splitlines()[-1])["step"]


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    python = os.environ.get("PANDO_TORCH_PYTHON") or figures.peers_environment(build)
    if python is None:
        sys.exit("emitted: there is no PyTorch to run it with")
    pando = build / "bin/pando"
    with tempfile.TemporaryDirectory() as folder:
        for words in (["training-step", "mlp", "--layers", LAYERS, "--width", WIDTH, "--batch", BATCH, "--learning-rate", "0.5", "-o", "mlp.txt"],
                      ["transform", "mlp.txt", "--batch", "x,z", "--data", "2", "--pieces", "pieces.json", "-o", "two.txt"],
                      ["emit", "torch", "two.txt", "--pieces", "pieces.json", "--check", "0", "-o", "two"]):
            subprocess.run([pando, *map(str, words)], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        ours = theirs = None
        for _ in range(TURNS):
            emitted = seconds_of(python, pathlib.Path(folder) / "two", ["run.py", "--steps", STEPS, "--seed", "1", "--threads", "1", "--device", "cpu"])
            hand = seconds_of(python, folder, [HERE / "emit_hand.py", LAYERS, WIDTH, BATCH, STEPS])
            ours, theirs = min(ours or emitted, emitted), min(theirs or hand, hand)
    show(f"an emitted MLP of {LAYERS} layers on two gloo ranks, a step", 1e3 * ours, "ms", None, "by hand in PyTorch", 1e3 * theirs, 1.05)


if __name__ == "__main__":
    main()
