"""Runs the program: `torchrun --nproc-per-node RANKS run.py --steps 10 --seed 1` (`python run.py` where there is one rank)."""

import argparse
import importlib
import json
import sys
import time

import torch
import torch.distributed as dist

import layout
import runtime


def arguments(words=None):
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--steps", type=int, default=1, help="how often the program runs; variables stay on the device from step to step")
    p.add_argument("--input", action="append", default=[], metavar="FILE",
                   help="tensors by name: a dict that torch.save wrote, or FILE.npz; whole tensors of the sequential program, or parts")
    p.add_argument("--zeros", action="append", default=[], metavar="NAMES", help="variables that begin with zeros: a name, or '*.m'")
    p.add_argument("--seed", type=int, help="makes up what neither a file nor the program has, as `pando run --seed` does")
    p.add_argument("--output", metavar="FILE", help="variables at the end by name, results as output/NAME, in a dict by torch.save")
    p.add_argument("--trace", metavar="FILE", help="times of each op in one more step, for Perfetto and `pando simulate --beside`")
    p.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto", help="auto: GPUs and NCCL where each rank has one")
    p.add_argument("--threads", type=int, help="of each rank, on CPUs")
    p.add_argument("--quiet", action="store_true", help="without the times and the results that are numbers")
    return p.parse_args(words)


def joined(parts_of_ranks):
    """The whole tensors of the sequential program, where parts are known."""
    out = {}
    for tensors in parts_of_ranks:
        for name, t in tensors.items():
            is_output = name.startswith("output/")
            table = layout.OUTPUT_PARTS if is_output else layout.PARTS
            piece = table.get(name.removeprefix("output/"))
            if piece is None:
                out[name] = t
                continue
            whole, start = piece
            shape = layout.WHOLES[whole][1]
            key = "output/" + whole if is_output else whole
            blocks = (t.shape[0],) if is_output else ()
            if key not in out:
                out[key] = torch.zeros((*blocks, *shape), dtype=t.dtype)
            target = out[key]
            t = t.reshape((*blocks, *[1] * (len(shape) - (t.dim() - len(blocks))), *t.shape[len(blocks):]))
            for dim, begin in enumerate(start):
                target = target.narrow(dim + len(blocks), begin, t.shape[dim + len(blocks)])
            target.copy_(t)
    return out


def gathered(mine, number, world):
    if world == 1:
        return [mine]
    everything = [None] * world if number == 0 else None
    dist.gather_object(mine, everything, 0)
    return everything


def collected(rank):
    """Variables at the end and results, by the program's names."""
    names = rank.full_names
    tensors = {names.variables[local]: getattr(rank.variables, local).cpu() for local in rank.program.VARIABLES}
    tensors.update({name: rank.buffers[buffer][row].clone() for name, buffer, row in rank.rows})
    for local, values in rank.results.items():
        tensors["output/" + names.outputs[local]] = torch.stack([v.cpu() for v in values])
    return tensors


def run(a, number, world):
    if world != layout.WORLD_SIZE:
        raise runtime.Wrong(f"the program has {layout.WORLD_SIZE} ranks; {world} were started: torchrun --nproc-per-node {layout.WORLD_SIZE} run.py")
    _, _, local, local_world = runtime.environment()
    device, backend = runtime.pick_device(a.device, local, local_world)
    if a.threads:
        torch.set_num_threads(a.threads)
    if world > 1 and not dist.is_initialized():
        dist.init_process_group(backend)
    program = importlib.import_module(layout.RANKS[number]["program"])
    data = runtime.Data(layout, a.input, a.zeros, a.seed)
    rank = runtime.Rank(layout, program, number, device, data, a.steps + bool(a.trace), bool(a.output))
    def wait():
        if device.type == "cuda":
            torch.cuda.synchronize(device)
    def step():
        program.step(rank)
        rank.finish()
    seconds = []
    with torch.no_grad():
        for _ in range(a.steps):
            wait()
            begin = time.perf_counter()
            step()
            wait()
            seconds.append(time.perf_counter() - begin)
        results = gathered(collected(rank), number, world) if a.output else None
        if a.trace:
            trace = runtime.Trace(rank)
            trace.run(step)
    if a.trace:
        events = gathered(trace.events(), number, world)
        if number == 0:
            with open(a.trace, "w") as f:
                f.write("[\n" + ",\n".join(json.dumps(e) for rank_events in events for e in rank_events) + "]\n")
    if results and number == 0:
        torch.save(joined(results), a.output)
    if number == 0 and not a.quiet and seconds:
        print(f"{a.steps} steps on {world} x {device.type}: {min(seconds):.6f} s the quickest, {sum(seconds) / len(seconds):.6f} s the mean")
    if world > 1:
        dist.barrier()
        dist.destroy_process_group()


def main(words=None):
    a = arguments(words)
    number, world, _, _ = runtime.environment()
    try:
        run(a, number, world)
    except runtime.Wrong as wrong:
        print(f"rank {number}: {wrong}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
