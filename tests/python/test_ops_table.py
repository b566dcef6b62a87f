"""The page of all ops is what the op table says."""
import importlib.util
import pathlib

from popxl import _core

ROOT = pathlib.Path(__file__).resolve().parents[2]


def load():
    spec = importlib.util.spec_from_file_location("make_ops", ROOT / "docs" / "level" / "make_ops.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_up_to_date():
    make_ops = load()
    rows = _core.op_table()
    assert make_ops.PAGE.read_text() == make_ops.page(rows), "run ./x python docs/level/make_ops.py"
    rows[0]["attributes"].append(("colour", "text", True))
    assert make_ops.PAGE.read_text() != make_ops.page(rows)
