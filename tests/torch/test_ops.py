"""PyTorch's table of ops: what is in the lists passes, forward and with gradients. `ops.py` prints the rest with reasons."""
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent


@pytest.mark.parametrize("options", [[], ["--gradient"], ["--device", "ipu_model", "--part", "0/8"]], ids=["forward", "gradients", "tiles"])
def test_ops(options):
    done = subprocess.run([sys.executable, HERE / "ops.py", *options], stdout=subprocess.PIPE, text=True)
    lost = [line for line in done.stdout.splitlines() if line.startswith("lost: ")]
    assert done.returncode == 0 and not lost, lost


CORE = [[], ["--gradient"], ["--device", "ipu_model"], ["--device", "ipu_model", "--gradient"], ["--odd"], ["--odd", "--gradient"]]
CORE += [["--dtype", dtype] for dtype in ("float16", "bfloat16", "int64", "int32", "bool")]


@pytest.mark.parametrize("options", CORE, ids=" ".join)
def test_core_aten(options):
    done = subprocess.run([sys.executable, HERE / "ops.py", "--core", *options], stdout=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stdout


def test_the_lists_of_core_aten_are_of_the_table():
    import ops

    assert set(ops.core()) <= {ops.name_of(op) for op in ops.table(False)}
    kinds = {ops.kind_of(dtype, odd, gradient) for dtype in ops.DTYPES for odd in (False, True) for gradient in (False, True)}
    for line in (HERE / "core_aten.rejected").read_text().splitlines():
        kind, _, rest = line.partition(" | ")
        assert kind in kinds - {"float32", "float32 gradient"} and rest.split(": ")[0] in ops.core(), line


@pytest.mark.parametrize("gradient", [False, True], ids=["forward", "gradients"])
def test_each_op_is_in_a_list(gradient):
    import ops

    lists = ops.Lists(gradient)
    names = {ops.name_of(op) for op in ops.table(gradient)}
    assert not lists.expected & set(lists.rejected)
    assert not lists.unrun & (lists.expected | set(lists.rejected))
    without = sorted(names - lists.expected - set(lists.rejected) - lists.unrun)
    assert not without, f"{len(without)} ops of PyTorch's table are in no list: run ops.py --new --update{' --gradient' if gradient else ''}: {without}"


def test_core_aten_has_rules_or_is_taken_apart():
    import torch

    from pando.torch.decompositions import decompositions
    from pando.torch.table import COMPLEX_RULES, RULES

    missing = (HERE / "core_aten.missing").read_text().split("\n")
    reasons = dict(line.split(": ", 1) for line in missing if ": " in line)
    known = {*RULES, *COMPLEX_RULES, *decompositions()}
    without = set()
    # dir(torch.ops.aten) has only what this process has used.
    for name in sorted({schema.name.removeprefix("aten::") for schema in torch._C._jit_get_all_schemas() if schema.name.startswith("aten::")}):
        packet = getattr(torch.ops.aten, name, None)
        for overload in packet.overloads() if hasattr(packet, "overloads") else ():
            op = getattr(packet, overload)
            if torch.Tag.core in op.tags and not overload.endswith("out") and op not in known:
                without.add(str(op))
    assert without == set(reasons)
