"""A transform that is rejected leaves the program as it was, and the next one works."""
import numpy as np
import popxl
import pytest
from popxl import ops, transforms


def layer(x, w):
    return ops.tanh(ops.gelu(x @ w))


def graphs():
    """A program with a graph that calls another one."""
    ir = popxl.Ir()
    with ir.main_graph:
        x, w = popxl.variable(np.ones((2, 2), np.float32)), popxl.variable(np.ones((2, 2), np.float32))

        def outer(x, w, unused):
            inner = ir.create_graph(layer, x, w)
            return ops.call(inner, x, w)

        graph = ir.create_graph(outer, x, w, x)
    return ir, graph


def missing_gradient(ir, graph):
    transforms.autodiff(graph)


def foreign_tensor(ir, graph):
    transforms.autodiff(graph, grads_required=[ir.main_graph.variables[0]])


def nothing_required(ir, graph):
    transforms.autodiff(graph, grads_required=[])


def two_groups_of_exchanges(ir, graph):
    with ir.main_graph, transforms.io_tile_exchange():
        x = ops.host_load(popxl.h2d_stream((2, 2), popxl.float32))
        ops.host_store(popxl.d2h_stream((2, 2), popxl.float32), x)


def no_graph(ir, graph):
    transforms.decompose_sum(3)


REJECTED = [missing_gradient, foreign_tensor, nothing_required, no_graph, two_groups_of_exchanges]


def test_each_transform_is_rejected_here():
    names = {n for n in dir(transforms) if not n.startswith("_") and callable(getattr(transforms, n)) and n.islower()}
    assert names - {"autodiff", "autodiff_with_accumulation", "decompose_sum", "merge_exchange", "io_tile_exchange"} == set()


@pytest.mark.parametrize("transform", REJECTED)
def test_a_rejected_transform_leaves_the_program_as_it_was(transform):
    ir, graph = graphs()
    if transform is two_groups_of_exchanges:  # the ops are the user's; nothing of them is merged
        with pytest.raises(RuntimeError):
            transform(ir, graph)
        assert ir._merged_exchanges == []
        return
    before = ir._program.text()
    for _ in range(2):
        with pytest.raises(Exception):
            transform(ir, graph)
        assert ir._program.text() == before
    info = transforms.autodiff(graph, grads_required=graph.inputs[:2])
    assert len(info.outputs) == 2
