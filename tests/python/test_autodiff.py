"""Gradients, and what is known of them."""
import numpy as np
import pytest

import popart
import popxl
import popxl.ops as ops
from popxl.transforms.autodiff import ExpectedConnectionType


class Layer(popxl.Module):
    def build(self, x):
        self.w = popxl.graph_input((2, 2), popxl.float32, "w")
        return ops.tanh(x @ self.w)


def test_gradients_of_a_layer(main, run):
    random = np.random.default_rng(1)
    data, weight, seed = (random.normal(size=(2, 2)).astype(np.float32) for _ in range(3))
    x, w, g = popxl.variable(data), popxl.variable(weight), popxl.variable(seed)
    layer = Layer()
    graph = main.ir.create_graph(layer, x)
    forward = ops.call_with_info(graph, x, inputs_dict={layer.w: w})
    info = popxl.transforms.autodiff(graph, grads_required=[layer.w, graph.inputs[0]])
    assert info.forward_graph == graph and info.outputs == (layer.w, graph.inputs[0])
    assert info.expected_inputs[0].connection_type is ExpectedConnectionType.FwdGrad
    assert info.graph.name == graph.name + "_bwd"
    backward = ops.call_with_info(info.graph, g, inputs_dict=info.inputs_dict(forward))
    gradients = info.fwd_parent_ins_to_grad_parent_outs(forward, backward)
    assert set(gradients) == {w, x} and info.fwd_graph_ins_to_grad_parent_outs(backward)[layer.w] == gradients[w]
    dw, dx = run(gradients[w], gradients[x])
    inner = seed * (1 - np.tanh(data @ weight)**2)
    np.testing.assert_allclose(dw, data.T @ inner, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(dx, inner @ weight.T, rtol=1e-5, atol=1e-6)
    with pytest.raises(TypeError):
        info.inputs_dict(backward)


def test_gradients_of_called_graphs(main):
    x = popxl.variable(np.ones(2, np.float32))
    inner = main.ir.create_graph(lambda t: ops.tanh(t), x)
    outer = main.ir.create_graph(lambda t: ops.call(inner, t)[0] * t, x)
    everything = popxl.transforms.autodiff(outer, return_all_grad_graphs=True)
    assert set(everything) == {inner, outer}
    again = popxl.transforms.autodiff(outer, called_graphs_grad_info={inner: everything[inner]})
    assert everything[inner].graph in again.graph.called_graphs


def test_what_cannot_be_is_rejected(main):
    x = popxl.variable(np.ones(2, np.float32))
    graph = main.ir.create_graph(lambda t: ops.detach(t) * 1, x)
    for arguments in ({}, {"grads_required": []}, {"grads_required": [x]}):
        with pytest.raises(popart.popart_exception):
            popxl.transforms.autodiff(graph, **arguments)

    def changes(t):
        t += 1
        return t

    with pytest.raises(popart.popart_exception, match="modifying op"):
        popxl.transforms.autodiff(main.ir.create_graph(changes, x))
    with pytest.raises(TypeError):
        popxl.transforms.GradGraphInfo()


def kinds(graph):
    program = graph._ir._program
    return [program.op_kind(op) for op in program.graph_ops(graph._index)]


def test_sums_of_gradients_become_additions():
    results = []
    for decomposed in (False, True):
        ir = popxl.Ir()
        with ir.main_graph, popxl.in_sequence():
            x = popxl.variable(np.arange(1, 5, dtype=np.float32))
            graph = ir.create_graph(lambda t: t * ops.exp(t) + ops.sin(t) * t, x)
            gradient = popxl.transforms.autodiff(graph)
            if decomposed:
                assert "add_n" in kinds(gradient.graph)
                assert popxl.transforms.decompose_sum(gradient.graph) is gradient.graph
                assert "add_n" not in kinds(gradient.graph)
            forward = ops.call_with_info(graph, x)
            (dx,) = ops.call(gradient.graph, popxl.constant(np.ones(4, np.float32)), inputs_dict=gradient.inputs_dict(forward))
            d2h = popxl.d2h_stream(dx.shape, dx.dtype)
            ops.host_store(d2h, dx)
        with popxl.Session(ir, "cpu") as session:
            results.append(session.run()[d2h])
    np.testing.assert_allclose(results[0], results[1], rtol=1e-6)
