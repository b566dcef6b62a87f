#!/usr/bin/env python3
"""Figures of single ops, beside PyTorch's on the host: `./x bench ops`.

    op_figures.py BUILD    BUILD: the build tree; the peers' environment is that of figures.py

Each op runs in a process of its own, ours and the peer's in turns, twice; the better one counts. Compile times have goals of their own: they
grow with the number of pieces that are moved, and show when that explodes.
"""
import pathlib
import sys

from figures import HERE, ROUNDS, better, failed, peers_environment, run, show

SECONDS = 300
# By op: seconds of compiling on tiles, and times of a run beside PyTorch's on tiles and on the CPU device; None: shown, without a goal.
GOALS = {
    "cumsum": (1, None, None),
    "interpolate": (1, None, None),
    "histogram": (1, None, None),
    "scatter_reduce": (1, None, None),
    "gather gradient": (4, None, None),
    "subsample gradient": (1, None, None),
    "maximum of halfs": (0.5, None, None),
    "exp of -100": (0.5, None, None),
    "strided convolution": (1, None, None),
    "median along axis 0": (1, None, None),
    "transpose and add": (1, None, None),
    "product 100,000 deep": (1, None, None),
}


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    ours, peers = build / "venv/bin/python", peers_environment(build)
    for name, (compile_goal, tiles_goal, cpu_goal) in GOALS.items():
        best = {}
        for _ in range(ROUNDS):
            for one in ["cpu", "ipu_model"] + (["torch"] if peers else []):
                if one in best and best[one] is None:
                    continue  # it will fail again
                best[one] = better(best.get(one), run([peers if one == "torch" else ours, HERE / "ops.py", name, one], SECONDS))
        failed.extend(name for one in best if best[one] is None)
        known = [(one, r["sum"]) for one, r in best.items() if r]
        for one, value in known[1:]:
            if abs(value - known[0][1]) > 2e-3 * abs(value):
                print(f"{name}: {known[0][0]} and {one} compute {known[0][1]} and {value}", flush=True)
                failed.append(name)
        torch = best.get("torch")
        theirs = 1e3 * torch["step"] if torch else None
        tiles, cpu = best["ipu_model"], best["cpu"]
        show(f"ops: {name}, 1,472 tiles: compiled", tiles["compile"] if tiles else None, "s", compile_goal)
        show(f"ops: {name}, 1,472 tiles", 1e3 * tiles["step"] if tiles else None, "ms", None, "PyTorch, host", theirs, tiles_goal)
        show(f"ops: {name}, cpu", 1e3 * cpu["step"] if cpu else None, "ms", None, "PyTorch", theirs, cpu_goal)
    if failed:
        sys.exit(f"failed: {' '.join(failed)}")


if __name__ == "__main__":
    main()
