"""What `pando calibrate --torch` writes, run on this host with a few small shapes: alone, and as two processes with gloo. Pando reads what it measures."""
import json
import os
import pathlib
import subprocess
import sys

import pytest

PANDO = pathlib.Path(__file__).resolve().parents[2] / "build" / "bin" / "pando"
MODEL = {"name": "small", "layers": 2, "hidden": 256, "heads": 4, "kv_heads": 2, "ffn": 512, "vocab": 512, "seq": 64, "gated": True,
         "dropout": False, "keeps_scores": False}
EXPERTS = {**MODEL, "name": "experts", "experts": 8, "experts_each": 2, "expert_ffn": 128, "shared_experts": 1}


def pando(*arguments, status=0):
    done = subprocess.run([PANDO, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    folder = tmp_path_factory.mktemp("calibrate")
    for model in (MODEL, EXPERTS):
        (folder / f"{model['name']}.json").write_text(json.dumps(model))
    pando("calibrate", "--torch", "--like", "h100", "--model", f"{folder}/small.json,{folder}/experts.json", "-o", folder / "calibrate_gpu.py")
    return folder / "calibrate_gpu.py"


def run(script, output, *launcher):
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, *launcher, script, "--tiny", "--device", "cpu", "--name", "mine", "-o", output],
                          capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stderr


def test_alone(script):
    file = script.parent / "one.json"
    assert "skipped collectives: one process; torchrun" in run(script, file)
    machine = json.loads(file.read_text())
    tables = machine["measured"]
    assert {p["layout"] for p in tables["products"]} == set("fiw")
    assert {p["type"] for p in tables["products"]} == {"bf16", "fp16", "fp32"}
    assert any(p.get("groups") == 8 for p in tables["products"])
    assert {b["op"] for b in tables["bytewise"]} == {"rms_norm", "layer_norm", "gated", "gelu", "add", "rotary", "cross_entropy", "adamw"}
    assert tables["attention"] and tables["layers"] and not tables["collectives"]
    assert machine["provenance"]["levels"] == "nvswitch, infiniband assumed, as of h100"
    assert machine["provenance"]["launch"] == "measured"
    # A row is looked up: the step takes longer when its products do. Launches may be most of a step so small.
    step = ("simulate", "--model", script.parent / "small.json", "--strategy", "t=1", "--batch", 1, "--stack", "none", "--machine")
    before = pando(*step, file)
    for p in tables["products"]:
        p["seconds"] *= 1e5
    slow = script.parent / "slow.json"
    slow.write_text(json.dumps(machine))
    assert float(pando(*step, slow).split("\n")[1].split()[0]) > 10 * float(before.split("\n")[1].split()[0])
    # Which strategy is best depends on what this host measured.
    assert "gap 0.00 %" in pando("search", script.parent / "small.json", "--devices", 8, "--batch", 8, "--machine", file, "--quiet")


def test_two_processes(script):
    file = script.parent / "two.json"
    run(script, file, "-m", "torch.distributed.run", "--nproc-per-node=2")
    machine = json.loads(file.read_text())
    rows = machine["measured"]["collectives"]
    assert {r["collective"] for r in rows} >= {"all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "send"}
    assert {r["devices"] for r in rows} == {2}
    assert machine["levels"][0]["devices"] == 2
    assert machine["provenance"]["levels"] == "measured within a node of 2; nvswitch, infiniband assumed, as of h100"
    assert "t=2" in pando("search", script.parent / "small.json", "--devices", 2, "--batch", 2, "--machine", file, "--require", "t=2", "--quiet")


def test_steps(tmp_path):
    """The script of --steps, with a few small rows; pando fit reads its table. A word that it does not know is named."""
    script = tmp_path / "steps_gpu.py"
    pando("calibrate", "--steps", "-o", script)
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run([sys.executable, script, "--tiny", "-o", tmp_path / "steps.csv"], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0 and done.stderr.count("done") == 3, done.stderr
    assert "tiny seq=32 batch=4" in pando("fit", tmp_path / "steps.csv", "--machine", "h100", "--stack", "torchtitan-eager")
    row = "layers=1 hidden=32 heads=2 seq=16 vocab=64 microbatches=1 recompute=full"
    for words, message in ((row, ""), (row + " head=2", "no word 'head'"), ("layers=1", "'hidden' is not given"),
                           (row + " precision=fp4", "precision=fp4; bf16 or fp8 is expected"), (row + " kv_heads=3", "do not divide")):
        done = subprocess.run([sys.executable, script, "--row", words, "--warm", "0", "--seconds", "0", "-o", tmp_path / "one.csv"],
                              capture_output=True, text=True, check=False, env=environment)
        assert done.returncode == (2 if message else 0) and message in done.stderr, done.stderr
    assert "1 layers of 32 seq=16 batch=1" in pando("fit", tmp_path / "one.csv", "--machine", "h100", "--stack", "torchtitan-eager")


def test_a_gpu_that_is_not_there(script):
    done = subprocess.run([sys.executable, script, "--device", "cuda"], capture_output=True, text=True, check=False,
                          env={**os.environ, "CUDA_VISIBLE_DEVICES": ""})
    assert done.returncode == 1 and done.stderr == "calibrate_gpu.py: PyTorch finds no GPU; --device cpu measures the host\n"
