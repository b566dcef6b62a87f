#!/usr/bin/env python3
"""Times whole training steps of transformers on one GPU and writes them as a table that `pando fit` reads.

    python3 steps_gpu.py -o steps.csv
    python3 steps_gpu.py --row "layers=8 hidden=4096 heads=32 ffn=14336 vocab=32000 gated=1 seq=4096 microbatch=2 software=compiled" -o mine.csv
    pando fit steps.csv --machine h100 --stack torchtitan

`pando calibrate --steps` writes this file. It needs PyTorch and nothing else; its own rows take 4 minutes on an H100 and 80 GB. The models are
written in plain PyTorch as trainers write them: weights in bf16, sums of gradients and AdamW's state in single precision, a loss whose logits
are brought to single precision, 8-bit floats with one scale for a tensor. Each row runs for `--warm` seconds, then for `--seconds` more, so that
the device has the clock that its power limit leaves it; the median step counts. The table has the sizes of the model, `software` (eager, or
layers and loss by torch.compile), `strategy` in Pando's words, `global_batch`, the seconds of a step and of its parts (of one more step, with
events between the parts), and GiB that were allocated and reserved at most. A row that fails, for want of memory or else, is named and left out.
"""
import argparse
import csv
import statistics
import sys
import time

import torch
import torch.nn.functional as F
import torch.utils.checkpoint

COLUMNS = ["model", "layers", "hidden", "heads", "kv_heads", "ffn", "vocab", "gated", "seq", "gpus", "software", "strategy", "global_batch",
           "step_s", "forward_s", "backward_s", "update_s", "allocated_GiB", "reserved_GiB"]

LLAMA_8B = dict(model="llama3-8b, 8 layers", layers=8, hidden=4096, heads=32, kv_heads=8, ffn=14336, vocab=32000, gated=1)
LLAMA_1B = dict(model="llama3.2-1b, untied", layers=16, hidden=2048, heads=32, kv_heads=8, ffn=8192, vocab=128256, gated=1)
LLAMA_70B = dict(model="llama3-70b, 2 layers", layers=2, hidden=8192, heads=64, kv_heads=8, ffn=28672, vocab=32000, gated=1)
LLAMA2_7B = dict(model="llama2-7b, 8 layers", layers=8, hidden=4096, heads=32, kv_heads=32, ffn=11008, vocab=32000, gated=1)
GPT2_XL = dict(model="gpt2-xl", layers=48, hidden=1600, heads=25, kv_heads=25, ffn=6400, vocab=50304, gated=0)
GPT3_3B = dict(model="gpt3-2.7b", layers=32, hidden=2560, heads=32, kv_heads=32, ffn=10240, vocab=50304, gated=0)

# model, sequence, samples at once, microbatches, recompute, precision, software
ROWS = [
    (LLAMA_8B, 8192, 1, 4, "none", "bf16", "eager"),
    (LLAMA2_7B, 4096, 2, 4, "none", "bf16", "eager"),
    (LLAMA_1B, 4096, 2, 8, "none", "bf16", "eager"),
    (GPT2_XL, 1024, 8, 4, "none", "bf16", "eager"),
    (LLAMA_8B, 8192, 1, 4, "none", "bf16", "compiled"),
    (LLAMA_8B, 8192, 1, 4, "full", "bf16", "compiled"),
    (LLAMA_8B, 8192, 1, 4, "none", "fp8", "compiled"),
    (LLAMA2_7B, 4096, 2, 4, "none", "bf16", "compiled"),
    (LLAMA2_7B, 4096, 2, 4, "none", "fp8", "compiled"),
    (LLAMA_70B, 8192, 1, 4, "none", "bf16", "compiled"),
    (LLAMA_70B, 8192, 1, 4, "none", "fp8", "compiled"),
    (GPT2_XL, 1024, 8, 4, "none", "bf16", "compiled"),
    (GPT3_3B, 2048, 2, 4, "none", "bf16", "compiled"),
    (LLAMA_1B, 4096, 2, 8, "none", "bf16", "compiled"),
    (GPT3_3B, 2048, 2, 4, "full", "bf16", "eager"),
    (LLAMA2_7B, 2048, 1, 8, "none", "bf16", "compiled"),
]
TINY = dict(model="tiny", layers=2, hidden=64, heads=4, kv_heads=2, ffn=128, vocab=256, gated=1)
TINY_ROWS = [(TINY, 32, 2, 2, "none", "bf16", "eager"), (TINY, 32, 2, 2, "full", "bf16", "eager"),
             (dict(TINY, gated=0, kv_heads=4), 32, 2, 2, "none", "bf16", "eager")]

# What --row may say, and what it says where it is silent.
WORDS = {"layers": None, "hidden": None, "heads": None, "kv_heads": 0, "ffn": 0, "vocab": 50304, "gated": 0, "seq": None, "microbatch": 1,
         "microbatches": 4, "recompute": "none", "precision": "bf16", "software": "eager"}
CHOICES = {"recompute": ("none", "full"), "precision": ("bf16", "fp8"), "software": ("eager", "compiled")}


def row_of(text):
    """A row of --row; argparse says what is wrong with it."""
    said = dict(word.partition("=")[::2] for word in text.split())
    unknown = [word for word in said if word not in WORDS]
    if unknown:
        raise argparse.ArgumentTypeError(f"no word '{unknown[0]}'; known are {', '.join(WORDS)}")
    missing = [word for word, value in WORDS.items() if value is None and word not in said]
    if missing:
        raise argparse.ArgumentTypeError(f"'{missing[0]}' is not given")
    values = {**WORDS, **said}
    for word, choices in CHOICES.items():
        if values[word] not in choices:
            raise argparse.ArgumentTypeError(f"{word}={values[word]}; {' or '.join(choices)} is expected")
    for word, value in values.items():
        if word not in CHOICES and not (str(value).isdigit() and (int(value) > 0 or word in ("kv_heads", "ffn", "gated"))):
            raise argparse.ArgumentTypeError(f"{word}={value}; a whole number is expected")
    m = {word: int(values[word]) for word in ("layers", "hidden", "heads", "kv_heads", "ffn", "vocab", "gated")}
    m["kv_heads"], m["ffn"] = m["kv_heads"] or m["heads"], m["ffn"] or 4 * m["hidden"]
    if m["hidden"] % m["heads"] or m["heads"] % m["kv_heads"] or m["hidden"] // m["heads"] % 2:
        raise argparse.ArgumentTypeError(f"{m['heads']} heads, {m['kv_heads']} of keys, do not divide a width of {m['hidden']} into heads of an even size")
    m = {"model": f"{m['layers']} layers of {m['hidden']}", **m}
    return m, int(values["seq"]), int(values["microbatch"]), int(values["microbatches"]), values["recompute"], values["precision"], values["software"]


E4M3, E5M2 = torch.float8_e4m3fn, torch.float8_e5m2


def to_8_bits(x, kind):
    """The largest element becomes the largest number of the type; the scale brings products back."""
    top = torch.finfo(kind).max
    scale = top / x.abs().amax().float().clamp(min=1e-12)
    return (x.float() * scale).clamp(-top, top).to(kind), scale.reciprocal()


class Product8(torch.autograd.Function):
    """x times the transpose of w in 8-bit floats, one scale for a tensor; so are both gradients."""

    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        x8, sx = to_8_bits(x, E4M3)
        w8, sw = to_8_bits(w, E4M3)
        return torch._scaled_mm(x8, w8.t(), scale_a=sx, scale_b=sw, out_dtype=torch.bfloat16, use_fast_accum=True)

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        g8, sg = to_8_bits(g, E5M2)
        w8, sw = to_8_bits(w, E4M3)
        x8, sx = to_8_bits(x, E4M3)
        gx = torch._scaled_mm(g8, w8.t().contiguous().t(), scale_a=sg, scale_b=sw, out_dtype=torch.bfloat16)
        gw = torch._scaled_mm(g8.t().contiguous(), x8.t().contiguous().t(), scale_a=sg, scale_b=sx, out_dtype=torch.bfloat16)
        return gx, gw


class Linear(torch.nn.Linear):
    def __init__(self, inputs, outputs, eight_bits):
        super().__init__(inputs, outputs, bias=False)
        self.eight_bits = eight_bits

    def forward(self, x):
        if not self.eight_bits:
            return F.linear(x, self.weight)
        return Product8.apply(x.reshape(-1, x.shape[-1]), self.weight).reshape(*x.shape[:-1], -1)


class RMSNorm(torch.nn.Module):
    """As the authors of Llama wrote it."""

    def __init__(self, width):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(width))

    def forward(self, x):
        wide = x.float()
        return (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-5)).type_as(x) * self.weight


def rotate(x, turns):
    """Positions by complex products; x is (batch, seq, heads, size)."""
    pairs = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
    return torch.view_as_real(pairs * turns[None, :, None, :]).flatten(3).type_as(x)


class Layer(torch.nn.Module):
    def __init__(self, m, eight_bits):
        super().__init__()
        h, self.heads, self.keys, self.gated = m["hidden"], m["heads"], m["kv_heads"], m["gated"]
        self.size = h // self.heads
        norm = RMSNorm if self.gated else torch.nn.LayerNorm
        self.norm_1, self.norm_2 = norm(h), norm(h)
        self.q, self.k, self.v = (Linear(h, n * self.size, eight_bits) for n in (self.heads, self.keys, self.keys))
        self.o = Linear(h, h, eight_bits)
        self.up, self.down = Linear(h, m["ffn"], eight_bits), Linear(m["ffn"], h, eight_bits)
        if self.gated:
            self.gate = Linear(h, m["ffn"], eight_bits)

    def forward(self, x, turns):
        b, s, _ = x.shape
        y = self.norm_1(x)
        q, k, v = (p(y).view(b, s, -1, self.size) for p in (self.q, self.k, self.v))
        if self.gated:
            q, k = rotate(q, turns), rotate(k, turns)
        q, k, v = (t.transpose(1, 2) for t in (q, k, v))
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=self.keys != self.heads)
        x = x + self.o(a.transpose(1, 2).reshape(b, s, -1))
        y = self.norm_2(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y) if self.gated else F.gelu(self.up(y), approximate="tanh"))


class Model(torch.nn.Module):
    def __init__(self, m, seq, recompute, precision):
        super().__init__()
        h = m["hidden"]
        self.embedding = torch.nn.Embedding(m["vocab"], h)
        self.positions = None if m["gated"] else torch.nn.Embedding(seq, h)
        self.layers = torch.nn.ModuleList(Layer(m, precision == "fp8") for _ in range(m["layers"]))
        self.norm = RMSNorm(h) if m["gated"] else torch.nn.LayerNorm(h)
        self.head = torch.nn.Linear(h, m["vocab"], bias=False)
        self.recompute = recompute == "full"
        size = h // m["heads"]
        angles = torch.outer(torch.arange(seq).float(), 5e5 ** (-torch.arange(0, size, 2).float() / size))
        # No buffer, so that it stays in single precision.
        self.turns = torch.polar(torch.ones_like(angles), angles)

    def forward(self, tokens):
        x = self.embedding(tokens)
        if self.positions is not None:
            x = x + self.positions.weight
        for layer in self.layers:
            x = torch.utils.checkpoint.checkpoint(layer, x, self.turns, use_reentrant=False) if self.recompute else layer(x, self.turns)
        return self.head(self.norm(x))


def loss_of(logits, labels):
    return F.cross_entropy(logits.flatten(0, 1).float(), labels.flatten())


def run(row, device, options):
    m, seq, at_once, microbatches, recompute, precision, software = row
    torch.manual_seed(1)
    torch.compiler.reset()
    if device.type == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    with torch.device(device):
        model = Model(m, seq, recompute, precision)
    model.to(torch.bfloat16)
    loss = loss_of
    if software == "compiled":
        for layer in model.layers:
            layer.compile(dynamic=False)
        loss = torch.compile(loss_of, dynamic=False)
    weights = list(model.parameters())
    with torch.no_grad():
        for w in weights:
            w.normal_(0, 0.02)
    master = [torch.nn.Parameter(w.detach().float()) for w in weights]
    sums = [torch.zeros_like(w) for w in master]
    for w, s in zip(weights, sums):
        def add(p, s=s):
            s.add_(p.grad)
            p.grad = None
        w.register_post_accumulate_grad_hook(add)
    for w, s in zip(master, sums):
        w.grad = s
    adam = torch.optim.AdamW(master, lr=1e-4, fused=device.type == "cuda")
    tokens = torch.randint(0, m["vocab"], (at_once, seq + 1), device=device)

    def update():
        adam.step()
        torch._foreach_copy_(weights, master)
        torch._foreach_zero_(sums)

    def step():
        for _ in range(microbatches):
            loss(model(tokens[:, :-1]), tokens[:, 1:]).backward()
        with torch.no_grad():
            update()

    def sync():
        if device.type == "cuda":
            torch.cuda.synchronize()

    def now():
        if device.type == "cpu":
            return time.perf_counter()
        event = torch.cuda.Event(enable_timing=True)
        event.record()
        return event

    def between(a, b):
        return b - a if device.type == "cpu" else a.elapsed_time(b) / 1e3

    step(), sync()
    compiled = time.time()
    while time.time() - compiled < options.warm:
        step(), sync()
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats()
    marks, begun = [now()], time.time()
    while len(marks) < 4 or time.time() - begun < options.seconds:
        step()
        marks.append(now())
        sync()
    steps = [between(a, b) for a, b in zip(marks, marks[1:])]
    memory = [n / 2**30 for n in (torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())] if device.type == "cuda" else [0, 0]
    parts = [0.0, 0.0, 0.0]
    for _ in range(2):
        marks = [now()]
        for _ in range(microbatches):
            value = loss(model(tokens[:, :-1]), tokens[:, 1:])
            marks.append(now())
            value.backward()
            marks.append(now())
        with torch.no_grad():
            update()
        marks.append(now())
        sync()
        times = [between(a, b) for a, b in zip(marks, marks[1:])]
        parts = [sum(times[0:-1:2]), sum(times[1:-1:2]), times[-1]]
    words = f"d=1 b={at_once} recompute={recompute}" + (f" precision={precision}" if precision != "bf16" else "")
    return {**m, "seq": seq, "gpus": 1, "software": software, "strategy": words, "global_batch": at_once * microbatches,
            **dict(zip(COLUMNS[13:], (f"{v:.6g}" for v in [statistics.median(steps), *parts, *memory])))}


def main():
    p = argparse.ArgumentParser(description="Times training steps of transformers on one GPU; writes a table that pando fit reads")
    p.add_argument("-o", "--output", default="steps.csv", help="CSV file (steps.csv)")
    p.add_argument("--row", action="append", type=row_of, metavar="WORDS", help="a model and how it is trained, instead of the script's rows; again for more")
    p.add_argument("--warm", type=float, default=2.5, help="seconds of steps before the first that counts (2.5)")
    p.add_argument("--seconds", type=float, default=2.5, help="seconds of steps that count (2.5)")
    p.add_argument("--limit", type=float, default=1e9, help="no row begins after this many seconds")
    p.add_argument("--tiny", action="store_true", help="a test of the script on any device")
    options = p.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if options.tiny:
        options.warm = options.seconds = 0.1
    begun = time.time()
    with open(options.output, "w", newline="", encoding="utf-8") as f:
        table = csv.DictWriter(f, COLUMNS)
        table.writeheader()
        for row in options.row or (TINY_ROWS if options.tiny else ROWS):
            if time.time() - begun > options.limit:
                print(f"left out: {row[0]['model']} {row[1:]}", file=sys.stderr, flush=True)
                continue
            started = time.time()
            try:
                table.writerow(run(row, device, options))
                f.flush()
                said = "done"
            except RuntimeError as error:
                said = str(error).split("\n")[0][:200]
            print(f"[{time.time() - begun:5.0f} s] {row[0]['model']} {row[1:]}: {said}, {time.time() - started:.0f} s", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
