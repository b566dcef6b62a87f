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
from popxl import ops, transforms


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


def test_variable_settings_reject_what_does_not_divide():
    with pytest.raises(ValueError):
        popart.VariableSettings(2, 3).groups(8)
    with pytest.raises(TypeError):
        popart.VariableSettings(2)


def test_session_options_are_kept_and_unknown_ones_rejected():
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
def test_custom_operations_are_rejected_when_they_are_used(tmp_path, monkeypatch, installed):
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


def test_registered_custom_ops(monkeypatch):
    from popart import custom_ops
    from popxl.context import get_current_context

    monkeypatch.setattr(custom_ops, "_registered", {})
    assert custom_ops.find("package.scale_binding", "ScaleOp") is None
    popart.register_custom_op("scale_binding.ScaleOp", lambda operands, factor, offset=0.0: [operands[0] * factor + offset])
    assert custom_ops.find("package.other_binding", "ScaleOp") is None

    def build(t):
        graph = get_current_context().graph
        result = graph._create_tensor_id("scaled")
        made = custom_ops.find("package.scale_binding", "ScaleOp").createOpInGraph(
            graph._pb_graph, {0: t.id}, {0: result}, 3.0, settings=get_current_context()._get_op_settings("scale"), offset=1.0)
        assert made.outTensor(0).id == result
        return [popxl.Tensor._from_pb_tensor(made.outTensor(0))]

    (scaled,) = replicas(1, build, np.array([[1.0, -2.0]], dtype=np.float32))
    np.testing.assert_array_equal(scaled, [4.0, -5.0])
    for name in ("ScaleOp", "package.scale_binding.ScaleOp", "scale binding.ScaleOp", ""):
        with pytest.raises(ValueError, match="expected 'module.Class'"):
            popart.register_custom_op(name, lambda operands: operands)
    with pytest.raises(TypeError, match="cannot be called"):
        popart.register_custom_op("scale_binding.ScaleOp", 3)


@pytest.fixture
def known():
    """createOpInGraph of a custom operation that is known by its name."""
    from popart import _known_ops, custom_ops
    from popxl.context import get_current_context

    def create(name, operands, *arguments, results=1, **named):
        graph = get_current_context().graph
        ids = {i: graph._create_tensor_id(f"out{i}") for i in range(results)}
        settings = get_current_context()._get_op_settings(name)
        module, _, name = next(row for row in _known_ops.ROWS if row.endswith(f".{name}")).partition(".")
        assert custom_ops.find("another_" + module, name) is None
        made = custom_ops.find("package." + module, name).createOpInGraph(graph._pb_graph, {i: t.id for i, t in enumerate(operands)}, ids, *arguments, settings=settings, **named)
        assert [made.outTensor(i).id for i in range(results)] == list(ids.values())
        return [popxl.Tensor._from_pb_tensor(made.outTensor(i)) for i in range(results)]

    return create


def replicas(n, build, *data):
    """What `build` returns of one tensor for each replica's data: arrays (n, ...)."""
    ir = popxl.Ir(replication=n)
    with ir.main_graph, popxl.in_sequence():
        ins = [popxl.h2d_stream(d.shape[1:], popxl.dtype.as_dtype(d.dtype), f"in{i}") for i, d in enumerate(data)]
        outs = []
        for t in build(*[ops.host_load(s) for s in ins]):
            outs.append(popxl.d2h_stream(t.shape, t.dtype))
            ops.host_store(outs[-1], t)
    with popxl.Session(ir, "interpreter") as session:
        run = session.run({s: d if n > 1 else d[0] for s, d in zip(ins, data)})
    return [run[s] for s in outs]


def test_known_collectives(known):
    x = np.arange(4 * 2 * 3, dtype=np.float32).reshape(4, 2, 3)

    def build(t):
        (total,) = known("ReplicatedAllReduceStridedOp", [t], "add", 2, 2, False, False)
        (all_of,) = known("ReplicatedAllGatherStridedOp", [t], 2, 2)
        (part,) = known("ReplicatedReduceScatterStridedOp", [t], "add", 2, 2, False)
        return total, all_of, part

    total, all_of, part = replicas(4, build, x)
    for r in range(4):
        pair = x[r % 2::2]
        np.testing.assert_array_equal(total[r], pair.sum(0))
        np.testing.assert_array_equal(all_of[r], pair.flatten())
        np.testing.assert_array_equal(part[r], pair.sum(0).flatten()[3 * (r // 2):3 * (r // 2) + 3])


def test_known_all_reduce_has_gradients(known):
    x = np.arange(4, dtype=np.float32).reshape(4, 1) + 1
    for copies, equal_gradients, expected in ((False, False, 10), (True, False, 10), (False, True, None)):
        def build(t):
            graph = popxl.gcg().ir.create_graph(
                lambda t: known("ReplicatedAllReduceTPOp", [t], "add", popxl.gcg().ir.replica_grouping()._pb_replica_grouping, copies, equal_gradients)[0], t)
            gradient = transforms.autodiff(graph)
            return *ops.call(graph, t), *ops.call(gradient.graph, t)

        value, gradient = replicas(4, build, x)
        np.testing.assert_array_equal(value, x if copies else np.full((4, 1), 10))
        np.testing.assert_array_equal(gradient, x if expected is None else np.full((4, 1), expected))


def test_known_gather_of_a_sharded_variable(known):
    """The operand is the replica's shard, though the tensor of its id is a variable."""
    whole = np.arange(8, dtype=np.float32).reshape(4, 2)
    ir = popxl.Ir(replication=2)
    with ir.main_graph, popxl.in_sequence():
        _, shard = popxl.replica_sharded_variable(whole, popxl.float32, "w")
        (gathered,) = known("ReplicatedAllGatherStridedOp", [shard], 1, 2)
        assert gathered.shape == (4, 2)
        stream = popxl.d2h_stream((4, 2), popxl.float32)
        ops.host_store(stream, gathered)
    with popxl.Session(ir, "interpreter") as session:
        np.testing.assert_array_equal(session.run()[stream], [whole, whole])


def test_known_layer_norm_of_shards(known):
    whole = np.random.default_rng(1).normal(2, 3, (5, 8)).astype(np.float32)
    shards = np.stack([whole[:, :4], whole[:, 4:]])

    def build(t):
        w, b = popxl.constant(np.full(4, 3, np.float32)), popxl.constant(np.full(4, 1, np.float32))
        return known("LayerNormDistributedOp", [t, w, b], 1e-5, popxl.gcg().ir.replica_grouping()._pb_replica_grouping, results=3)

    out, mean, inverse = replicas(2, build, shards)
    deviation = np.sqrt(whole.var(1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(np.concatenate(list(out), axis=1), 3 * (whole - whole.mean(1, keepdims=True)) / deviation + 1, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(mean[0], whole.mean(1), rtol=1e-5)
    np.testing.assert_allclose(inverse[1], 1 / deviation[:, 0], rtol=1e-5)


def test_known_cross_entropy_of_shards(known):
    logits = np.random.default_rng(2).normal(0, 4, (6, 8)).astype(np.float32)
    labels = np.array([0, 3, 4, 7, 5, 2], np.int32)
    shards, local = np.stack([logits[:, :4], logits[:, 4:]]), np.stack([labels, labels - 4])

    def build(t, l):
        return known("CrossEntropyShardedOp", [t, l], group=popxl.gcg().ir.replica_grouping()._pb_replica_grouping, availableMemoryProportion=0.4, results=2)

    loss, softmax = replicas(2, build, shards, local)
    expected = np.exp(logits - logits.max(1, keepdims=True))
    expected /= expected.sum(1, keepdims=True)
    np.testing.assert_allclose(np.concatenate(list(softmax), axis=1), expected, rtol=1e-5)
    np.testing.assert_allclose(loss[0], -np.log(expected[np.arange(6), labels]), rtol=1e-5)
    np.testing.assert_array_equal(loss[0], loss[1])


def test_known_rotary_position_embedding(known):
    t = np.random.default_rng(3).normal(0, 1, (1, 2, 3, 4, 6)).astype(np.float32)
    angles = np.arange(6, dtype=np.float32).reshape(1, 3, 2)

    def build(x):
        return known("RotaryPosEmbedOp", [x, popxl.constant(np.sin(angles)), popxl.constant(np.cos(angles))], 4)

    (out,) = replicas(1, build, t)
    complex_pairs = t[0][..., 0:4:2] + 1j * t[0][..., 1:4:2]
    turned = complex_pairs * np.exp(1j * angles)[:, :, None, :]
    np.testing.assert_allclose(out[..., 0:4:2], turned.real, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(out[..., 1:4:2], turned.imag, rtol=1e-4, atol=1e-6)
    np.testing.assert_array_equal(out[..., 4:], t[0][..., 4:])


def test_known_scaled_sum_of_squares(known):
    t = np.arange(6, dtype=np.float16).reshape(1, 2, 3)
    (out,) = replicas(1, lambda x: known("GradReduceSquareAddOp", [x, popxl.constant(0.5, popxl.float32)]), t)
    assert out == 27.5


def test_version():
    assert popart.versionString().startswith(popxl.__version__)
    assert len(popart.versionNumber()) == 3
