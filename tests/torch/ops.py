"""PyTorch's own table of ops, each run on its samples as a program of Pando and compared with PyTorch.

    ops.py [--device cpu] [--gradient] [--core] [--dtype float32] [--odd] [--samples 2] [--only PATTERNS] [--new] [--update]

Prints what does not pass and why. The lists ops.expected and gradients.expected name what passes and may only grow; ops.rejected and gradients.rejected name
what an error rejects, with its reason; ops.unrun and gradients.unrun what no run has come to yet. --update writes them, each op as soon as it is done; another
number, or a crash, is in no list.

--core takes the ops of core_aten.ops alone, which stand for all of core ATen and all have to pass with float32 on each device. With another --dtype, or with
--odd (tensors without elements, without dimensions, with dimensions of 1, and views), all that core_aten.rejected does not name for that type have to pass.
Exit status: 0 if everything in the list passes.
"""
import argparse
import fnmatch
import logging
import os
import pathlib
import signal
import sys
import warnings

import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils import _pytree

from pando.torch import adapter
from pando.torch.decompositions import decompositions
from pando.torch.program import Program

HERE = pathlib.Path(__file__).resolve().parent
SECONDS = 120
# Relative and absolute.
TOLERANCES = {torch.float32: (1e-3, 1e-4), torch.float64: (1e-3, 1e-4), torch.float16: (1e-2, 1e-2), torch.complex64: (1e-3, 1e-4),
              # PyTorch rounds each result to 8 bits, programs compute with float32.
              torch.bfloat16: (3e-2, 3e-2)}
# The element types of --dtype.
DTYPES = ("float32", "float16", "bfloat16", "int64", "int32", "bool")
# What these compute is random: there is nothing to compare.
RANDOM = {"bernoulli", "cauchy", "exponential", "geometric", "log_normal", "normal", "uniform", "rand_like", "randn_like", "randint_like", "randn", "rand",
          "randint", "randperm", "multinomial", "nn.functional.dropout", "nn.functional.dropout2d", "nn.functional.dropout3d", "nn.functional.alpha_dropout",
          "nn.functional.feature_alpha_dropout", "nn.functional.rrelu", "empty", "empty_like", "empty_strided", "empty_permuted", "new_empty",
          "new_empty_strided", "nn.functional.fractional_max_pool2d", "nn.functional.fractional_max_pool3d"}

# What puts numbers in order, and which argument is the dimension.
_ORDERS = {"topk": 2, "sort": 1}


def tensors_in(tree):
    return [x for x in _pytree.tree_leaves(tree) if isinstance(x, torch.Tensor)]


def weights_like(t):
    """What a result is multiplied with before its gradient is taken: each element another number."""
    return torch.sin(torch.arange(t.numel(), dtype=t.dtype)).reshape(t.shape)


def function_of(op, sample, gradient):
    """(a function of tensors that gives a list of tensors, the sample's tensors)"""
    flat, spec = _pytree.tree_flatten(((sample.input, *sample.args), sample.kwargs))
    places = [i for i, x in enumerate(flat) if isinstance(x, torch.Tensor)]
    # Not all arguments that are floats have gradients: the table marks those that do.
    marked = [flat[i].requires_grad for i in places]

    def call(tensors):
        given = list(flat)
        for i, t in zip(places, tensors):
            given[i] = t
        args, kwargs = _pytree.tree_unflatten(given, spec)
        made = op(*args, **kwargs)
        if op.name in _ORDERS and args[0].dim():
            # Which of equal numbers comes first is free.
            place = _ORDERS[op.name]
            dim = args[place] if len(args) > place else kwargs.get("dim", -1)
            made = (made[0], args[0].gather(dim, made[1]))
        # Of several right answers, as signs of eigenvectors, what they have in common.
        return sample.output_process_fn_grad(made)

    def forward(*tensors):
        return tensors_in(call(tensors))

    def with_gradient(*tensors):
        leaves = [t.detach().requires_grad_(mark) for t, mark in zip(tensors, marked)]
        results = tensors_in(call(leaves))
        floats = [r for r in results if r.is_floating_point() and r.requires_grad]
        wanted = [t for t in leaves if t.requires_grad]
        if not floats or not wanted:
            return results
        gradients = torch.autograd.grad(sum((r * weights_like(r)).sum() for r in floats), wanted, allow_unused=True)
        return [*results, *(g for g in gradients if g is not None)]

    return (with_gradient if gradient else forward), [flat[i].detach() for i in places]


def difference(wanted, got, by_norm=False, rounded=None, exact=None):
    """None, or what differs. by_norm: errors are measured by the largest element. rounded: the type that PyTorch rounds to on the way, if there is one. exact: what
    is right, too."""
    if wanted.dtype != got.dtype or wanted.shape != got.shape:
        return f"{got.dtype} {tuple(got.shape)} instead of {wanted.dtype} {tuple(wanted.shape)}"
    if wanted.is_floating_point() or wanted.is_complex():
        relative, absolute = TOLERANCES[rounded or wanted.dtype]
        if by_norm:
            absolute += relative * wanted.abs().max().item()
        near = [torch.isclose(right, got, rtol=relative, atol=absolute, equal_nan=True) for right in (wanted, exact) if right is not None]
        if not torch.stack(near).any(0).all():
            return f"another number: {(wanted - got).abs().max().item():.3g} apart"
    elif not torch.equal(wanted, got):
        return "another number"
    return None


def is_narrow(t):
    """Whether a program takes the numbers of a tensor: int64 become int32."""
    return t.dtype is not torch.int64 or t.numel() == 0 or (t.min() >= -2**31 and t.max() < 2**31)


def with_digits(function, tensors, wanted):
    """What a function of 16-bit numbers gives where its steps have 32: PyTorch rounds after each op, a program after several. None for each result of others."""
    if not any(t.dtype in (torch.float16, torch.bfloat16) for t in tensors):
        return [None] * len(wanted)
    try:
        found = function(*[t.float() if t.is_floating_point() else t.clone() for t in tensors])
    except (RuntimeError, TypeError, ValueError):
        # An op that takes these numbers alone.
        return [None] * len(wanted)
    return [x.detach().to(w.dtype) if x.shape == w.shape else None for x, w in zip(found, wanted)] if len(found) == len(wanted) else [None] * len(wanted)


def outcome(op, sample, gradient, device, odd=False):
    """None: nothing to run (no tensors; no elements, unless those are wanted: odd); "": passes; else what is wrong."""
    function, tensors = function_of(op, sample, gradient)
    if not any(t.layout is not torch.strided for t in tensors):
        # Each with a storage of its own, as a program's inputs: what lies beside a view is no part of it.
        tensors = [t.clone() for t in tensors]
    if not odd and any(t.numel() == 0 for t in tensors):
        return None
    wanted = [t.detach() for t in function(*[t.clone() for t in tensors])]
    if not wanted or not odd and any(t.numel() == 0 for t in wanted):
        return None
    if not all(map(is_narrow, [*tensors, *wanted])):
        return None
    graph = adapter.trace(function, tensors, decompositions())
    graph.graph.eliminate_dead_code()
    for a, b, exact in zip(wanted, Program(graph, device)(tensors), with_digits(function, tensors, wanted)):
        wrong = difference(a, b, op.name.endswith("matrix_exp"), torch.bfloat16 if op.name == "bfloat16" else None, exact)
        if wrong:
            return wrong
    return ""


def ordinary_samples(samples, count):
    samples = [s for s in samples if all(t.numel() for t in tensors_in((s.input, s.args, s.kwargs)))] or samples[:1]
    return samples[::max(1, len(samples) // count)][:count]


def odd_samples(samples):
    """The first with a tensor without elements, without dimensions, with a dimension of 1, and the first others as views; as far as there are any."""
    kinds = (lambda t: not t.numel(), lambda t: not t.dim(), lambda t: 1 in t.shape and t.numel() > 1)
    found = [next((s for s in samples if any(map(kind, tensors_in((s.input, s.args, s.kwargs))))), None) for kind in kinds]
    found += [s.noncontiguous() for s in ordinary_samples(samples, 1)]
    return [s for s in found if s is not None]


def outcomes(op, gradient, device, count, dtype, odd=False):
    samples = list(op.sample_inputs("cpu", dtype, requires_grad=gradient))
    for sample in odd_samples(samples) if odd else ordinary_samples(samples, count):
        if op.name == "nn.functional.multi_head_attention_forward":
            # Without dropout, which is random.
            sample.kwargs["training"] = False
        try:
            found = outcome(op, sample, gradient, device, odd)
        except Exception as error:
            found = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
        if found is not None:
            yield found


def isolated(op, gradient, device, count, dtype, odd=False):
    """None: nothing to run; "": all samples pass; else what is wrong with the first that does not. In a process of its own."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        signal.alarm(SECONDS)
        try:
            found = list(outcomes(op, gradient, device, count, dtype, odd))
            os.write(writer, ("+" if found else "0").encode() + next((f for f in found if f), "").encode()[:1000])
        finally:
            os._exit(0)
    os.close(writer)
    data = b""
    while chunk := os.read(reader, 4096):
        data += chunk
    os.close(reader)
    status = os.waitpid(child, 0)[1]
    if not data:
        return f"ended by signal {status & 127}" if status & 127 else "ended without a word"
    return None if data[:1] == b"0" else data[1:].decode()


def name_of(op):
    return op.name + (f"/{op.variant_test_name}" if op.variant_test_name else "")


def table(gradient, dtype=torch.float32):
    """The ops of PyTorch's table that take an element type and whose results are not random; gradient: that have one."""
    return [op for op in op_db if op.supports_dtype(dtype, "cpu") and op.name not in RANDOM and (op.supports_autograd or not gradient)]


def core():
    """The names of the ops that stand for core ATen."""
    return (HERE / "core_aten.ops").read_text().split()


class Lists:
    """What is known of the ops, in three files: names that pass; names and reasons of what is rejected; names that no run has come to."""

    def __init__(self, gradient):
        kind = "gradients" if gradient else "ops"
        self._expected, self._rejected, self._unrun = (HERE / f"{kind}.{part}" for part in ("expected", "rejected", "unrun"))
        self.expected = set(self._expected.read_text().split()) if self._expected.exists() else set()
        lines = self._rejected.read_text().splitlines() if self._rejected.exists() else []
        self.rejected = dict(line.split(": ", 1) for line in lines if line)
        self.unrun = set(self._unrun.read_text().split()) if self._unrun.exists() else set()

    def take(self, name, found):
        """Writes what became of an op. Another number and the end of a process are not rejections."""
        reason = rejection(found)
        self.unrun.discard(name)
        if found == "":
            self.expected.add(name)
            self.rejected.pop(name, None)
        elif name not in self.expected and reason is not None:
            self.rejected[name] = reason
        self._expected.write_text("".join(f"{n}\n" for n in sorted(self.expected)))
        self._unrun.write_text("".join(f"{n}\n" for n in sorted(self.unrun)))
        self._rejected.write_text("".join(f"{n}: {self.rejected[n]}\n" for n in sorted(self.rejected)))


class Rejected:
    """What core_aten.rejected says of one kind of run: {name: reason}."""

    _FILE = HERE / "core_aten.rejected"

    def __init__(self, kind):
        self._kind = kind
        self.names = self._all().get(kind, {})

    def _all(self):
        found = {}
        for line in self._FILE.read_text().splitlines():
            kind, _, rest = line.partition(" | ")
            name, _, reason = rest.partition(": ")
            found.setdefault(kind, {})[name] = reason
        return found

    def take(self, name, found):
        """Writes what became of an op."""
        self.names.pop(name, None)
        if found and rejection(found) is not None:
            self.names[name] = rejection(found)
        kinds = {**self._all(), self._kind: self.names}
        self._FILE.write_text("".join(f"{kind} | {name}: {reason}\n" for kind, names in sorted(kinds.items()) for name, reason in sorted(names.items())))


def kind_of(dtype, odd, gradient):
    """How core_aten.rejected calls a kind of run."""
    return dtype + (" odd" if odd else "") + (" gradient" if gradient else "")


def rejection(found):
    """Why an op is rejected, or None if what was found is not a rejection."""
    if found is None:
        return "its samples have no elements, or no result"
    kind, _, message = found.partition(": ")
    message = message.replace(str(HERE.parents[1]) + os.sep, "")
    if kind == "UnsupportedOps":
        names = message.split("PyTorch:", 1)[-1].split()
        return "no rule for " + (names[0] if names else "an op")
    if kind in ("NotImplementedError", "UnsupportedType", "DataDependentOutputException", "DynamicOutputShapeException", "UnsupportedOperatorException", "RuntimeError"):
        return f"{kind}: {message[:100]}".rstrip()
    if kind == "AssertionError" and "GPU" in message:
        return "it runs on GPUs alone"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--gradient", action="store_true")
    parser.add_argument("--core", action="store_true", help="the ops of core_aten.ops alone")
    parser.add_argument("--dtype", default="float32", choices=DTYPES, help="with --core")
    parser.add_argument("--odd", action="store_true", help="with --core: tensors without elements or dimensions, dimensions of 1, views")
    parser.add_argument("--samples", type=int, help="of an op; default: 2, as the lists were made with; with --core 3")
    parser.add_argument("--only", default="*", help="patterns of names, separated by commas")
    parser.add_argument("--part", default="0/1", help="I/N: every N-th op, from the I-th on")
    parser.add_argument("--new", action="store_true", help="only ops that are in no list")
    parser.add_argument("--update", action="store_true")
    given = parser.parse_args()
    kind = kind_of(given.dtype, given.odd, given.gradient)
    if not given.core and (given.odd or given.dtype != "float32"):
        parser.error("--dtype and --odd go with --core: the lists of all ops are those of float32.")
    if given.core and given.update and kind in ("float32", "float32 gradient"):
        parser.error("Core ATen with float32 has no list: all of it passes.")
    samples = given.samples or (3 if given.core else 2)
    warnings.filterwarnings("ignore")
    # PyTorch logs the exceptions that it raises, too.
    logging.disable(logging.ERROR)
    lists = Rejected(kind) if given.core else Lists(given.gradient)
    dtype, needed = getattr(torch, given.dtype), set(core()) - set(lists.names) if given.core else lists.expected
    first, parts = map(int, given.part.split("/"))
    passed, lost = 0, []
    ops = [op for op in table(given.gradient, dtype) if any(fnmatch.fnmatch(op.name, pattern) for pattern in given.only.split(","))]
    for op in [op for op in ops if not given.core or name_of(op) in (core() if given.update else needed)][first::parts]:
        name = name_of(op)
        if given.new and not given.core and (name in lists.expected or name in lists.rejected):
            continue
        found = isolated(op, given.gradient, given.device, samples, dtype, given.odd)
        passed += found == ""
        if found:
            print(f"{name}: {found}", flush=True)
            if name in needed:
                lost.append(name)
        if given.update:
            lists.take(name, found)
    print(f"{passed} passed, {len(lost)} failed")
    for name in lost:
        print(f"lost: {name}")
    return bool(lost)


if __name__ == "__main__":
    sys.exit(main())
