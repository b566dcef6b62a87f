"""The packages popart and popdist: what programs import beside popxl."""
import importlib
import json
import sys

import numpy as np
import popart
import popart._internal.ir as _ir
import popdist
import popxl
import pytest
from popxl import ops


def test_one_exception_for_both_packages():
    ir = popxl.Ir()
    with ir.main_graph:
        a, b = popxl.variable(np.ones((2, 3))), popxl.variable(np.ones((4, 5)))
        with pytest.raises(popart.popart_exception) as error:
            ops.matmul(a, b)
    assert isinstance(error.value.args[0], str)


def test_devices_say_what_they_are():
    manager = popart.DeviceManager()
    assert manager.createCpuDevice().kind == "cpu"
    device = manager.createIpuModelDevice({"numIPUs": "2", "tilesPerIPU": 4})
    assert (device.kind, device.num_ipus, device.tiles_per_ipu) == ("ipu_model", 2, 4)
    with manager.acquireAvailableDevice(4) as device:
        assert (device.kind, device.numIpus, device.isAttached) == ("ipu_hw", 4, True)
    assert not device.isAttached
    assert manager.createOfflineIpuFromSystemString("IPU-POD16", 16).num_ipus == 16


@pytest.mark.parametrize("ask", [
    lambda m: m.createIpuModelDevice({"tiles": 4}),
    lambda m: m.createIpuModelDevice({"numIPUs": 0}),
    lambda m: m.createOfflineIpuFromSystemString("toaster", 1),
    lambda m: m.createOfflineIpuFromSystemString("ipu-pod4", 8),
])
def test_devices_that_cannot_be(ask):
    with pytest.raises(ValueError):
        ask(popart.DeviceManager())


@pytest.mark.parametrize("arguments, expected", [
    ((2, 2), [[0, 2], [1, 3], [4, 6], [5, 7]]),
    ((1, 4), [[0, 1, 2, 3], [4, 5, 6, 7]]),
    ((popart.CommGroup(popart.CommGroupType.All),), [[0, 1, 2, 3, 4, 5, 6, 7]]),
    ((popart.CommGroup(popart.CommGroupType.Consecutive, 4),), [[0, 1, 2, 3], [4, 5, 6, 7]]),
    ((popart.CommGroup(popart.CommGroupType.Orthogonal, 2),), [[0, 4], [1, 5], [2, 6], [3, 7]]),
    ((popart.CommGroup(popart.CommGroupType.Ungrouped),), [[r] for r in range(8)]),
])
def test_groups_of_variable_settings(arguments, expected):
    settings = popart.VariableSettings(*arguments)
    assert settings.groups(8) == expected
    assert settings.groupCount(8) == len(expected)
    assert [settings.getGroupRepresentative(g, 8) for g in range(len(expected))] == [group[0] for group in expected]


def test_variable_settings_refuse_what_does_not_divide():
    with pytest.raises(ValueError):
        popart.VariableSettings(2, 3).groups(8)
    with pytest.raises(TypeError):
        popart.VariableSettings(2)


def test_session_options_are_kept_and_unknown_ones_refused():
    ir = popxl.Ir()
    options = ir._pb_ir.getSessionOptions()
    options.numIOTiles = 32
    options.replicatedGraphCount = 2
    assert ir._pb_ir.getSessionOptions().numIOTiles == 32
    assert ir.replication_factor == 2 and options.enableReplicatedGraphs
    with pytest.raises(AttributeError):
        options.numIoTiles = 32
    with pytest.raises(AttributeError):
        options.numIoTiles


def test_one_instance():
    assert (popdist.isPopdistEnvSet(), popdist.getInstanceIndex(), popdist.getNumInstances()) == (False, 0, 1)


def test_logger(capfd):
    logger = popart.getLogger("test")
    logger.debug("unheard")
    logger.setLevel("DEBUG")
    logger.debug("heard")
    assert logger.getLevel() == "DEBUG"
    said = capfd.readouterr().err
    assert "heard" in said and "unheard" not in said
    with pytest.raises(ValueError):
        logger.setLevel("LOUD")


def test_regions():
    full, empty = _ir.view.Region.getFull((2, 3)), _ir.view.Region.getEmpty(2)
    assert (full.nelms(), full.isEmpty(), empty.nelms(), empty.isEmpty()) == (6, False, 0, True)
    assert not _ir.view.Region.getFull(()).isEmpty() and _ir.view.Region.getEmpty(0).isEmpty()
    with pytest.raises(ValueError):
        _ir.view.Region((0,), (1, 2))


def test_debug_information(tmp_path):
    path = tmp_path / "debug.json"
    popart.initializePoplarDebugInfo(str(path), "json")
    ir = popxl.Ir()
    with ir.main_graph:
        a = popxl.variable(1, name="a")
        b = a + a
    popart.closePoplarDebugInfo()
    data = json.loads(path.read_text())
    (op,) = [c for c in data["contexts"] if c["category"] == "op"]
    assert (op["api"], op["inputs"], op["outputs"]) == ("add", ["a", "a"], [b.id])
    assert data["stringTable"][op["location"]["functionName"]] == "test_debug_information"
    with pytest.raises(RuntimeError):
        popart.closePoplarDebugInfo()


@pytest.mark.parametrize("installed", [False, True])
def test_custom_operations_are_refused_when_they_are_used(tmp_path, monkeypatch, installed):
    """Whether cppimport, whose finder would compile them, is installed or not."""
    package = tmp_path / "brings_ops"
    package.mkdir()
    (package / "__init__.py").write_text("import cppimport.import_hook\nfrom . import twice_binding\ndef twice():\n    return twice_binding.TwiceOp()\n")
    (package / "twice_binding.cpp").write_text("// cppimport\n#include <popart/op.hpp>\n")
    if installed:
        (tmp_path / "cppimport").mkdir()
        (tmp_path / "cppimport" / "__init__.py").write_text("")
        (tmp_path / "cppimport" / "import_hook.py").write_text(
            "import sys\nclass Hook:\n    def find_spec(self, name, path=None, target=None):\n"
            "        if name.endswith('_binding'):\n            raise RuntimeError('compiles')\nsys.meta_path.insert(0, Hook())\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    for name in ("cppimport", "cppimport.import_hook", "brings_ops", "brings_ops.twice_binding"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    brings_ops = importlib.import_module("brings_ops")
    with pytest.raises(NotImplementedError, match="twice_binding.TwiceOp: a custom operation in C"):
        brings_ops.twice()
    for name in ("cppimport", "cppimport.import_hook", "brings_ops", "brings_ops.twice_binding"):
        sys.modules.pop(name, None)


def test_version():
    assert popart.versionString().startswith(popxl.__version__)
    assert len(popart.versionNumber()) == 3
