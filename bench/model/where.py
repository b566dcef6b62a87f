#!/usr/bin/env python3
"""What stands between a training step and its products at the host's own peak: `./x bench model --where`.

    where.py BUILD [NETWORK]    BUILD: the build tree; NETWORK: mlp or encoder; else both

For each network, on the CPU device and on 1,472 tiles: a table of the host's time by what steps do, from the engine's own clock
(`pando.stepTimes`), and the steps that take most. Times are means over all calls, per training step; host copies have those of the weights,
which come once and go once.
"""
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
STEPS = {("mlp", "cpu"): 10, ("mlp", "ipu_model"): 2, ("encoder", "cpu"): 3, ("encoder", "ipu_model"): 2}
DEVICES = {"cpu": "cpu", "ipu_model": "1,472 tiles"}
LARGEST = 8
# Codelets of poplin that multiply; what they pack, and the epilogues that they have taken in, is in their time.
PRODUCTS = re.compile(r"Product|Conv(?!Sum)|FinishedBlock|RoundedBlock")
SUMS = re.compile(r"SumPartials|FinishedSum|ConvSum")
MOVES = re.compile(r"TurnedOperand|Transpose|::Cast|CopyBlocks|Fill")


def kind_of(step):
    if step["kind"] == "exchange":
        return "copies and exchanges (rearrangement)"
    if step["kind"] != "compute":
        return "host copies" if step["kind"] in ("transfer", "host") else "control, syncs"
    names = [n.partition("<")[0] for n in step["codelets"]]
    if any(PRODUCTS.search(n) and not SUMS.search(n) for n in names):
        return "products"
    if any(SUMS.search(n) for n in names):
        return "sums of partial products"
    if names and all(MOVES.search(n) for n in names):
        return "vertices that only rearrange"
    return "element-wise, reductions, norms"


def table(name, device, result, times, steps, peak):
    rounds = result["calls"] * steps
    per_step = lambda ns: 1e-6 * ns / rounds  # noqa: E731
    limit = 1e-6 * result["flops"] / peak
    sums, counts = collections.Counter(), collections.Counter()
    for step in times["steps"]:
        sums[kind_of(step)] += step["ns"]
        counts[kind_of(step)] += step["times"]
    rows = [("products at the host's peak", "", limit), ("products above that (packing, epilogues in them)", f"{counts['products'] / rounds:.0f}", per_step(sums["products"]) - limit)]
    rows += [(kind, f"{counts[kind] / rounds:.0f}", per_step(ns)) for kind, ns in sums.most_common() if kind != "products"]
    whole = per_step(sum(sums.values()))
    print(f"\n{name}, {DEVICES[device]}: a step of {whole:.2f} ms (the best of {result['calls']} calls: {1e3 * result['step']:.2f} ms); its products at {peak:.0f} GFLOP/s: {limit:.2f} ms")
    print(f"  {'what':<50} {'steps':>6} {'ms':>8} {'of the limit':>13}")
    for what, count, ms in rows:
        print(f"  {what:<50} {count:>6} {ms:8.3f} {ms / limit:13.3f}")
    print("  the steps that take most:")
    for step in sorted(times["steps"], key=lambda s: -s["ns"])[:LARGEST]:
        codelets = ", ".join(sorted({n.partition("<")[0] for n in step["codelets"]}))
        print(f"    {per_step(step['ns']):8.3f} ms  {step['times'] / rounds:4.0f} x  {step['kind']} {step['name']}  {codelets}")


def peak_of(build):
    """GFLOP/s of both processors, the best of three: hosts are slow for seconds at a time."""
    found = [subprocess.run([build / "bin/calibrate_bench"], stdout=subprocess.PIPE, text=True, check=True).stdout for _ in range(3)]
    return max(float(re.search(r"multiply-adds.* ([\d.]+) on two", text)[1]) for text in found)


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    networks = sys.argv[2:] or ["mlp", "encoder"]
    peak = peak_of(build)
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        for name in networks:
            for device in DEVICES:
                file, steps = os.path.join(folder, "times.json"), STEPS[name, device]
                environment = {**os.environ, "POPLAR_ENGINE_OPTIONS": json.dumps({"pando.stepTimes": file})}
                command = [str(build / "venv/bin/python"), str(HERE / "networks.py"), name, device, str(steps)]
                result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
                if result.returncode != 0:
                    print(f"{name}, {device}: {result.stderr.strip()[-600:]}")
                    failed = True
                    continue
                with open(file, encoding="utf-8") as text:
                    table(name, device, json.loads(result.stdout.splitlines()[-1]), json.load(text), steps, peak)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
