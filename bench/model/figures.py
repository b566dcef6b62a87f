#!/usr/bin/env python3
"""The model level's figures, beside JAX, PyTorch and ONNX Runtime: `./x bench model`.

    figures.py BUILD    BUILD: the build tree; the peers' environment is made in BUILD/bench/peers, from the package index, when it is missing

Every program runs in a process of its own, ours and the peers' in turns, until two turns bring none of them 2 % more speed, at most five times:
hosts are slower for seconds at a time. The best of each counts. Without a network the peers' columns stay empty. A program of ours that fails,
or whose result differs from a peer's, fails the benchmark.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROUNDS, MOST_TURNS, FASTER = 2, 5, 0.98
STEPS = {"mlp": 10, "encoder": 3, "inference": 300}  # in one call; of the others so many calls (10), each timed: short ones need more
PEERS = {"jax": "JAX", "torch": "PyTorch", "torch-compiled": "PyTorch, compiled", "onnx": "ONNX Runtime"}
failed = []


def show(what, ours, unit, target=None, peer="", peers=None, ratio=None):
    """One figure: `target` bounds ours, or with `ratio` ours / theirs from above."""
    beside = ratio is not None and peers is not None
    bound = ratio if beside else target
    if ratio is not None and not beside:
        peer = "no peer"
    cells = [what, "failed", peer, f"{peers:.3g} {unit}" if peers else "", "", "" if bound is None else f"<= {bound:.3g} {'x' if beside else unit}", "short"]
    if ours is not None:
        value = ours / peers if beside else ours
        cells[1] = f"{ours:.3g} {unit}"
        cells[4] = f"{ours / peers:.2f}" if peers else ""
        cells[6] = "" if bound is None else "ok" if value <= bound else "short"
    print("  ".join(c for c in cells if c), flush=True)
    if "PANDO_BENCH_FIGURES" in os.environ:
        with open(os.environ["PANDO_BENCH_FIGURES"], "a", encoding="utf-8") as out:
            out.write("\t".join(cells) + "\n")


def peers_environment(build):
    """The peers' Python; None, with the reason shown, where it cannot be made."""
    folder, wanted = build / "bench/peers", HERE / "requirements.txt"
    python, stamp = folder / "bin/python", folder / "made-of.txt"
    if stamp.exists() and stamp.read_text() == wanted.read_text():
        return python
    print(f"peers: installing {wanted.name} in {folder} (some GB)", flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    steps = [[sys.executable, "-m", "venv", str(folder)],
             [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check", "--retries", "1", "-r", str(wanted)]]
    for step in steps:
        result = subprocess.run(step, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if result.returncode != 0:
            print(f"peers: none, their columns stay empty; {' '.join(step[:4])} says: {result.stdout[-500:]}", flush=True)
            return None
    stamp.write_text(wanted.read_text())
    return python


def run(command, seconds):
    """What the program prints, as an object; None if it fails, with its last words shown."""
    try:
        result = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        print(f"{' '.join(map(str, command[1:]))}: not done in {seconds} s", flush=True)
        return None
    if result.returncode != 0:
        print(f"{' '.join(map(str, command[1:]))}: {result.stderr.strip()[-600:]}", flush=True)
        return None
    return json.loads(result.stdout.splitlines()[-1])


def better(a, b):
    """Of two runs of one program, the lower of each number."""
    if a is None or b is None:
        return a or b
    return {k: b[k] if k == "sum" else min(a[k], b[k]) for k in b}


class Bench:
    def __init__(self, build):
        self.ours = build / "venv/bin/python"
        self.peers = peers_environment(build)

        self.calibrate = build / "bin/calibrate_bench"
        self.peak = 0  # GFLOP/s of both processors, the best that was seen

    def find_peak(self):
        """Hosts are slow for seconds at a time: asked again with each network."""
        host = subprocess.run([self.calibrate], stdout=subprocess.PIPE, text=True, check=True).stdout
        self.peak = max(self.peak, float(re.search(r"multiply-adds.* ([\d.]+) on two", host)[1]))

    def network(self, name, device, seconds=300):
        return run([self.ours, HERE / "networks.py", name, device, 2 if device == "ipu_model" else STEPS.get(name, 10)], seconds)

    def peer(self, name, peer, seconds=600):
        return run([self.peers, HERE / "peers.py", name, peer, STEPS.get(name, 10)], seconds) if self.peers else None

    def compared(self, name, devices, peers):
        """The best of all, by device and by peer. On the tiles fewer steps, and a result of its own."""
        best, same = {}, 0
        for turn in range(MOST_TURNS):
            before = dict(best)
            for one in [*devices, *peers]:
                if one in best and best[one] is None:
                    continue  # it will fail again
                best[one] = better(best.get(one), self.peer(name, one) if one in peers else self.network(name, one))
            faster = turn == 0 or any(best[one] and best[one]["step"] < FASTER * before[one]["step"] for one in best)
            same = 0 if faster else same + 1
            if same == ROUNDS:
                break
        sums = [(one, r["sum"]) for one, r in best.items() if r and one != "ipu_model"]
        for one, value in sums[1:]:
            if abs(value - sums[0][1]) > 2e-3 * abs(value):
                print(f"{name}: {sums[0][0]} and {one} compute {sums[0][1]} and {value}", flush=True)
                failed.append(name)
        failed.extend(name for one in devices if best[one] is None and one != "ipu_model")
        return best


def fastest(best, names):
    there = [n for n in names if best.get(n)]
    return min(there, key=lambda n: best[n]["step"]) if there else None


def small_figures(bench):
    code = "import time; t = time.perf_counter(); import popxl; print(time.perf_counter() - t)"
    imports = [float(subprocess.run([bench.ours, "-c", code], stdout=subprocess.PIPE, text=True, check=True).stdout) for _ in range(8)]
    show("model level: import popxl", 1e3 * min(imports), "ms", 150)
    for device, tiles, target in [("ipu_model", "1,472 tiles", 20), ("cpu", "cpu", 5)]:
        runs = [bench.network("tiny", device) for _ in range(8)]
        if None in runs:
            failed.append("tiny")
        else:
            show(f"model level, {tiles}: smallest graph built, compiled and run", 1e3 * min(r["cold"] for r in runs), "ms", target)


def training_figures(bench, name, what, cpu_ratios, tiles_ratio):
    peers = ["jax", "torch", "torch-compiled"]
    bench.find_peak()
    best = bench.compared(name, ["cpu", "ipu_model"], peers)
    bench.find_peak()
    ours, tiles = best["cpu"], best["ipu_model"]
    if ours is None:
        return
    for peer in peers:
        theirs = best.get(peer)
        show(f"{what}, cpu", 1e3 * ours["step"], "ms", None, PEERS[peer], 1e3 * theirs["step"] if theirs else None, cpu_ratios[peer])
        if not bench.peers:
            break  # one line that says so
    # What no program of the same products can be under.
    show(f"{what}, cpu", 1e3 * ours["step"], "ms", None, "its products at the host's peak", 1e-6 * ours["flops"] / bench.peak)
    first = fastest(best, peers)
    show(f"{what}, 1,472 tiles", 1e3 * tiles["step"] if tiles else None, "ms", None, PEERS[first] if first else "", 1e3 * best[first]["step"] if first else None,
         tiles_ratio)
    jax = best.get("jax")
    show(f"{what}, cpu: from Python to the first result", ours["cold"] - (STEPS[name] - 1) * ours["step"], "s", None, "JAX" if jax else "", jax["cold"] if jax else None, 1)
    least = min((n for n in peers if best.get(n)), key=lambda n: best[n]["peak_mib"], default=None)
    show(f"{what}, cpu: peak memory of the host", ours["peak_mib"], "MiB", None, PEERS[least] if least else "", best[least]["peak_mib"] if least else None, 1.3)
    if tiles:
        show(f"{what}, 1,472 tiles: built, compiled and loaded", tiles["build"] + tiles["compile"], "s", 2)
        show(f"{what}, 1,472 tiles: peak memory of the host", tiles["peak_mib"], "MiB", 700)


def forward_figures(bench, name, what):
    best = bench.compared(name, ["cpu"], ["onnx"])
    ours, theirs = best["cpu"], best["onnx"]
    if ours:
        show(f"{what}, cpu", 1e3 * ours["step"], "ms", None, PEERS["onnx"] if theirs else "", 1e3 * theirs["step"] if theirs else None, 1)


def depth_figures(bench):
    """A layer is one graph; what 48 calls of it take, beside 12."""
    best = {}
    for _ in range(2 * ROUNDS):
        for layers in (12, 48):
            best[layers] = better(best.get(layers), run([bench.ours, HERE / "depth.py", "--layers", layers, "--json"], 300))
    if None in best.values():
        failed.append("depth")
        return
    what = "model level: 48 layers 256 wide, one called graph, 1,472 tiles"
    show(f"{what}: lowered and compiled", best[48]["lower"] + best[48]["compile"], "s", None, "12 layers", best[12]["lower"] + best[12]["compile"], 1.2)
    show(f"{what}: executable", best[48]["executable_mb"], "MB", None, "12 layers", best[12]["executable_mb"], 1.2)


def layers_figures(bench, layers, ipus, what):
    """Encoder layers as called graphs, with Adam: that they fit on the tiles, and compute what the host computes."""
    tiles, host = (run([bench.ours, HERE / "layers.py", device, layers, ipus], 900) for device in ("ipu_model", "cpu"))
    if tiles is None or host is None:
        failed.append(what)
        return
    for i, (a, b) in enumerate(zip(tiles["layers"], host["layers"])):
        if abs(a - b) > 1e-5 * abs(b):
            print(f"{what}: layer {i} has moments of {a} on tiles and {b} on the host", flush=True)
            failed.append(what)
    show(f"model level: {what}: built, compiled and loaded", tiles["build"] + tiles["compile"], "s")
    show(f"model level: {what}: a step", 1e3 * tiles["step"], "ms", None, "cpu", 1e3 * host["step"])
    show(f"model level: {what}: executable", tiles["executable_mb"], "MB")
    show(f"model level: {what}: peak memory of the host", tiles["peak_mib"], "MiB")


def main():
    bench = Bench(pathlib.Path(sys.argv[1]).resolve())
    small_figures(bench)
    training_figures(bench, "mlp", "model level: MLP 784-1024-1024-10, batch 256, Adam step", {"jax": 1 / 1.1, "torch": 1, "torch-compiled": 1}, 1 / 0.7)
    training_figures(bench, "encoder", "model level: encoder layer 768 x 12 heads, 8 x 128 tokens, both ways",
                     {"jax": 1 / 1.25, "torch": 1, "torch-compiled": 1}, 1 / 0.6)
    depth_figures(bench)
    layers_figures(bench, 3, 1, "three encoder layers with Adam on one IPU")
    layers_figures(bench, 12, 4, "twelve encoder layers with Adam on four IPUs")
    forward_figures(bench, "resnet", "model level: ResNet's first blocks, batch 4 of 224 x 224, forward")
    forward_figures(bench, "inference", "model level: MLP 784-1024-1024-10, batch 1, forward")
    if failed:
        sys.exit(f"failed: {' '.join(failed)}")


if __name__ == "__main__":
    main()
