"""Functions of popxl.ops: all are there, and say what their rows say."""
import importlib
import inspect

import numpy as np
import pytest

import popart
import popxl
import popxl.ops as ops
from popxl import _core

ELEMENTWISE = """abs add add_ ceil clamp clip cos cast detach detach_ div equal exp exp_ floor fmod gelu gelu_ geluerf geluerf_ greater identity increment_mod
    increment_mod_ isfinite isinf isnan log log2 logical_and logical_not logical_or maximum mul negate pow pow2scale_cast_from_fp8 pow2scale_cast_to_fp8 relu
    relu_ rename scaled_add scaled_add_ sign sin sqrt sub swish swish_ tanh where"""
SHAPES = """argmax argmin concat concat_ cumsum dynamic_slice dynamic_update dynamic_update_ flatten flatten_ gather groupedgather histogram l1 l2 lamb_square
    logsum logsumexp max mean median min onehot prod reshape reshape_ scatter scatter_reduce slice slice_ split squeeze subsample sum sumsquare tied_gather topk
    transpose transpose_"""
NETWORKS = """average_pool batch_norm_inference conv conv_pow2scaled conv_transpose conv_transpose_pow2scaled dropout group_norm interpolate layer_norm matmul
    matmul_pow2scaled max_pool nll_loss nll_loss_with_softmax_grad random_normal random_uniform roi_align shaped_dropout softmax split_random_seed"""
PROGRAMS = """call call_with_info conditional conditional_with_info host_load host_store init io_tile_copy ipu_copy print_tensor remote_code_load remote_load
    remote_load_ remote_store repeat repeat_with_info"""
UPDATES = """accumulate_ accumulate_mean_ accumulate_moving_average_ accumulate_moving_average_square_ accumulate_square_ accumulator_scale_ accumulator_zero_
    adam_updater adam_var_update adamax_updater copy_var_update_ lamb_updater sparse_accumulate_"""
COLLECTIVES = """all_reduce all_reduce_identical_inputs all_reduce_identical_grad_inputs replicated_all_gather replicated_all_reduce replicated_all_reduce_
    replicated_reduce_scatter replica_sharded_slice replicated_slice"""


@pytest.mark.parametrize("names, place", [(ELEMENTWISE, ops), (SHAPES, ops), (NETWORKS, ops), (PROGRAMS, ops), (UPDATES, ops.var_updates),
                                          (COLLECTIVES, ops.collectives)], ids=["elementwise", "shapes", "networks", "programs", "updates", "collectives"])
def test_functions_are_there(names, place):
    missing = [n for n in names.split() if not callable(getattr(place, n, None))]
    assert not missing
    assert all(len(inspect.getdoc(getattr(place, n))) > 10 for n in names.split())


def test_rows_have_their_functions():
    for row in _core.op_table():
        if not row["signature"]:
            continue
        name = row["signature"].split("(")[0]
        function = getattr(importlib.import_module("popxl.ops." + row["module"]), name)
        wanted = [p.split(":")[0].split("=")[0].strip(" *") for p in _parameters(row["signature"])]
        assert list(inspect.signature(function).parameters) == wanted, name


def _parameters(signature):
    """The texts between the commas of the outermost brackets."""
    inside, depth, parts = signature[signature.index("(") + 1:signature.rindex(") ->")], 0, [""]
    # Brackets in quotes are defaults.
    inside = inside.replace("'['", "").replace("']'", "")
    for c in inside:
        depth += (c in "[(") - (c in ")]")
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return [p for p in parts if p.strip()]


def test_modules_beside_functions():
    import popxl.ops.call
    from popxl.ops.call import CallSiteInfo  # noqa: F401
    from popxl.ops.code_copy import CODE_LOCATION, code_copy  # noqa: F401
    from popxl.ops.collectives.collectives import CommGroup, CommGroupType, to_collective_op  # noqa: F401
    from popxl.ops.conv import PadType  # noqa: F401
    from popxl.ops.negative_log_likelihood import REDUCTION_TYPE  # noqa: F401
    from popxl.ops.random_seed import create_random_seed  # noqa: F401
    from popxl.ops.scatter_reduce import grouped_scatter_reduce  # noqa: F401
    from popxl.ops.utils import check_in_graph  # noqa: F401

    assert ops.call is popxl.ops.call and inspect.isfunction(ops.call)


def rejected(error, match, make):
    with pytest.raises(error, match=match or None):
        make()


def test_arguments_are_checked(main):
    x = popxl.variable(np.zeros((2, 3), np.float32))
    seed = popxl.variable(np.zeros(2, np.uint32))
    one = popxl.constant(1.0)
    for make in (lambda: ops.reshape(x, (-1, -1)), lambda: ops.reshape(x, (-2, 3)), lambda: ops.reshape(x, (5, -1)), lambda: ops.transpose(x, (0, 2)),
                 lambda: ops.squeeze(x, [0]), lambda: ops.squeeze(x, [0, 0]), lambda: ops.split(x, 2, 1),
                 lambda: ops.slice(x, [0, 1], [1]), lambda: ops.subsample(x, [1, 1, 1]), lambda: ops.dropout(x, x, 0.5), lambda: ops.histogram(x, [1, 1], False),
                 lambda: ops.init((2,), popxl.float32, init_type="ones"), lambda: ops.nll_loss(x, x, reduction="max"),
                 lambda: ops.scatter_reduce(x, x, "mean", axis_size=2), lambda: ops.scatter_reduce(x, x, "sum"),
                 lambda: ops.interpolate(x, mode="quadratic"), lambda: ops.max_pool(x, (1, 1), auto_pad="full"),
                 lambda: ops.collectives.replicated_all_reduce(x, "sub"), lambda: ops.collectives.replicated_all_gather(x, 2),
                 lambda: ops.collectives.replicated_slice(x, 2), lambda: ops.remote_code_load(main, "executable"),
                 lambda: ops.var_updates.adam_updater(x, x, weight_decay=0.1), lambda: ops.var_updates.adam_updater(x, x, time_step=one),
                 lambda: ops.var_updates.adamax_updater(x, x), lambda: ops.ipu_copy(popxl.variable(1.0), 1),
                 lambda: ops.host_store(popxl.d2h_stream((2,), popxl.float32), x)):
        rejected(ValueError, "", make)
    for make in (lambda: ops.concat([x, seed]), lambda: ops.cast(x, popxl.float8_143), lambda: ops.matmul_pow2scaled(x, x, one), lambda: ops.reshape(1, (1,)),
                 lambda: ops.host_load(x), lambda: ops.collectives.replicated_all_reduce(x, "add", 2)):
        rejected(TypeError, "", make)
    rejected(KeyError, "float_format", lambda: ops.print_tensor(x, float_format="hex"))
    rejected(NotImplementedError, "", lambda: ops.remote_code_load(main.ir.create_empty_graph(), "io_buffer"))
    rejected(popart.popart_exception, "split", lambda: ops.split(x, [1, 2], 0))
    rejected(popart.popart_exception, "add", lambda: ops.add(x, popxl.variable(np.zeros(4, np.float32))))


def test_indexing(main, run):
    data = np.arange(24, dtype=np.float32).reshape(4, 6)
    x = popxl.variable(data)
    index = popxl.variable(np.array([3, 0], np.int32))
    keys = [1, -1, (1, 2), slice(1, 3), (slice(None), slice(4, 1, -1)), (slice(None, None, 2), 3), slice(None, None, -1), (slice(3, 0, -2),), [2, 0]]
    results = run(*[x[k] for k in keys], x[index], x[data[0] > 2])
    for key, result in zip(keys, results):
        assert result.tolist() == data[key].tolist(), key
    assert results[-2].tolist() == data[[3, 0]].tolist()
    assert results[-1].tolist() == np.where(data[0] > 2, data, 0).tolist()
    for key in ("a", True, 1.0, None):
        rejected(TypeError, "", lambda key=key: x[key])
    rejected(IndexError, "", lambda: x[4])


def test_operators(main, run):
    a, b = np.array([7.0, -7.0], np.float32), np.array([2.0, 2.0], np.float32)
    x, y = popxl.variable(a), popxl.variable(b)
    results = run(x + y, x - y, x * y, x / y, x % y, -x, x**2, 1 - x, 2 / x, [1.0, 2.0] + x, x.T, x @ y, ~x)
    wanted = [a + b, a - b, a * b, a / b, np.fmod(a, b), -a, a**2, 1 - a, 2 / a, a + [1, 2], a, a @ b, a == 0]
    for result, want in zip(results, wanted):
        np.testing.assert_allclose(result, want, rtol=1e-6)


def test_results_of_collectives_are_named_after_their_tensors():
    """Programs sort tensors by name, and expect reduced and gathered ones in the same order."""
    ir = popxl.Ir(replication=2)
    with ir.main_graph, popxl.name_scope("layer"):
        t = popxl.variable(np.zeros(4, np.float32), name="b")
        group = ops.collectives
        assert [r.name for r in (group.replicated_all_reduce(t), group.replicated_all_reduce_(t), group.replicated_all_gather(t), group.replicated_reduce_scatter(t),
                                 group.replica_sharded_slice(t), group.replicated_slice(t))] == [
            "layer/b_all_reduce", "layer/b_all_reduce__t0", "layer/b_all_gather", "layer/b_reduce_scatter", "layer/b_shard", "layer/b_slice"]


def test_infinities_become_nan_in_float8():
    from popxl.fp8_utils import host_pow2scale_cast_to_fp8
    for dtype in (popxl.float8_143, popxl.float8_152):
        numbers = np.array([np.inf, -np.inf, 1e39, -1e39, 1.0])
        codes = host_pow2scale_cast_to_fp8(numbers, dtype, nan_on_overflow=False).view(np.uint8)
        assert codes[:4].tolist() == [0x80, 0x80, 0x7f, 0xff]
        assert host_pow2scale_cast_to_fp8(np.array(np.inf), dtype).view(np.uint8) == 0x80


DEVICES = ["interpreter", "cpu", "ipu_model"]


def results(device, build):
    """What one run on a device stores of the tensors that `build` makes."""
    ir = popxl.Ir()
    with ir.main_graph:
        tensors = build()
        streams = [popxl.d2h_stream(t.shape, t.dtype) for t in tensors]
        for stream, t in zip(streams, tensors):
            ops.host_store(stream, t)
    with popxl.Session(ir, device) as session:
        found = session.run()
    return [found[s] for s in streams]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("a,b", [((0, 3), (3, 4)), ((3, 4), (4, 0)), ((2, 0), (0, 4)), ((2, 0, 3), (3, 4)), ((0, 2, 3), (0, 3, 4)), ((2, 0, 3), (2, 3, 4))])
def test_products_of_matrices_without_rows_or_columns(device, a, b):
    (y,) = results(device, lambda: [popxl.variable(np.ones(a, np.float32)) @ popxl.variable(np.ones(b, np.float32))])
    expected = np.ones(a) @ np.ones(b)
    assert y.shape == expected.shape and (y == expected).all()


@pytest.mark.parametrize("device", DEVICES)
def test_parts_and_signs(device):
    rows = np.arange(35, dtype=np.float32).reshape(5, 7)

    def build():
        t, none = popxl.variable(rows), popxl.variable(np.zeros((0, 3), np.float32))
        numbers = popxl.variable(np.float32([np.nan, -2, 3, 0]))
        return [ops.subsample(t, 2), ops.subsample(t, [2, 3]), t[[-1, 0]], t[np.array([4, -5], np.int8)], ops.sign(numbers),
                ops.scatter(none, popxl.constant(np.zeros((0, 3), np.int32)), none)]

    halves, parts, chosen, also_chosen, signs, scattered = results(device, build)
    assert (halves == rows[::2]).all() and (parts == rows[::2, ::3]).all()
    assert (chosen == rows[[-1, 0]]).all() and (also_chosen == rows[[4, -5]]).all()
    assert signs.tolist() == [0, -1, 1, 0] and scattered.shape == (0, 3)


@pytest.mark.parametrize("device", ["cpu", "ipu_model"])
def test_rows_that_are_ignored_may_hold_anything(device):
    probabilities = np.array([[0.25, 0.75], [np.nan, 1], [np.inf, 0]], np.float32)
    ir = popxl.Ir()
    with ir.main_graph:
        loss, gradient = ops.nll_loss_with_softmax_grad(popxl.variable(probabilities), popxl.variable(np.array([0, 1, 1], np.int32)), ignore_index=1)
        streams = [popxl.d2h_stream(t.shape, t.dtype) for t in (loss, gradient)]
        for stream, t in zip(streams, (loss, gradient)):
            ops.host_store(stream, t)
    with popxl.Session(ir, device) as session:
        results = session.run()
    np.testing.assert_allclose(results[streams[0]], -np.log(0.25), rtol=1e-5)
    np.testing.assert_array_equal(results[streams[1]], [[-0.75, 0.75], [0, 0], [0, 0]])
