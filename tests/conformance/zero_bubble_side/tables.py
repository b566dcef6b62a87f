"""Calls the generators of zero bubble's authors, unmodified files of a checkout, and writes what they make as tables of `pando schedule`.

python tables.py REQUEST ANSWER: JSON files. The request has the folders of the two branches, a folder for tables and the rows; the answer has for
each row its table (or none, where they have only a sum) and the time that the authors state for it, in the units of the row.
"""
import contextlib
import importlib
import io
import json
import pathlib
import sys
import types

PACKAGE = "megatron.core.pipeline_parallel.zerobubble.scheduler"
# Rows whose tables come from generators of one function; the others have a class or a memory limit.
STAGES = {"F": "F", "B": "I", "W": "W", "BW": "B"}


class Enough(Exception):
    """What a script asks for at its end, and is not needed."""


def stand_in(name, **members):
    sys.modules[name] = module = types.ModuleType(name)
    vars(module).update(members)
    return module


def schedulers(root):
    """The modules of the package, without the rest of Megatron, which they do not use."""
    stand_in("torch", Tensor=object)
    parts = PACKAGE.split(".")
    for n in range(len(parts)):
        stand_in(".".join(parts[: n + 1]), __path__=[str(pathlib.Path(root, *parts[: n + 1]))])
    return types.SimpleNamespace(**{name: importlib.import_module(f"{PACKAGE}.{name}") for name in ("graph", "basic1f1b", "vpp", "zb", "zbv")})


def sums(root):
    """The functions of efficiency.py, a script that goes on to print all of the paper's rates: it ends at the first schedule that it asks for."""
    def enough(*_, **__):
        raise Enough

    stand_in("matplotlib").pyplot = stand_in("matplotlib.pyplot")
    stand_in("auto_schedule", do_heuristic_search=enough, GraphConfig=lambda **_: None)
    stand_in("v_schedule", PipelineGraph=enough)
    path = pathlib.Path(root, "megatron/core/pipeline_parallel/efficiency.py")
    names = {"__name__": "efficiency"}
    with contextlib.suppress(Enough):
        exec(compile(path.read_text(), str(path), "exec"), names)
    return names


def memory(row):
    """Of the authors' layer: what F takes, I and W give back."""
    forward, weight = 34 * row["hidden"] + 5 * row["heads"] * row["positions"], 32 * row["hidden"]
    return forward, weight - forward, -weight


def config(authors, row, stages_per_rank=1, limit=1):
    p = row["ranks"]
    forward, gradient, weight = memory(row)
    return authors.graph.GraphConfig(
        mem_f=[forward] * p, mem_b=[gradient] * p, mem_w=[weight] * p, max_mem=[limit * p * forward] * p, cost_f=[float(row["F"])] * p,
        cost_b=[float(row["I"])] * p, cost_w=[float(row["W"])] * p, cost_comm=float(row["transfer"]), max_chunks=stages_per_rank, n_stages=p,
        n_micro=row["microbatches"])


def under_a_limit(authors, row, limit):
    """ZB-1p, ZB-2p: the same search, under one and two times 1F1B's memory."""
    asked = config(authors, row, limit=limit)
    graph = authors.zb.Graph.build_graph(row["ranks"], row["microbatches"], asked)
    stated = authors.zb.initial_solution(graph, False)[0]
    return authors.zb.create_schedule(asked), stated


def in_a_v(authors, row):
    """Costs are those of a rank's half. Its printed line ends with the bubble rate."""
    forward, gradient, weight = memory(row)
    graph = authors.zbv.PipelineGraph(row["ranks"], row["microbatches"], row["F"] // 2, row["I"] // 2, row["W"] // 2, row["transfer"],
                                      f_mem=forward, b_mem=gradient, w_mem=weight, max_mem=None)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        order = graph.create_schedule(config(authors, row, 2))
    work = (row["F"] + row["I"] + row["W"]) * row["microbatches"]
    return order, work / (1 - float(printed.getvalue().split("->")[1]))


def made(authors, functions, row):
    """(the order of each rank's passes, or None; the time that the authors state)"""
    name, p, m = row["schedule"], row["ranks"], row["microbatches"]
    if name in ("ZB-1p", "ZB-2p"):
        return under_a_limit(authors, row, 1 if name == "ZB-1p" else 2)
    if name == "ZB-V":
        return in_a_v(authors, row)
    by_hand, whole = functions["get_hand_schedule"], row["I"] + row["W"]
    if name == "1F1B":
        return authors.basic1f1b.create_schedule(config(authors, row)), by_hand(p, m, row["F"], whole, 0, row["transfer"], warmup_c=1)
    if name == "1F1B-I":
        n = row["stages_per_rank"]
        stated = functions["get_interleave_schedule"](p, m, n, row["F"] / n, whole / n, 0, row["transfer"])
        return authors.vpp.create_schedule(config(authors, row, n)), stated
    return None, by_hand(p, m, row["F"], row["I"], row["W"], row["transfer"], warmup_c={"ZB-H1": 1, "ZB-H2": 2}[name])


def write(order, path):
    path.write_text("".join(",".join(f"{n.layer_group_idx}{STAGES[n.type.value]}{n.microbatch}" for n in rank) + "\n" for rank in order))


def main():
    request = json.loads(pathlib.Path(sys.argv[1]).read_text())
    # The sums' stand-ins must not be what the schedulers see: they come last.
    authors = schedulers(request["main"])
    functions = sums(request["arxiv"])
    answer = {}
    for i, (case, row) in enumerate(request["rows"].items()):
        order, stated = made(authors, functions, row)
        path = pathlib.Path(request["tables"], f"{i}.csv")
        if order is not None:
            write(order, path)
        answer[case] = {"table": str(path) if order is not None else None, "stated": stated}
    pathlib.Path(sys.argv[2]).write_text(json.dumps(answer))


if __name__ == "__main__":
    main()
