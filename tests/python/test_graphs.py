"""Graphs: how they are made, called and repeated."""
from typing import List

import numpy as np
import pytest

import popart
import popxl
import popxl.ops as ops


def add_fn(x, value):
    return x + value


def test_contexts_nest_and_are_restored_after_errors():
    ir = popxl.Ir()
    with pytest.raises(RuntimeError):
        popxl.gcg()
    with ir.main_graph:
        inner = ir.create_empty_graph("inner")
        with pytest.raises(KeyError):
            with inner, popxl.ipu(1), popxl.io_tiles(), popxl.in_sequence(), popxl.name_scope("a"):
                raise KeyError("x")
        assert popxl.gcg() == ir.main_graph
        t = popxl.constant(1) + 1
        assert (t.ipu, t.tile_set, t.name) == (0, "compute", "add_out")
    with pytest.raises(RuntimeError):
        popxl.gmg()


def test_graphs_of_two_programs_do_not_nest():
    one, other = popxl.Ir(), popxl.Ir()
    with one.main_graph, pytest.raises(RuntimeError):
        with other.main_graph:
            pass


def test_arguments_become_inputs(main):
    def fn(a, bs: List[popxl.TensorByRef], n, *rest, k: popxl.TensorByRef, **more):
        return [a, *bs, *rest, k, *more.values()]

    x = popxl.variable(1.0)
    g = main.ir.create_graph(fn, x, [x, x.spec], 3, x, k=x, z=x)
    assert g.name == "test_arguments_become_inputs.fn_subgraph(0)"
    assert [t.name for t in g.inputs] == ["a", "bs_0", "bs_1", "rest_0", "k", "z"]
    assert {t.name for t in g._by_ref_inputs} == {"bs_0", "bs_1", "k"}
    assert g.inputs == g.outputs


@pytest.mark.parametrize("args, error", [((1,), ValueError), (([1],), ValueError)])
def test_results_must_be_tensors(main, args, error):
    with pytest.raises(error):
        main.ir.create_graph(lambda x: x, *args)


def test_mixed_lists_and_wrong_arguments_are_rejected(main):
    x = popxl.variable(1.0)
    with pytest.raises(TypeError):
        main.ir.create_graph(lambda xs: xs[0], [x, 1])
    with pytest.raises(ValueError):
        main.ir.create_graph(add_fn, x)
    with pytest.raises(TypeError):
        main.ir.create_graph(3)


def test_call_goes_by_value(main, run):
    def fn(x):
        x += 1
        return x + 0

    x = popxl.variable(1.0)
    g = main.ir.create_graph(fn, x)
    with popxl.in_sequence():
        (y,) = ops.call(g, x)
        result = run(x, y)
    assert result == [1, 2]


def test_modified_inputs_come_back(main, run):
    def fn(x: popxl.TensorByRef, y):
        x += 1
        y += 10

    x, y, z = (popxl.variable(float(i), name=n) for i, n in enumerate("xyz"))
    g = main.ir.create_graph(fn, x, y)
    with popxl.in_sequence():
        ops.call(g, x, y)
        info = ops.call_with_info(g, x, z)
        info.set_parent_input_modified(z)
        assert run(x, y, z) == [2, 1, 12]
    with pytest.raises(ValueError):
        info.set_parent_input_modified(y)


def test_call_matches_inputs(main):
    x, w = popxl.variable(1.0), popxl.variable(2.0)
    g = main.ir.create_graph(add_fn, x, x)
    info = ops.call_with_info(g, 3.0, inputs_dict={g.inputs[0]: w})
    assert info.inputs[0] == w and info.inputs[1].dtype == popxl.float32
    assert info.graph_to_parent(g.inputs[0]) == w and info.parent_to_graph(w) == g.inputs[0]
    assert info.parent_output(0) == info.outputs[0]
    for bad in (lambda: ops.call(g, x), lambda: ops.call(g, x, x, x), lambda: ops.call(g, x, x, inputs_dict={g.inputs[0]: w}),
                lambda: ops.call(g, x, inputs_dict={x: w}), lambda: ops.call(g, g.inputs[0], x)):
        with pytest.raises(ValueError):
            bad()
    with pytest.raises(TypeError):
        ops.call(g, "x", x)
    with pytest.raises(IndexError):
        info.parent_input(2)
    with pytest.raises(popart.popart_exception):
        ops.call(g, popxl.variable([1.0, 2.0]), x)


def test_repeat_carries_outputs(main, run):
    x, value = popxl.variable(np.ones((2, 2), np.float32)), popxl.variable(np.ones((2, 2), np.float32))
    g = main.ir.create_graph(add_fn, x, value)
    (o,) = ops.repeat(g, 2, x, value)
    (same,) = ops.repeat(g, 0, x, value)
    info = ops.repeat_with_info(g, 2, x, value)
    assert info.graph_to_parent_input_index(0) == 2 and info.parent_input(2) == x
    three, one = run(o, same)
    assert (three == 3).all() and (one == 1).all()
    with pytest.raises(ValueError, match="^Repeat count must be >= 0"):
        ops.repeat(g, -1, x, value)
    with pytest.raises(ValueError, match="^To repeat the subgraph"):
        ops.repeat(main.ir.create_graph(lambda x: (x, x), x), 1, x)


def test_conditional_runs_one_branch(main, run):
    cond, x = popxl.variable(False), popxl.variable(1.0)
    plus = [main.ir.create_graph(lambda t, n=n: t + n, x) for n in (1, 2)]
    info = ops.conditional_with_info(cond, *plus, [x], [x])
    assert info.called_graph == tuple(plus)
    assert info.graph_to_parent_input_index(0, False) == 2 and info.is_parent_index_in_then_branch(1)
    assert run(info.outputs[0]) == 3
    with pytest.raises(ValueError):
        ops.conditional(x, *plus, [x], [x])
    with pytest.raises(NotImplementedError):
        info.set_parent_input_modified(x)


def test_errors_name_the_line_of_the_user(main):
    a, b = popxl.variable([1.0, 2.0]), popxl.variable([1.0, 2.0, 3.0])
    a + a
    assert __file__ in main.ir._program.op_location(main.ir._program.last_op())
    with pytest.raises(popart.popart_exception, match="add"):
        a + b
