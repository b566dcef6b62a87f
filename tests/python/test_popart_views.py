"""Views of programs: popart._internal.ir."""
import numpy as np
import popart._internal.ir as _ir
import popxl
import pytest
from popxl import ops


def types(graph):
    return [op.opType() for op in graph._pb_graph.getOps()]


def test_ops_have_types_and_classes():
    ir = popxl.Ir()
    with ir.main_graph:
        a = popxl.variable(np.ones((2, 2)), name="a")
        b = ops.softmax(a, 1) @ a
        ops.add_(b, a)
    assert types(ir.main_graph) == ["Softmax", "MatMul", "AddLhsInplace"]
    softmax, product, add = ir.main_graph._pb_graph.getOps()
    assert isinstance(softmax, _ir.op.SoftmaxOp) and isinstance(product, _ir.op.MatMulOp) and isinstance(add, _ir.op.AddLhsInplaceOp)
    assert not isinstance(softmax, _ir.op.MatMulOp) and isinstance(softmax, _ir.Op)
    assert product.inTensor(1).id == "a" and product.inTensor(1) == a._pb_tensor
    assert product.inTensor(0).getProducer() == softmax and not a._pb_tensor.hasProducer()
    assert add.modifiesIndex(0) and not add.modifiesIndex(1) and not product.modifiesIndex(0)
    assert [op.id for op in a._pb_tensor.consumers.getOps()] == [softmax.id, product.id, add.id]


def test_views_lead_back():
    ir = popxl.Ir()
    with ir.main_graph:
        a = popxl.variable(1, name="a")
        c = popxl.constant(2)
        g = ir.create_graph(lambda x: x + 1, a)
    assert popxl.Ir._from_pb(ir._pb_ir) is ir
    assert popxl.Graph._from_pb(g._pb_graph) == g
    assert isinstance(popxl.Tensor._from_pb_tensor(a._pb_tensor), popxl.tensor.Variable)
    assert isinstance(popxl.Tensor._from_pb_tensor(c._pb_tensor), popxl.tensor.Constant)
    assert a._pb_tensor.tensorType() == _ir.TensorType.Variable and c._pb_tensor.tensorType() == _ir.TensorType.Const
    assert [str(view.id) for view in ir._pb_ir.getAllGraphs()] == ["", g.name]
    assert g._pb_graph.getInputTensor(0) == g.inputs[0]._pb_tensor
    assert g._pb_graph.getOutputIndex(g.outputs[0].id) == 0
    with pytest.raises(ValueError):
        g._pb_graph.getTensor("nothing")


def test_calls():
    ir = popxl.Ir()

    def twice(x: popxl.TensorByRef, y: popxl.Tensor):
        x += y
        return y + y

    with ir.main_graph:
        a, b = popxl.variable(1, name="a"), popxl.variable(2, name="b")
        g = ir.create_graph(twice, a, b)
        call = ops.call_with_info(g, a, b)._op
        loop = ops.repeat_with_info(ir.create_graph(lambda x: x + 1, a), 3, a)._op
    assert isinstance(call, _ir.op.CallOp) and call.getCalledGraph() == g._pb_graph and not hasattr(call, "getTripCountValue")
    assert call.modifiesIndex(0) and not call.modifiesIndex(1) and len(call.getOutputTensors()) == 1
    assert isinstance(loop, _ir.op.LoopOp) and loop.getTripCountValue() == 3 and loop.opInToSubgraphInIndex(2) == 0
    assert loop.inTensor(2) == a._pb_tensor
    assert not hasattr(g._pb_graph.getOps()[0], "getCalledGraph")


def test_an_erased_modification_is_undone():
    ir = popxl.Ir()
    with ir.main_graph:
        a = popxl.variable(1.0)
        ops.add_(a, popxl.constant(5.0))
        d2h = popxl.d2h_stream((), popxl.float32)
        ops.host_store(d2h, a)
        view = ir.main_graph._pb_graph
        view.eraseOp(view.getOps()[0].id)
    with popxl.Session(ir, "ipu_model") as session:
        assert session.run()[d2h] == 1
    assert session.get_tensor_data(a) == 1


def test_ops_move_into_another_graph():
    ir = popxl.Ir()
    with ir.main_graph:
        a = popxl.variable(1.0, name="a")
        b = a + 2.0
        view = ir.main_graph._pb_graph
        (op,) = view.getOps()
        g = ir.create_empty_graph("moved")
        with g:
            x, y = popxl.graph_input((), popxl.float32, "x"), popxl.graph_input((), popxl.float32, "y")
        clone = op.cloneIntoGraph(g._pb_graph)
        clone.connectInTensor(0, x.id)
        clone.connectInTensor(1, y.id)
        clone.createAndConnectOutTensor(0, g._create_tensor_id("sum"))
        clone.setup()
        with g:
            popxl.graph_output(popxl.Tensor._from_pb_tensor(clone.outTensor(0)))
        (o,) = ops.call(g, b, 10.0)
        d2h = popxl.d2h_stream((), popxl.float32)
        ops.host_store(d2h, o)
    assert types(g) == ["Add"]
    with popxl.Session(ir, "ipu_model") as session:
        assert session.run()[d2h] == 13


def test_options_of_convolutions_are_copies():
    ir = popxl.Ir()
    with ir.main_graph:
        ops.conv(popxl.variable(np.ones((1, 1, 3, 3))), popxl.variable(np.ones((1, 1, 1, 1))))
    (op,) = ir.main_graph._pb_graph.getOps()
    options = op.getConvOptions()
    options.availableMemoryProportions = [0.5]
    assert op.getConvOptions().availableMemoryProportions == []
    op.setConvOptions(options)
    assert op.getConvOptions().availableMemoryProportions == [0.5]


def test_the_schedule_keeps_little_alive():
    ir = popxl.Ir()
    with ir.main_graph:
        small, big = popxl.variable(1), popxl.variable(np.ones((8, 8)))
        big + 1
        small + 1
        with popxl.in_sequence():
            big + 1
            small + 1
    made = [op.id for op in ir.main_graph._pb_graph.getOps()]
    run = [op.id for op in ir.main_graph._pb_graph.getOpSchedule()]
    assert run.index(made[1]) < run.index(made[0]) and run.index(made[2]) < run.index(made[3])
