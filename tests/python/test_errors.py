"""What a program that is wrong is told: the op, the shapes, the line."""
import inspect

import numpy as np
import popart
import popxl
import pytest
from popxl import ops


def line():
    """Of the caller."""
    return inspect.currentframe().f_back.f_lineno


def ones(*shape, dtype=np.float32, **arguments):
    return popxl.variable(np.ones(shape, dtype), **arguments)


def test_an_op_that_does_not_fit_names_itself_its_operands_and_its_line():
    ir = popxl.Ir()
    with ir.main_graph:
        x, w = ones(4, 8), ones(16, 8)
        with pytest.raises(popart.popart_exception) as error:
            at = line() + 1
            x @ w
        text = str(error.value)
        assert text.startswith("matmul(Tensor[(4, 8), float32], Tensor[(16, 8), float32]): ")
        assert f"  at {__file__}:{at} [matmul-inner]" in text
        with pytest.raises(popart.popart_exception) as error:
            at = line() + 1
            ops.add_(x, ones(3, 8))
        assert str(error.value).startswith("add_(Tensor[(4, 8), float32], Tensor[(3, 8), float32]): ") and f"{__file__}:{at}" in str(error.value)


def test_a_called_graph_names_the_input():
    ir = popxl.Ir()
    with ir.main_graph:
        graph = ir.create_graph(lambda x, w: ops.relu(x @ w), ones(2, 3), ones(3, 4))
        with pytest.raises(popart.popart_exception, match=r"(?s)input 1 of graph .* \('w'\) is a Tensor\[\(3, 4\), float32.*a Tensor\[\(5, 4\), float32.*test_errors.py:") as error:
            ops.call(graph, ones(2, 3), ones(5, 4))
        assert str(error.value).startswith("call(")


def test_what_is_no_tensor_is_named_with_the_op_in_place_or_not():
    ir = popxl.Ir()
    with ir.main_graph:
        x = ones(2)
        with pytest.raises(TypeError, match="^add_: 1 of type int is no tensor"):
            ops.add_(x, 1)
        with pytest.raises(TypeError, match="^relu: 'a' of type str is no tensor"):
            ops.relu("a")
        with pytest.raises(TypeError, match="'x' of type str cannot become a tensor of popxl.dtypes.float32 beside Variable"):
            x + "x"


@pytest.mark.parametrize("device", ["cpu", "ipu_model"])
def test_types_that_tiles_do_not_have_are_refused_with_the_op(device):
    ir = popxl.Ir()
    with ir.main_graph:
        x = ones(2, 3, dtype=np.float64, downcast=False)
        assert x.dtype == popxl.float64
        at = line() + 1
        y = ops.sin(x)
        ops.host_store(popxl.d2h_stream(y.shape, y.dtype), y)
    with pytest.raises(popart.popart_exception) as error:
        popxl.Session(ir, device)
    assert str(error.value).startswith("sin 'sin_out' (Tensor[(2, 3), float64") and f"  at {__file__}:{at} " in str(error.value)
    # Without a word about types NumPy's float64 is float32.
    with popxl.Ir().main_graph:
        assert ones(2, dtype=np.float64).dtype == popxl.float32


def test_float8_is_cast_with_a_scale():
    with popxl.Ir().main_graph:
        scale = popxl.constant(0, popxl.int32)
        x = ops.pow2scale_cast_to_fp8(ones(2, dtype=np.float16), scale, popxl.float8_143)
        with pytest.raises(TypeError, match="pow2scale_cast_from_fp8"):
            ops.cast(x, popxl.float32)
        assert ops.pow2scale_cast_from_fp8(x, scale, popxl.float16).dtype == popxl.float16
