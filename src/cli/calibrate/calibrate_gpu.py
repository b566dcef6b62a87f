#!/usr/bin/env python3
"""Measures the devices of this node with PyTorch and writes them as a machine for Pando.

    python3 calibrate_gpu.py -o machine.json                              # one device
    torchrun --nproc-per-node=8 calibrate_gpu.py -o machine.json          # a node, with its collectives
    torchrun --nnodes=2 --nproc-per-node=8 --rdzv-backend=c10d --rdzv-endpoint=HOST:29500 calibrate_gpu.py -o machine.json

    pando search llama3-8b --devices 8 --batch 64 --machine machine.json

`pando calibrate --torch` writes this file. It needs PyTorch and nothing else. On one H100 `--quick` takes 1 minute, without it 4.
The file is written after every part, so an interrupted run leaves what it has measured. Members that were not measured are those of the machine that
`--like` of `pando calibrate` named; the member `provenance` says which ones.
"""
import argparse
import datetime
import json
import math
import os
import platform
import subprocess
import sys
import time
import traceback

import torch
import torch.distributed as dist
import torch.nn.functional as F

# What `pando calibrate` knows: the models whose products are measured, and the machine whose members stand in for what is not measured (or None).
MODELS = json.loads(r"""@models@""")
LIKE = json.loads(r"""@like@""")

# Dense peaks of data sheets in TFLOP/s: half precision with sums in single precision, 8-bit floats, single precision. The first name that a device's
# name contains. MFU counts against these; a device that is not here counts against the best that was measured.
PEAKS = [
    ("GB200", 2500, 5000, 80), ("B300", 2500, 5000, 77), ("B200", 2250, 4500, 75), ("GH200", 989.4, 1978.9, 66.9), ("H200 NVL", 835.5, 1671, 60),
    ("H200", 989.4, 1978.9, 66.9), ("H100 PCIe", 756, 1513, 51), ("H100 NVL", 835.5, 1671, 60), ("H100", 989.4, 1978.9, 66.9),
    ("H800", 989.4, 1978.9, 66.9), ("H20", 148, 296, 44), ("A100", 312, 0, 19.5), ("A800", 312, 0, 19.5), ("A10G", 70, 0, 31.2),
    ("A10", 125, 0, 31.2), ("A40", 149.7, 0, 37.4), ("L40S", 362, 733, 91.6), ("L40", 181, 362, 90.5), ("L4", 121, 242, 30.3),
    ("V100", 125, 0, 15.7), ("4090", 165.2, 330.3, 82.6), ("MI300X", 1307.4, 2614.9, 163.4), ("MI325X", 1307.4, 2614.9, 163.4),
    ("MI355X", 2500, 5000, 157.3), ("MI250X", 383, 0, 95.7),
]


class Run:
    """Options, devices, what was measured, and how long things may take."""

    def __init__(self, options):
        self.options = options
        self.rank, self.world = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
        self.local = int(os.environ.get("LOCAL_RANK", 0))
        self.per_node = int(os.environ.get("LOCAL_WORLD_SIZE", self.world))
        cuda = torch.cuda.is_available() if options.device == "auto" else options.device == "cuda"
        self.device = torch.device("cuda", self.local) if cuda else torch.device("cpu")
        if cuda:
            torch.cuda.set_device(self.device)
        self.cuda, self.tiny, self.quick = cuda, options.tiny, options.quick or options.tiny
        self.budget = 0.002 if self.tiny else 0.03 if self.quick else 0.06
        self.tables = {"products": [], "attention": [], "bytewise": [], "copies": [], "collectives": [], "layers": []}
        self.skipped, self.numbers, self.began, self.shown = [], {}, time.time(), 0

    def say(self, text, end=False):
        """Progress: on a terminal one line that changes, elsewhere a line every five seconds."""
        if self.rank != 0:
            return
        line = f"[{time.time() - self.began:5.0f} s] {text}"
        if sys.stderr.isatty():
            sys.stderr.write("\r" + line[:150].ljust(150) + ("\n" if end else ""))
        elif end or time.time() - self.shown > 5:
            sys.stderr.write(line + "\n")
            self.shown = time.time()
        sys.stderr.flush()

    def skip(self, what, reason):
        self.skipped.append({"what": what, "reason": str(reason).strip().split("\n")[0][:200]})

    def failed(self, what, error):
        """What does not fit, or is not there for these sizes, leaves the rest."""
        self.skip(what, error)
        if self.cuda:
            torch.cuda.empty_cache()

    def sync(self):
        if self.cuda:
            torch.cuda.synchronize()

    def timed(self, work, times):
        """Seconds of one of `times` calls that follow each other."""
        if self.cuda:
            first, last = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            first.record()
            for i in range(times):
                work(i)
            last.record()
            last.synchronize()
            return first.elapsed_time(last) / 1e3 / times
        begin = time.perf_counter()
        for i in range(times):
            work(i)
        return (time.perf_counter() - begin) / times

    def seconds(self, work, budget=None):
        """The median of five rounds, after two calls that count for nothing."""
        budget = budget or self.budget
        work(0), work(1)
        self.sync()
        once = max(self.timed(work, 1), 1e-7)
        times = int(min(max(1, budget / 5 / once), 5000))
        return sorted(self.timed(work, times) for _ in range(3 if self.tiny else 5))[1 if self.tiny else 2]

    def random(self, *shape, dtype=torch.bfloat16):
        return torch.randn(*shape, device=self.device, dtype=dtype)


def copies_of(run, bytes_of_one):
    """How many sets of operands take turns, so that a cache of 128 MiB does not hold them."""
    return 1 if not run.cuda else max(1, min(16, math.ceil(256e6 / max(1, bytes_of_one))))


def without_launch(run, seconds):
    """What is left of an operation's time without the launch, which every operation of the machine has."""
    return max(0.2 * seconds, seconds - run.numbers.get("launch", 0))


# --- the device alone ------------------------------------------------------------------------------------------------------------------------------

def measure_launch(run):
    x = run.random(64, dtype=torch.float32)
    run.numbers["dispatch"] = run.seconds(lambda i: x.add_(1.0))
    if not run.cuda:
        run.numbers["launch"] = run.numbers["dispatch"]
        return
    graph, many = torch.cuda.CUDAGraph(), 200
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        x.add_(1.0)
    torch.cuda.current_stream().wait_stream(side)
    with torch.cuda.graph(graph):
        for _ in range(many):
            x.add_(1.0)
    run.numbers["launch"] = run.seconds(lambda i: graph.replay()) / many


def measure_memory(run):
    """Sums of two arrays: twice read, once written."""
    most = 2**20 if run.tiny else 2**30 if run.cuda else 2**26
    rates, size = [], 2**12 if run.tiny else 2**14
    while size <= most:
        n = size // 4
        sets = [(run.random(n, dtype=torch.float32), run.random(n, dtype=torch.float32), torch.empty(n, device=run.device))
                for _ in range(copies_of(run, 3 * size))]
        seconds = run.seconds(lambda i: torch.add(sets[i % len(sets)][0], sets[i % len(sets)][1], out=sets[i % len(sets)][2]))
        rates.append((3.0 * size, 3.0 * size / without_launch(run, seconds)))
        run.say(f"memory: {3 * size} bytes at {rates[-1][1] / 1e9:.0f} GB/s")
        size *= 4
    # Small arrays may lie in a cache: the peak is that of the largest ones.
    peak = max(rate for _, rate in rates[-3:])
    run.numbers["memory_bytes_per_second"] = peak
    run.numbers["memory_efficiency"] = [[size, min(1.0, rate / peak)] for size, rate in rates]


def measure_copies(run):
    if not run.cuda:
        run.skip("copies between host and device", "the device is the host")
        return
    for size in ([2**16, 2**20] if run.tiny else [2**16, 2**20, 2**24, 2**28]):
        host, here = torch.empty(size, dtype=torch.uint8, pin_memory=True), torch.empty(size, dtype=torch.uint8, device=run.device)
        for direction, to, source in (("to device", here, host), ("to host", host, here)):
            seconds = run.seconds(lambda i: to.copy_(source, non_blocking=True))
            run.tables["copies"].append({"direction": direction, "bytes": size, "seconds": seconds})
        run.say(f"copies of {size} bytes")
    best = {d: max(c["bytes"] / c["seconds"] for c in run.tables["copies"] if c["direction"] == d) for d in ("to device", "to host")}
    run.numbers["far_bytes_per_second"] = min(best.values())


def product(run, m, k, n, layout, kind):
    """Seconds of (m, k) times (k, n). f: the right side lies as (n, k), as a layer's weights do; i: as (k, n); w: the left side lies as (k, m)."""
    if kind == "fp8":
        sets = [(run.random(m, k).to(torch.float8_e4m3fn), run.random(n, k).to(torch.float8_e4m3fn).t())
                for _ in range(copies_of(run, m * k + n * k))]
        one = torch.ones((), device=run.device)
        return run.seconds(lambda i: torch._scaled_mm(*sets[i % len(sets)], scale_a=one, scale_b=one, out_dtype=torch.bfloat16))
    dtype = {"bf16": torch.bfloat16, "fp16": torch.float16}.get(kind, torch.float32)
    sets = []
    for _ in range(copies_of(run, (m * k + n * k + m * n) * dtype.itemsize)):
        left = run.random(k, m, dtype=dtype).t() if layout == "w" else run.random(m, k, dtype=dtype)
        right = run.random(n, k, dtype=dtype).t() if layout == "f" else run.random(k, n, dtype=dtype)
        sets.append((left, right, torch.empty(m, n, device=run.device, dtype=dtype)))
    torch.set_float32_matmul_precision("high" if kind == "tf32" else "highest")
    return run.seconds(lambda i: torch.mm(sets[i % len(sets)][0], sets[i % len(sets)][1], out=sets[i % len(sets)][2]))


def add_product(run, seen, m, k, n, layout, kind):
    if (m, k, n, layout, kind) in seen:
        return
    seen.add((m, k, n, layout, kind))
    run.say(f"products: {kind} {m} x {k} x {n} {layout}")
    try:
        run.tables["products"].append({"m": m, "k": k, "n": n, "layout": layout, "type": kind, "seconds": product(run, m, k, n, layout, kind)})
    except RuntimeError as error:
        run.failed(f"product {m} x {k} x {n} {kind}", error)


def weights_of(model, t):
    """(k, n) of a layer's products of one device of t, and of the head; attention's, the dense layers', experts' inner width as Pando cuts them."""
    h, head = model["hidden"], model["head_size"]
    if model["query_rank"]:
        q, kv, pos, a = model["query_rank"], model["kv_rank"], model["position_size"], model["heads"] // t
        shapes = [(h, q), (q, a * (head + pos)), (h, kv + pos), (kv, a * (head + model["value_size"])), (a * model["value_size"], h)]
    else:
        q = model["heads"] * head // t
        kv = max(1, model["kv_heads"] // t) * head
        shapes = [(h, q + 2 * kv), (q, h)]
    wide = 2 if model["gated"] else 1
    shapes += [(h, wide * model["ffn"] // t), (model["ffn"] // t, h)]
    if model["shared_experts"]:
        inner = model["shared_experts"] * model["expert_ffn"] // t
        shapes += [(h, wide * inner), (inner, h)]
    return shapes, (h, model["vocab"] // t)


def measure_sustained(run):
    """What is left of a product's speed after seconds of work: power limits lower the clock."""
    n = 64 if run.tiny else 8192 if run.cuda else 1024
    x, y, z = run.random(n, n), run.random(n, n), torch.empty(n, n, device=run.device, dtype=torch.bfloat16)

    def work(i):
        torch.mm(x, y, out=z)

    burst = run.seconds(work)
    rounds = max(1, int((0.01 if run.tiny else 2 if run.quick else 5) / burst / 4))
    run.say("products for some seconds")
    run.numbers["sustained"] = min(1.0, burst / [run.timed(work, rounds) for _ in range(4)][-1])


def measure_products(run):
    seen = set()
    kinds = ["bf16"] + (["fp8"] if run.numbers["fp8"] else [])
    squares = [64, 128] if run.tiny else [128, 256, 512, 1024, 2048, 4096, 8192] + ([] if run.quick else [16384])
    if not run.cuda and not run.tiny:
        squares = [64, 128, 256, 512, 1024, 2048]
    for kind in kinds + ["fp16", "tf32", "fp32"]:
        if kind == "tf32" and not run.cuda:
            continue
        for n in squares:
            for layout in "f" if kind not in ("bf16",) else "fiw":
                add_product(run, seen, n, n, n, layout, kind)
    for number, model in enumerate(MODELS):
        tokens = [64] if run.tiny else [4096, 8192] if run.quick and number == 0 else [8192] if run.quick else [2048, 4096, 8192, 16384]
        for t in [1, 2] if run.tiny else [1, 2, 4, 8]:
            if model["heads"] % t or model["ffn"] % t:
                continue
            layer, head = weights_of(model, t)
            for m in tokens:
                for k, n in layer + [head]:
                    for kind in kinds[:1] if (k, n) == head else kinds:
                        add_product(run, seen, m, k, n, "f", kind)
                        add_product(run, seen, m, n, k, "i", kind)
                        # The gradient of a weight adds over tokens.
                        add_product(run, seen, n, m, k, "w", kind)


def measure_grouped(run):
    """Experts: equal numbers of tokens, one product for all of them."""
    for model in MODELS:
        if not model["experts"]:
            continue
        wide = 2 if model["gated"] else 1
        for parts in [1, 8] if run.quick else [1, 2, 4, 8]:
            groups = model["experts"] // parts
            for tokens in [64] if run.tiny else [4096] if run.quick else [4096, 8192]:
                m = max(1, tokens * model["experts_each"] * parts // model["experts"])
                for k, n in ((model["hidden"], wide * model["expert_ffn"]), (model["expert_ffn"], model["hidden"])):
                    if groups * (m * k + k * n + m * n) * 2 > run.numbers["memory_bytes"] * 0.3 or groups < 1:
                        continue
                    run.say(f"products of {groups} experts: {m} x {k} x {n}")
                    x, w, y = run.random(groups, m, k), run.random(groups, n, k), run.random(groups, m, n)
                    for layout, work in (("f", lambda i: torch.bmm(x, w.transpose(1, 2))), ("i", lambda i: torch.bmm(y, w)),
                                         ("w", lambda i: torch.bmm(y.transpose(1, 2), x))):
                        run.tables["products"].append({"groups": groups, "m": m, "k": k, "n": n, "layout": layout, "type": "bf16",
                                                       "seconds": run.seconds(work)})


def attention_of(run, batch, heads, kv_heads, seq, head_size, value_size):
    q = run.random(batch, heads, seq, head_size).requires_grad_()
    k = run.random(batch, kv_heads, seq, head_size).requires_grad_()
    v = run.random(batch, kv_heads, seq, value_size).requires_grad_()
    more = {"enable_gqa": True} if kv_heads != heads else {}

    def forward(i):
        return F.scaled_dot_product_attention(q, k, v, is_causal=True, **more)

    with torch.no_grad():
        ahead = run.seconds(forward)
    out = forward(0)
    g = torch.randn_like(out)
    back = run.seconds(lambda i: torch.autograd.grad(out, (q, k, v), g, retain_graph=True))
    return ahead, back


def measure_attention(run):
    seen = set()
    for model in MODELS:
        pos = model["position_size"]
        head, value = model["head_size"] + pos, model["value_size"] or model["head_size"]
        for t in [1] if run.tiny else [1, 2, 4, 8]:
            heads, kv = model["heads"] // t, model["heads"] // t if pos else max(1, model["kv_heads"] // t)
            if model["heads"] % t or heads % kv:
                continue
            lengths = [(1, 64)] if run.tiny else [(1, 4096), (1, 8192)] if run.quick else [(4, 1024), (1, 2048), (4, 2048), (1, 4096), (2, 4096), (1, 8192), (1, 16384)]
            for batch, seq in lengths:
                shape = (batch, heads, kv, seq, head, value)
                if shape in seen:
                    continue
                seen.add(shape)
                run.say(f"attention: {batch} x {heads} heads of {head}, {seq} tokens")
                try:
                    for backward, seconds in enumerate(attention_of(run, *shape)):
                        run.tables["attention"].append({"batch": batch, "heads": heads, "kv_heads": kv, "seq": seq, "head_size": head,
                                                        "value_size": value, "backward": bool(backward), "seconds": seconds})
                except RuntimeError as error:
                    run.failed(f"attention of {heads} heads of {head}, {seq} tokens", error)


def rotate(x, cos, sin):
    a, b = x.chunk(2, dim=-1)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), dim=-1)


def bytewise_ops(run, tokens, hidden):
    """name: (function, operands, bytes forward, bytes backward). Bytes are what the operation has to move, two for each element."""
    n = 2 * tokens * hidden
    x, y, weight, bias = run.random(tokens, hidden), run.random(tokens, hidden), run.random(hidden), run.random(hidden)
    cos, sin = run.random(tokens, 1, 64), run.random(tokens, 1, 64)
    heads = run.random(tokens, max(1, hidden // 128), 128)
    return {
        "rms_norm": (lambda x, w: F.rms_norm(x, (hidden,), w), (x, weight), 2 * n, 5 * n),
        "layer_norm": (lambda x, w, b: F.layer_norm(x, (hidden,), w, b), (x, weight, bias), 2 * n, 5 * n),
        "gated": (lambda x, y: F.silu(x) * y, (x, y), 3 * n, 5 * n),
        "gelu": (lambda x: F.gelu(x, approximate="tanh"), (x,), 2 * n, 4 * n),
        "add": (lambda x, y: x + y, (x, y), 3 * n, 0),
        "rotary": (lambda x: rotate(x, cos, sin), (heads,), 2 * heads.numel() * 2, 2 * heads.numel() * 2),
    }


def add_bytewise(run, op, phase, software, size, seconds):
    run.tables["bytewise"].append({"op": op, "backward": phase == "backward", "software": software, "bytes": size, "seconds": seconds})


def measure_bytewise(run):
    measure_loss(run)
    measure_update(run)
    measure_ops(run, "eager")
    if run.cuda and not run.quick:
        try:
            measure_ops(run, "compiled")
        except Exception as error:  # pylint: disable=broad-except
            # The compiler of torch.compile may be missing.
            run.failed("compiled ops", error)


def measure_ops(run, software):
    hidden = 128 if run.tiny else 8192
    for name in bytewise_ops(run, 8, hidden):
        for tokens in [32] if run.tiny else [128, 1024, 8192] if run.quick or software == "compiled" else [32, 128, 512, 2048, 8192, 32768]:
            function, operands, ahead, back = bytewise_ops(run, tokens, hidden)[name]
            run.say(f"{name} ({software}): {ahead} bytes")
            if software == "compiled":
                torch.compiler.reset()
                function = torch.compile(function, dynamic=False)
            operands = tuple(o.requires_grad_() for o in operands)
            with torch.no_grad():
                add_bytewise(run, name, "forward", software, ahead, run.seconds(lambda i: function(*operands)))
            if back == 0:
                continue
            out = function(*operands)
            g = torch.randn_like(out)
            seconds = run.seconds(lambda i: torch.autograd.grad(out, operands, g, retain_graph=True))
            add_bytewise(run, name, "backward", software, back, seconds)


def measure_loss(run):
    """Softmax and cross entropy in single precision, forward and backward."""
    for vocab, tokens in [(512, 32)] if run.tiny else [(32000, 4096), (128256, 2048)] + ([] if run.quick else [(128256, 8192), (32000, 16384)]):
        try:
            logits, labels = run.random(tokens, vocab).requires_grad_(), torch.randint(0, vocab, (tokens,), device=run.device)

            def both(i):
                return torch.autograd.grad(F.cross_entropy(logits.float(), labels), logits)

            add_bytewise(run, "cross_entropy", "forward", "eager", 16 * tokens * vocab, run.seconds(both))
            run.say(f"loss of {tokens} tokens of {vocab}")
        except RuntimeError as error:
            run.failed(f"cross entropy of {tokens} x {vocab}", error)


def measure_update(run):
    """AdamW on weights in single precision, with the copy in half precision that the next step computes with."""
    n = 2**14 if run.tiny else 2**28 if run.cuda else 2**22
    parameter = torch.nn.Parameter(run.random(n, dtype=torch.float32))
    parameter.grad, half = torch.randn_like(parameter), torch.empty(n, device=run.device, dtype=torch.bfloat16)
    adam = torch.optim.AdamW([parameter], lr=1e-4, fused=True) if run.cuda else torch.optim.AdamW([parameter], lr=1e-4)

    def step(i):
        adam.step()
        half.copy_(parameter.detach())

    seconds = run.seconds(step)
    add_bytewise(run, "adamw", "forward", "eager", 34 * n, seconds)
    run.numbers["optimizer_bytes"] = seconds / n * run.numbers["memory_bytes_per_second"]
    run.say(f"AdamW: {1e12 * seconds / n:.2f} ps a parameter")


class Layer(torch.nn.Module):
    """One layer's part of one device of t: norm, attention, norm, dense layers. Its sums over devices are left out."""

    def __init__(self, run, model, t, seq):
        super().__init__()
        self.head, self.gated = model["head_size"], model["gated"]
        h, self.heads, self.keys = model["hidden"], model["heads"] // t, max(1, model["kv_heads"] // t)
        ffn = model["ffn"] // t

        def weight(*shape):
            return torch.nn.Parameter(run.random(*shape) * 0.02)

        self.norm_1, self.norm_2 = weight(h), weight(h)
        self.qkv = weight((self.heads + 2 * self.keys) * self.head, h)
        self.project, self.up, self.down = weight(h, self.heads * self.head), weight((2 if self.gated else 1) * ffn, h), weight(h, ffn)
        angles = torch.arange(seq, device=run.device).float()[:, None, None] * torch.rand(self.head // 2, device=run.device)
        self.cos, self.sin = angles.cos().to(torch.bfloat16), angles.sin().to(torch.bfloat16)

    def forward(self, x):
        b, s, h = x.shape
        q, k, v = F.linear(F.rms_norm(x, (h,), self.norm_1), self.qkv).view(b, s, -1, self.head).split([self.heads, self.keys, self.keys], dim=2)
        q, k = rotate(q, self.cos, self.sin), rotate(k, self.cos, self.sin)
        more = {"enable_gqa": True} if self.keys != self.heads else {}
        a = F.scaled_dot_product_attention(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), is_causal=True, **more)
        x = x + F.linear(a.transpose(1, 2).reshape(b, s, -1), self.project)
        u = F.linear(F.rms_norm(x, (h,), self.norm_2), self.up)
        if self.gated:
            g, u = u.chunk(2, dim=-1)
            u = F.silu(g) * u
        else:
            u = F.gelu(u, approximate="tanh")
        return x + F.linear(u, self.down)


def layer_seconds(run, model, t, batch, seq, software):
    layer = Layer(run, model, t, seq)
    torch.compiler.reset()
    call = torch.compile(layer, dynamic=False) if software == "compiled" else layer
    x = run.random(batch, seq, model["hidden"]).requires_grad_()
    operands = [x, *layer.parameters()]
    ahead = run.seconds(lambda i: call(x), 3 * run.budget)
    g = torch.randn_like(x)
    both = run.seconds(lambda i: torch.autograd.grad(call(x), operands, g), 6 * run.budget)
    return ahead, both - ahead


def measure_layers(run):
    for software in ["eager"] if run.quick or not run.cuda else ["eager", "compiled"]:
        for model in MODELS[:2] if run.quick or software == "compiled" else MODELS:
            if model["query_rank"] or model["experts"]:
                continue
            for t in [1] if run.tiny else [1, 8] if run.quick or software == "compiled" else [1, 2, 4, 8]:
                for batch, seq in [(1, 64)] if run.tiny else [(1, 8192)] if run.quick or software == "compiled" else [(1, 2048), (1, 4096), (1, 8192), (2, 4096)]:
                    if model["heads"] % t or model["ffn"] % t:
                        continue
                    run.say(f"a layer of {model['name']} ({software}), 1/{t} of it, {batch} x {seq} tokens")
                    try:
                        ahead, back = layer_seconds(run, model, t, batch, seq, software)
                    except RuntimeError as error:
                        run.failed(f"layer of {model['name']}", error)
                        continue
                    sizes = {key: model[key] for key in ("hidden", "heads", "kv_heads", "head_size", "ffn", "gated")}
                    run.tables["layers"].append({**sizes, "tensor": t, "batch": batch, "seq": seq, "software": software,
                                                 "forward_seconds": ahead, "backward_seconds": back})


# --- between devices -------------------------------------------------------------------------------------------------------------------------------

def collective(run, what, size, group, n):
    """A function that does it. `size`: bytes of the whole tensor; of each device's operand for reductions and all-to-all."""
    count = max(n, size // 4 // n * n)
    whole, part = torch.ones(count, device=run.device), torch.ones(count // n, device=run.device)
    if what == "all_reduce":
        return lambda i: dist.all_reduce(whole, group=group)
    if what == "all_gather":
        return lambda i: dist.all_gather_into_tensor(whole, part, group=group)
    if what == "reduce_scatter":
        return lambda i: dist.reduce_scatter_tensor(part, whole, group=group)
    if what == "all_to_all":
        other = torch.empty_like(whole)
        return lambda i: dist.all_to_all_single(other, whole, group=group)
    ranks = dist.get_process_group_ranks(group)
    if what == "broadcast":
        return lambda i: dist.broadcast(whole, src=ranks[0], group=group)
    if run.rank == ranks[0]:
        return lambda i: dist.send(whole, dst=ranks[-1], group=group)
    return (lambda i: dist.recv(whole, src=ranks[0], group=group)) if run.rank == ranks[-1] else (lambda i: None)


def together(run, work, group):
    """Seconds of one call, the slowest member's; all do it equally often."""
    for _ in range(2):
        work(0)
    run.sync()
    dist.barrier(group=group)
    once = torch.tensor([run.timed(work, 2)], device=run.device)
    dist.all_reduce(once, op=dist.ReduceOp.MAX, group=group)
    times = int(min(max(2, run.budget / max(1e-6, once.item())), 500))
    rounds = []
    for _ in range(3):
        run.sync()
        dist.barrier(group=group)
        t = torch.tensor([run.timed(work, times)], device=run.device)
        dist.all_reduce(t, op=dist.ReduceOp.MAX, group=group)
        rounds.append(t.item())
    return sorted(rounds)[1]


def groups_of(run):
    """(devices, nodes, beside, ranks of each group): in a node, over nodes, one of each node, alone and all at once."""
    all_groups, n = [], 2
    while n <= run.per_node:
        all_groups.append((n, 1, 1, [list(range(n))]))
        n *= 2
    if run.per_node > 1 and run.per_node & (run.per_node - 1):
        all_groups.append((run.per_node, 1, 1, [list(range(run.per_node))]))
    nodes = run.world // run.per_node
    if nodes > 1:
        many = [[node * run.per_node + i for node in range(nodes)] for i in range(run.per_node)]
        all_groups.append((nodes, nodes, 1, many[:1]))
        if run.per_node > 1:
            all_groups.append((nodes, nodes, run.per_node, many))
            all_groups.append((run.world, nodes, 1, [list(range(run.world))]))
    return all_groups


def measure_collectives(run):
    most = 2**12 if run.tiny else 2**28 if run.quick else 2**30
    if not run.cuda:
        most = min(most, 2**20)
    for devices, nodes, beside, lists in groups_of(run):
        groups = [dist.new_group(ranks) for ranks in lists]
        mine = next((g for g, ranks in zip(groups, lists) if run.rank in ranks), None)
        for what in ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "send"):
            size = 2**10
            while size <= most and not (what == "send" and devices > 2 and nodes != devices):
                failed = 0
                if mine is not None:
                    run.say(f"{what} of {size} bytes on {devices} devices of {nodes} nodes")
                    try:
                        seconds = together(run, collective(run, what, size, mine, devices), mine)
                    except (RuntimeError, NotImplementedError, ValueError) as error:
                        failed = 1
                        run.skip(f"{what} on {devices} devices", error)
                    if run.rank == 0 and not failed:
                        run.tables["collectives"].append({"collective": what, "bytes": size, "devices": devices, "nodes": nodes,
                                                          "beside": beside, "seconds": seconds})
                if failed:
                    break
                size *= 4 if run.quick else 2
        dist.barrier()
    if run.cuda:
        run.numbers["slowdown"] = measure_slowdown(run)


def measure_slowdown(run):
    """The share of a product's speed that an all-reduce beside it takes."""
    n = 1024 if run.tiny else 8192
    x, y, z = run.random(n, n), run.random(n, n), torch.empty(n, n, device=run.device, dtype=torch.bfloat16)
    tensor = torch.ones((1 << 20) if run.tiny else (1 << 28), device=run.device)

    def products(i):
        torch.mm(x, y, out=z)

    alone = together(run, products, None)
    run.sync()
    dist.barrier()
    # Transfers that are longer than the products beside them.
    work = [dist.all_reduce(tensor, async_op=True) for _ in range(8)]
    beside = run.timed(products, 4)
    for w in work:
        w.wait()
    run.sync()
    return max(0.0, min(0.9, 1 - alone / beside))


# --- the machine ------------------------------------------------------------------------------------------------------------------------------------

def sent_by(what, size, n):
    """Bytes that a device sends in a ring, and in how many messages."""
    part = size * (n - 1) / n
    return {"all_reduce": (2 * part, 2 * (n - 1)), "broadcast": (size, n - 1), "send": (size, 1)}.get(what, (part, n - 1))


def level_of(run, name, devices, rows):
    """A level of the network, from gathers and sends."""
    rows = [r for r in rows if r["collective"] in ("all_gather", "reduce_scatter")] or rows
    latency = min(r["seconds"] / sent_by(r["collective"], r["bytes"], r["devices"])[1] for r in rows)
    rates = {}
    for r in rows:
        sent, messages = sent_by(r["collective"], r["bytes"], r["devices"])
        work = r["seconds"] - messages * latency
        if work > 0.3 * r["seconds"]:
            rates.setdefault(round(math.log2(sent)), []).append(sent / work)
    if not rates:
        rates = {round(math.log2(sent_by(r["collective"], r["bytes"], r["devices"])[0])): [sent_by(r["collective"], r["bytes"], r["devices"])[0] / r["seconds"]] for r in rows}
    means = sorted((2.0**size, sum(values) / len(values)) for size, values in rates.items())
    peak = max(rate for _, rate in means)
    return {"name": name, "devices": devices, "bytes_per_second": peak, "latency": latency, "shared_bytes_per_second": 0,
            "reduces_in_network": False, "slowdown": run.numbers.get("slowdown", 0), "through_first": False,
            "efficiency": [[size, rate / peak] for size, rate in means]}


def levels_of(run, provenance):
    rows, like = run.tables["collectives"], LIKE["levels"] if LIKE else []
    inside = [r for r in rows if r["nodes"] == 1]
    across = [r for r in rows if r["nodes"] > 1 and r["devices"] == r["nodes"] and r["beside"] == max(q["beside"] for q in rows)]
    levels = []
    if inside:
        levels.append(level_of(run, "node", run.per_node, inside))
        provenance["levels"] = f"measured within a node of {run.per_node}"
    if across:
        levels.append(level_of(run, "network", run.per_node * 1024, across))
        provenance["levels"] = f"measured on {run.world // run.per_node} nodes of {run.per_node}; assumed to go on to 1,024 nodes"
    elif like:
        wider = [level for level in like if level["devices"] > (run.per_node if inside else 0)]
        levels += wider
        if wider:
            provenance["levels"] = (provenance["levels"] + "; " if inside else "") + f"{', '.join(w['name'] for w in wider)} assumed, as of {LIKE['name']}"
    return levels


def shape_of_curve(points, peak):
    """Shares of a peak by the operations of a product: medians by power of 4."""
    by_size = {}
    for operations, rate in points:
        by_size.setdefault(round(math.log2(operations) / 2), []).append(min(1.0, rate / peak))
    return [[4.0**size, sorted(shares)[len(shares) // 2]] for size, shares in sorted(by_size.items())]


def versions(run):
    device = {"name": platform.processor() or platform.machine(), "torch": torch.__version__, "python": platform.python_version(),
              "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"), "devices": run.world, "nodes": run.world // run.per_node,
              "mode": "tiny" if run.tiny else "quick" if run.quick else "full"}
    if run.cuda:
        properties = torch.cuda.get_device_properties(run.device)
        device["name"] = properties.name
        device["library"] = f"ROCm {torch.version.hip}" if torch.version.hip else f"CUDA {torch.version.cuda}"
        device["cudnn"] = str(torch.backends.cudnn.version())
        if dist.is_nccl_available():
            device["nccl"] = ".".join(str(n) for n in torch.cuda.nccl.version())
        try:
            query = ["nvidia-smi", "--query-gpu=driver_version,clocks.max.sm,power.limit", "--format=csv,noheader", "-i", str(run.local)]
            driver, clock, power = subprocess.run(query, capture_output=True, text=True, timeout=20, check=True).stdout.strip().split("\n")[0].split(", ")
            device.update(driver=driver, clock=clock, power_limit=power)
        except (OSError, ValueError, subprocess.SubprocessError):
            pass
    return device


def machine_of(run):
    """The file: a machine's members, what they rest on, and every row that was measured."""
    device, provenance = versions(run), {}
    rows = [p for p in run.tables["products"] if "groups" not in p]

    def rates(*kinds):
        sizes = [(2.0 * p["m"] * p["k"] * p["n"], p["seconds"]) for p in rows if p["type"] in kinds]
        return [(operations, operations / seconds) for operations, seconds in sizes]

    def best(*kinds):
        return max((rate for _, rate in rates(*kinds)), default=0)

    sheet = next((row for row in PEAKS if run.cuda and row[0] in device["name"]), None)
    machine = {"name": run.options.name or device["name"].lower().replace(" ", "-"),
               "doc": f"{device['name']}, {run.world} devices on {run.world // run.per_node} nodes" if run.world > 1 else device["name"],
               "source": f"pando calibrate --torch ({device['mode']}) on {device['date']}: {device['name']}, torch {device['torch']}" +
                         "".join(f", {key} {device[key]}" for key in ("driver", "nccl") if key in device)}

    def put(member, value, why):
        if value:
            machine[member], provenance[member] = value, why
        elif LIKE and LIKE.get(member):
            machine[member], provenance[member] = LIKE[member], f"assumed, as of {LIKE['name']}"

    put("half_operations", sheet[1] * 1e12 if sheet else best("bf16", "fp16"), f"data sheet of the {sheet[0]}" if sheet else "the quickest product")
    put("vector_operations", 2 * sheet[3] * 1e12 if sheet else best("fp32"), "data sheet: twice the rate of single precision" if sheet else "as products")
    if run.numbers["fp8"]:
        put("eight_bit_operations", sheet[2] * 1e12 if sheet and sheet[2] else best("fp8"), "data sheet" if sheet and sheet[2] else "the quickest product")
    machine["block_scaled"] = bool(run.cuda and not torch.version.hip and torch.cuda.get_device_capability() >= (10, 0))
    if rates("bf16") and "half_operations" in machine:
        points = [(operations, operations / without_launch(run, operations / rate)) for operations, rate in rates("bf16")]
        put("matmul_efficiency", shape_of_curve(points, machine["half_operations"]), "measured: medians of products in bf16")
    # The curve is of all products: a peak that gives, with its best share, the quickest product that was measured.
    share = max((share for _, share in machine.get("matmul_efficiency", [])), default=1)
    put("single_operations", best("fp32") / share, "measured: the quickest product in single precision, by the best share of the curve")
    for member in ("memory_bytes_per_second", "memory_efficiency", "memory_bytes", "launch", "far_bytes", "far_bytes_per_second", "optimizer_bytes"):
        put(member, run.numbers.get(member), "measured")
    machine.update(levels=levels_of(run, provenance), provenance=provenance)
    machine["measured"] = {"device": device, "dispatch_seconds": run.numbers.get("dispatch", 0), "sustained": run.numbers.get("sustained", 1), **run.tables, "skipped": run.skipped}
    return machine


def write(run):
    if run.rank != 0:
        return
    temporary = run.options.output + ".part"
    with open(temporary, "w", encoding="utf-8") as f:
        f.write(compact(machine_of(run)) + "\n")
    os.replace(temporary, run.options.output)


def compact(value, depth=0):
    """JSON with a line for each row of a table."""
    pad = " " * depth
    if isinstance(value, dict) and depth < 2:
        return "{\n" + ",\n".join(f"{pad} {json.dumps(k)}: {compact(v, depth + 1)}" for k, v in value.items()) + f"\n{pad}}}"
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "[\n" + ",\n".join(f"{pad}  {json.dumps(v)}" for v in value) + f"\n{pad} ]"
    return json.dumps(value)


def prepare(run):
    """Memory of a device and of its host, and whether products in 8-bit floats are there."""
    try:
        with open("/proc/meminfo", encoding="ascii") as f:
            host = int(f.readline().split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        host = 0
    run.numbers["memory_bytes"] = torch.cuda.get_device_properties(run.device).total_memory if run.cuda else host
    run.numbers["far_bytes"] = host // max(1, run.per_node) if run.cuda else 0
    run.numbers["fp8"] = False
    if run.cuda:
        try:
            product(run, 64, 64, 64, "f", "fp8")
            run.numbers["fp8"] = True
        except (RuntimeError, AttributeError, NotImplementedError) as error:
            run.skip("products in fp8", error)
    else:
        run.skip("products in fp8", "the device is the host")


PARTS = [("launch", measure_launch), ("memory", measure_memory), ("copies", measure_copies), ("sustained", measure_sustained), ("products", measure_products),
         ("experts", measure_grouped), ("attention", measure_attention), ("bytewise", measure_bytewise), ("layers", measure_layers)]


def measure(run):
    prepare(run)
    if run.world > 1:
        dist.init_process_group("nccl" if run.cuda else "gloo", timeout=datetime.timedelta(minutes=30))
        measure_collectives(run)
        dist.destroy_process_group()
        write(run)
        # The others' devices are like this one.
        if run.rank != 0:
            return
    else:
        run.skip("collectives", "one process; torchrun --nproc-per-node=N starts one for each device")
    for name, part in PARTS:
        try:
            part(run)
            run.say(f"{name}: done", end=True)
        except KeyboardInterrupt:
            run.skip(name, "interrupted")
            run.say(f"interrupted in {name}; what was measured is in {run.options.output}", end=True)
            write(run)
            sys.exit(130)
        except Exception as error:  # pylint: disable=broad-except
            # One part that this device or this version of PyTorch does not have leaves the others.
            run.skip(name, error)
            run.say(f"{name}: {traceback.format_exc().strip().splitlines()[-1]}", end=True)
        if run.cuda:
            torch.cuda.empty_cache()
        write(run)


def main():
    p = argparse.ArgumentParser(description="Measure this node with PyTorch; write it as a machine for pando search and pando simulate")
    p.add_argument("-o", "--output", default="machine.json", help="JSON file (machine.json)")
    p.add_argument("--quick", action="store_true", help="fewer shapes: on one H100 1 minute instead of 4")
    p.add_argument("--tiny", action="store_true", help="a few small shapes: a test of the script, not a measurement")
    p.add_argument("--name", help="the machine's name; otherwise the device's")
    p.add_argument("--device", choices=["auto", "cuda", "cpu"], default="auto", help="cuda (also AMD's devices) or cpu; auto: cuda where it is there")
    options = p.parse_args()
    if options.device == "cuda" and not torch.cuda.is_available():
        sys.exit("calibrate_gpu.py: PyTorch finds no GPU; --device cpu measures the host")
    run = Run(options)
    torch.manual_seed(1)
    measure(run)
    if run.rank == 0:
        rows = sum(len(table) for table in run.tables.values())
        run.say(f"{options.output}: {rows} rows; {len(run.skipped)} things were skipped", end=True)
        for s in run.skipped:
            print(f"  skipped {s['what']}: {s['reason']}", file=sys.stderr)


if __name__ == "__main__":
    main()
