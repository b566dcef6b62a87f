"""The pages of all ops and of ONNX are what the tables say."""
import importlib.util
import pathlib

from popxl import _core

ROOT = pathlib.Path(__file__).resolve().parents[2]


def load(name="make_ops"):
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / "level" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_up_to_date():
    make_ops = load()
    rows = _core.op_table()
    assert make_ops.PAGE.read_text() == make_ops.page(rows), "run ./x python docs/level/make_ops.py"
    rows[0]["attributes"].append(("colour", "text", True))
    assert make_ops.PAGE.read_text() != make_ops.page(rows)


def test_the_page_on_onnx_is_up_to_date():
    make_onnx = load("make_onnx")
    operators, compositions = _core.onnx_operators(), _core.compositions()
    assert make_onnx.PAGE.read_text() == make_onnx.page(operators, compositions), "run ./x python docs/level/make_onnx.py"
    assert make_onnx.PAGE.read_text() != make_onnx.page(operators[1:], compositions)
