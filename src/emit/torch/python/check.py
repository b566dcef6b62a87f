"""Runs the program on CPUs with gloo, a process for each rank, and compares with what Pando's interpreter gives (reference.bin).

Needs torch alone. `python check.py --device cuda` runs it on GPUs, one for each rank."""

import argparse
import json
import os
import pathlib
import sys
import tempfile

import torch
import torch.multiprocessing

import layout
import run
import runtime


def one_rank(number, words, meeting):
    os.environ.update(RANK=str(number), LOCAL_RANK=str(number), WORLD_SIZE=str(layout.WORLD_SIZE), LOCAL_WORLD_SIZE=str(layout.WORLD_SIZE))
    if layout.WORLD_SIZE > 1:
        backend = "nccl" if "cuda" in words else "gloo"
        torch.distributed.init_process_group(backend, init_method="file://" + meeting, rank=number, world_size=layout.WORLD_SIZE)
    status = run.main(words)
    if status:
        os._exit(status)


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    p.add_argument("--verbose", action="store_true", help="every tensor, not the worst alone")
    a = p.parse_args()
    description = runtime.HERE / "reference.json"
    if not description.exists():
        print("check: there are no reference values: pando emit stores them with --check", file=sys.stderr)
        return 2
    told = json.loads((runtime.HERE / "check.json").read_text())
    with tempfile.TemporaryDirectory() as folder:
        output = os.path.join(folder, "output.pt")
        words = ["--steps", str(told["steps"]), "--seed", str(told["seed"]), "--output", output, "--device", a.device, "--quiet"]
        for name in told["zeros"]:
            words += ["--zeros", name]
        if a.device == "cpu":
            words += ["--threads", "1"]
        method = "fork" if a.device == "cpu" else "spawn"
        torch.multiprocessing.start_processes(one_rank, (words, os.path.join(folder, "meeting")), nprocs=layout.WORLD_SIZE, start_method=method)
        found = torch.load(output, weights_only=True)
    reference = runtime.Stored("reference")
    wrong, worst = [], (0.0, "")
    for name, (_, _, _, allowed) in reference.entries.items():
        expected = reference[name]
        if name not in found:
            wrong.append(f"{name}: missing")
            continue
        mine = found[name]
        if mine.shape != expected.shape:
            wrong.append(f"{name}: shape {tuple(mine.shape)}, {tuple(expected.shape)} is expected")
            continue
        x, y = mine.to(torch.float64), expected.to(torch.float64)
        same = (x == y) | (x.isnan() & y.isnan())
        difference = torch.where(same, 0, (x - y).abs()).max().item() if x.numel() else 0.0
        if not difference <= allowed:
            wrong.append(f"{name}: differs by {difference:.3g}; rounding explains {allowed:.3g}")
        share = difference / allowed if allowed else float(difference > 0)
        worst = max(worst, (share, name))
        if a.verbose:
            print(f"{name}: differs by {difference:.3g} of {allowed:.3g}")
    for line in wrong:
        print("check: " + line, file=sys.stderr)
    if wrong:
        return 1
    print(f"check: {len(reference.entries)} tensors of {told['steps']} steps on {layout.WORLD_SIZE} ranks equal the interpreter's; "
          f"the largest difference is {100 * worst[0]:.0f} % of what rounding explains ({worst[1]})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
