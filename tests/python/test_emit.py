"""Programs for PyTorch, without PyTorch: all that is written is Python. tests/torch runs it."""
import pathlib
import subprocess

import pando
import pytest
from pando._command import program

import onnx_bytes

np = pytest.importorskip("numpy")
ROOT = pathlib.Path(__file__).resolve().parents[2]


def compiles(folder):
    files = sorted(folder.glob("**/*.py"))
    for path in files:
        compile(path.read_text(), str(path), "exec")
    return [f.name for f in files]


@pytest.mark.parametrize("path", sorted((ROOT / "tests/golden/emit").glob("*.txt")), ids=lambda p: p.name)
def test_goldens_are_python(path):
    compile(path.read_text(), str(path), "exec")


@pytest.mark.parametrize("model, transform", [
    ("gpt --layers 2 --width 16 --heads 2 --sequence 8 --batch 4 --vocabulary 32 --experts 2 --adam", "--batch tokens,labels --expert 2 --zero 1"),
    ("gpt --layers 4 --width 16 --heads 2 --sequence 8 --batch 8 --vocabulary 32",
     "--batch tokens,labels --pipeline 2 --microbatches 4 --stages-per-rank 2 --schedule ZBV --offload weights"),
], ids=["experts", "pipeline"])
def test_what_is_written_is_python(tmp_path, model, transform):
    def tool(*words):
        subprocess.run([str(program()), *words], cwd=tmp_path, check=True, capture_output=True)
    tool("training-step", *model.split(), "-o", "model.txt")
    tool("transform", "model.txt", *transform.split(), "--pieces", "pieces.json", "-o", "placed.txt")
    pando.emit(tmp_path / "placed.txt", tmp_path / "out", pieces=tmp_path / "pieces.json", check=0)
    assert {"program_0.py", "layout.py", "run.py", "check.py", "runtime.py"} <= set(compiles(tmp_path / "out"))


def test_search_emits(tmp_path):
    from popxl import distribution
    random = np.random.default_rng(5)
    sizes = [6, 16, 16, 4]
    path = tmp_path / "model.onnx"
    path.write_bytes(onnx_bytes.perceptron([random.normal(0, 0.5, s).astype(np.float32) for s in zip(sizes, sizes[1:])],
                                           [random.normal(0, 0.5, w).astype(np.float32) for w in sizes[1:]]))
    ir = distribution.load_onnx(path, {"batch": 8})
    pando.search(ir, devices=2, require="data=2", emit=f"torch:{tmp_path / 'out'}")
    assert "program_0.py" in compiles(tmp_path / "out")
    assert (tmp_path / "out" / "reference.bin").exists()
    for wrong in ("torch", "megatron:out", "tortoise:out"):
        with pytest.raises(ValueError, match="torch:FOLDER"):
            pando.search(ir, devices=2, emit=wrong)
