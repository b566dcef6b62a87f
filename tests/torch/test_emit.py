"""Programs that `pando emit torch` writes, run on gloo: equal to Pando's interpreter within what rounding explains (their own check.py says so)."""
import json
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/python"))
import onnx_bytes  # noqa: E402
BIN = pathlib.Path(os.environ.get("PANDO_BIN", ROOT / "build" / "bin"))
MLP = "mlp --layers 4 --width 8 --batch 8 --learning-rate 0.5"
GPT = "gpt --layers 2 --width 16 --heads 2 --sequence 8 --batch 4 --vocabulary 32"
ADAM = ["--zeros", "*.m,*.v,step"]


def pando(folder, *words):
    done = subprocess.run([BIN / "pando", *words], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done


def check(folder, *words):
    done = subprocess.run([sys.executable, "check.py", *words], cwd=folder, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "equal the interpreter's" in done.stdout


def emit(tmp_path, model, transform, *words):
    """Emits a known network, transformed. Returns the folder."""
    pando(tmp_path, "model", *model.split(), "-o", "model.txt")
    samples = "x,z" if model.startswith("mlp") else "tokens,labels"
    pando(tmp_path, "transform", "model.txt", "--batch", samples, *transform.split(), "--pieces", "pieces.json", "-o", "placed.txt")
    pando(tmp_path, "emit", "torch", "placed.txt", "--pieces", "pieces.json", "-o", "out", *words)
    return tmp_path / "out"


@pytest.mark.parametrize("model, transform, words", [
    (MLP, "--data 2", ["--check", "3"]),
    (MLP, "--tensor 2", ["--check", "3"]),
    (MLP, "--data 2 --pipeline 2 --microbatches 2 --zero 1", []),
    (MLP, "--data 4 --zero 3", []),
    (GPT, "--tensor 2 --sequence-parallel --sequence tokens:1", []),
    (GPT, "--context 2 --sequence tokens:1,labels:1", []),
    (GPT + " --experts 2", "--expert 2 --tensor 2", []),
    (GPT + " --adam", "--data 2 --zero 2 --microbatches 2", ADAM),
    (GPT + " --adam", "--data 2 --offload weights,optimizer,activations", ADAM + ["--check", "2"]),
    (GPT, "--pipeline 2 --microbatches 2 --recompute full", []),
], ids=lambda x: x.replace(" ", "") if isinstance(x, str) and x.startswith("--") else None)
def test_transforms(tmp_path, model, transform, words):
    check(emit(tmp_path, model, transform, *words))


@pytest.mark.parametrize("schedule, stages", [("GPipe", 1), ("1F1B", 1), ("Interleaved1F1B", 2), ("ZB-H1", 1), ("ZBV", 2), ("DualPipeV", 2)])
def test_schedules(tmp_path, schedule, stages):
    check(emit(tmp_path, MLP, f"--pipeline 2 --microbatches 4 --schedule {schedule} --stages-per-rank {stages}"))


@pytest.mark.parametrize("policy", ["delay", "stash", "2BW 2", "flush 2"])
def test_projected(tmp_path, policy):
    pando(tmp_path, "project", str(ROOT / "tests/golden/project/note.txt"), "--policy", policy, "-o", "projected.txt")
    pando(tmp_path, "emit", "torch", "projected.txt", "-o", "out", "--samples", "4", "--check", "2")
    check(tmp_path / "out")


@pytest.mark.parametrize("demand", ["data=2", "tensor=2", "pipeline=2 microbatches=2"])
def test_onnx(tmp_path, demand):
    """A model of ONNX: imported, distributed as a search says, written, and equal with its own weights."""
    import numpy as np
    random = np.random.default_rng(5)
    sizes = [6, 16, 16, 4]
    (tmp_path / "model.onnx").write_bytes(onnx_bytes.perceptron([random.normal(0, 0.5, s).astype(np.float32) for s in zip(sizes, sizes[1:])],
                                                                [random.normal(0, 0.5, w).astype(np.float32) for w in sizes[1:]]))
    pando(tmp_path, "search", "model.onnx", "--dimension", "batch=8", "--machine", "h100", "--devices", "2", "--require", demand, "--quiet",
          "--emit", "torch:out")
    assert json.loads((tmp_path / "out" / "data.json").read_text())
    check(tmp_path / "out")


def test_search_of_a_program(tmp_path):
    """The winner of a search; the states of the optimizer begin with zeros."""
    pando(tmp_path, "model", *GPT.split(), "--adam", "-o", "gpt.txt")
    pando(tmp_path, "search", "gpt.txt", "--samples", "tokens,labels", "--machine", "h100", "--devices", "4", "--quiet", "--require",
          "pipeline=2 data=2 microbatches=2 zero=1", "--emit", "torch:out")
    check(tmp_path / "out")


def test_search_by_name(tmp_path):
    """A strategy for 16 H100, whose small instance runs on four ranks."""
    done = pando(tmp_path, "search", "gpt3-xl", "--seq-length", "128", "--machine", "h100", "--devices", "16", "--batch", "32", "--quiet", "--require",
                 "t=4 p=4 zero=0", "--emit", "torch:out")
    assert "small instance" in done.stderr
    assert len((tmp_path / "out" / "layout.py").read_text().split('"device"')) == 17
    check(tmp_path / "out" / "small")


def test_every_op(tmp_path):
    """All samples of all rows, as one program."""
    samples = tmp_path / "samples.txt"
    subprocess.run([BIN / "test_emit", "--gtest_filter=EmitTorch.EverySample"], check=True, env={**os.environ, "PANDO_EMIT_SAMPLES": str(samples)})
    pando(tmp_path, "emit", "torch", "samples.txt", "-o", "out", "--check", "1")
    check(tmp_path / "out")


def test_run_and_trace(tmp_path):
    """The trace has the names of the simulator, and the same seed gives the numbers of `pando run`."""
    folder = emit(tmp_path, MLP, "--data 2")
    launch = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "run.py", "--steps", "3", "--seed", "1"]
    done = subprocess.run([sys.executable, *launch, "--trace", "trace.json", "--output", "out.pt", "--threads", "1"], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    names = {e["name"] for e in json.loads((folder / "trace.json").read_text()) if e["ph"] == "X"}
    assert {"matmul", "relu", "matmul_grad", "all_reduce_across", "sgd"} <= names
    shown = pando(folder, "simulate", "../placed.txt", "--beside", "trace.json", "--trace", "both.json").stdout
    assert "all_reduce_across" in shown and "measured" in shown
    assert {e["pid"] for e in json.loads((folder / "both.json").read_text())} >= {1, 2, 1001, 1002}


@pytest.mark.parametrize("words, message", [
    (["--seed", "1", "--device", "cuda"], "GPUs"),
    (["--steps", "1"], "has no data"),
    (["--seed", "1", "--input", "unknown.pt"], "no variable or stream"),
])
def test_messages(tmp_path, words, message):
    import torch
    pando(tmp_path, "model", *MLP.split(), "-o", "model.txt")
    pando(tmp_path, "emit", "torch", "model.txt", "-o", "out")
    torch.save({"other": torch.zeros(2)}, tmp_path / "out" / "unknown.pt")
    done = subprocess.run([sys.executable, "run.py", *words], cwd=tmp_path / "out", capture_output=True, text=True)
    assert done.returncode == 2 and message in done.stderr, done.stderr
