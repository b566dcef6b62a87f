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
        with pytest.raises(TypeError, match="^add_: 1 of type int is not a tensor"):
            ops.add_(x, 1)
        with pytest.raises(TypeError, match="^relu: 'a' of type str is not a tensor"):
            ops.relu("a")
        with pytest.raises(TypeError, match="'x' of type str cannot become a tensor of popxl.dtypes.float32 beside Variable"):
            x + "x"


def functions():
    """(name, function, how many arguments it needs) of all ops that need one. code_copy is not offered."""
    for module in (ops, ops.collectives, ops.var_updates):
        for name, function in vars(module).items():
            if not inspect.isfunction(function) or name.startswith("_") or name == "code_copy":
                continue
            needed = [p for p in inspect.signature(function).parameters.values() if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD]
            if needed:
                yield name, function, len(needed)


@pytest.mark.parametrize("name, function, needed", list(functions()), ids=lambda x: x if isinstance(x, str) else "")
def test_every_function_names_itself(name, function, needed):
    """Not the ops that it is made of. What is one function with another one has the other's name."""
    same = {"clamp": "clip", "rename": "identity", "adamax_updater": "AdaMax", "cast": "There is no element type for None", "init": "There is no element type for None"}
    ir = popxl.Ir()
    with ir.main_graph:
        with pytest.raises((TypeError, ValueError, popart.popart_exception)) as error:
            function(*[None] * needed)
    own = same.get(name, name).removesuffix("_with_info").removesuffix("_")
    assert str(error.value).startswith(own), str(error.value)


def test_functions_of_other_rows_are_named_as_they_were_called():
    ir = popxl.Ir()
    with ir.main_graph:
        x, three, whole = ones(2, 4), ones(3), ones(2, 4, dtype=np.int32)
        buffer = popxl.remote_buffer((2, 4), popxl.float32, 1)
        with pytest.raises(popart.popart_exception, match=r"^layer_norm\(Tensor.*'weight' has shape \(3\); the data have 4 channels\n  at .*test_errors.py:"):
            ops.layer_norm(x, three, three)
        with pytest.raises(popart.popart_exception, match=r"^layer_norm\(Tensor.*data of shape \(3\); they need a batch and channels"):
            ops.layer_norm(three, three, three)
        with pytest.raises(popart.popart_exception, match=r"^group_norm\(Tensor.*4 channels do not divide into 3 groups"):
            ops.group_norm(x, ones(4), ones(4), 3)
        with pytest.raises(popart.popart_exception, match=r"^log2\(Tensor.*element type int32"):
            ops.log2(whole)
        with pytest.raises(TypeError, match="^remote_load_: 3 of type int is not a tensor"):
            ops.remote_load_(buffer, 0, 3)
    with popxl.Ir().main_graph, pytest.raises(ValueError, match="^layer_norm: .* is of another Ir"):
        ops.layer_norm(x, x, x)


def test_integers_are_integers():
    ir = popxl.Ir()
    with ir.main_graph:
        x, buffer = ones(2, 4), popxl.remote_buffer((2, 4), popxl.float32, 1)
        graph = ir.create_graph(lambda t: ops.relu(t), x)
        for call, said in ((lambda: ops.sum(x, 0.5), "sum: an axis is an integer, not 0.5 of type float"),
                           (lambda: ops.sum(x, ["0"]), "sum: an axis is an integer, not '0' of type str"),
                           (lambda: ops.concat([x, x], 1.0), "concat: an axis is an integer, not 1.0 of type float"),
                           (lambda: ops.split(x, [1.5, 2.5], 1), "split: splits: an entry is an integer, not 1.5 of type float"),
                           (lambda: ops.reshape(x, (4.0, 2)), "reshape: a dimension is an integer, not 4.0 of type float"),
                           (lambda: ops.repeat(graph, 2.5, x), "repeat: the count is an integer, not 2.5 of type float"),
                           (lambda: ops.remote_load(buffer, 0.5), "remote_load: a row of a remote buffer is an integer, not 0.5 of type float")):
            with pytest.raises(TypeError) as error:
                call()
            assert str(error.value).startswith(said), str(error.value)
        # NumPy's are integers, too.
        assert ops.sum(x, np.int64(1)).shape == (2,) and ops.sum(x, np.array([0, 1])).shape == () and ops.sum(x, np.array(1)).shape == (2,)
        assert ops.reshape(x, np.array([4, 2])).shape == (4, 2) and ops.reshape(x, np.int32(8)).shape == (8,)
        with pytest.raises(ValueError, match="^histogram: levels must increase strictly"):
            ops.histogram(x, [0.0, float("nan"), 2.0], False)


@pytest.mark.parametrize("device", ["cpu", "ipu_model"])
def test_types_that_tiles_do_not_have_are_rejected_with_the_op(device):
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


def a_program(value):
    ir = popxl.Ir()
    with ir.main_graph:
        v = ones(3, name="v") * value
        state = popxl.variable(np.full(3, value, np.float32), name=f"state{value}")
        streams = popxl.h2d_stream((3,), popxl.float32), popxl.d2h_stream((3,), popxl.float32)
        buffer = popxl.remote_buffer((3,), popxl.float32, 2)
        ops.host_store(streams[1], v + state + ops.host_load(streams[0]))
    return ir, state, *streams, buffer


def test_what_another_ir_owns_is_rejected_not_taken_by_its_number():
    ir, state, _, _, _ = a_program(1)
    _, other, h2d, d2h, buffer = a_program(2)
    with popxl.Session(ir, "cpu") as session:
        for use in (lambda: session.get_tensor_data(other), lambda: session.write_variable_data(other, np.zeros(3, np.float32))):
            with pytest.raises(ValueError, match="is of another Ir than the session"):
                use()
        assert session.get_tensor_data(state).tolist() == [1, 1, 1]
    _, _, _, _, _ = a_program(3)
    new = popxl.Ir()
    with new.main_graph:
        t = ones(3)
        popxl.h2d_stream((3,), popxl.float32), popxl.d2h_stream((3,), popxl.float32), popxl.remote_buffer((4,), popxl.float32, 1)
        for use in (lambda: ops.host_load(h2d), lambda: ops.host_store(d2h, t), lambda: ops.remote_load(buffer, 0),
                    lambda: ops.remote_load_(buffer, 0, t), lambda: ops.remote_store(buffer, 0, t)):
            with pytest.raises(ValueError, match=r"is of another Ir\."):
                use()


@pytest.mark.parametrize("use,error,text", [
    (lambda x, seed: ops.call(lambda y: y, x), TypeError, "call: .* of type function is not a graph"),
    (lambda x, seed: ops.repeat(lambda y: y, 2, x), TypeError, "repeat: .* of type function is not a graph"),
    (lambda x, seed: ops.sum(x, 1.5), TypeError, "^sum: an axis is an integer, not 1.5 of type float"),
    (lambda x, seed: ops.random_uniform(seed, (2,), 2, 1), ValueError, "random_uniform: numbers from 2 to 1"),
    (lambda x, seed: ops.random_normal(seed, (2,), 0, -1), ValueError, "random_normal: a standard deviation of -1"),
    (lambda x, seed: ops.remote_load(popxl.remote_buffer((2,), popxl.float32, 1), -1), ValueError, "remote_load: row -1 of a remote buffer"),
    (lambda x, seed: popxl.remote_variable(np.ones(4, np.float32), popxl.remote_buffer((2,), popxl.float32, 1)), ValueError,
     "Tensor without a name does not match buffer"),
    (lambda x, seed: x[[0, 2]], IndexError, "Row 2 of .*, which has 2"),
    (lambda x, seed: x[np.array([-3])], IndexError, "Row -3 of .*, which has 2"),
    (lambda x, seed: popxl.Session(3, "cpu"), TypeError, "Session takes an Ir, not 3 of type int"),
    (lambda x, seed: popxl.Session(x.ir, None), TypeError, "A device is a name or a popart.DeviceInfo, not None"),
])
def test_wrong_arguments_are_named(use, error, text):
    ir = popxl.Ir()
    with ir.main_graph:
        x, seed = ones(2, 3), popxl.variable(np.array([1, 2], np.uint32))
        x * 2
        with pytest.raises(error, match=text):
            use(x, seed)


def test_outputs_of_a_run_are_there_and_hold_what_is_stored():
    ir = popxl.Ir()
    with ir.main_graph:
        stream = popxl.d2h_stream((3,), popxl.float32)
        ops.host_store(stream, popxl.variable(np.float32([1.5, 2.5, -3.75])))
    with popxl.Session(ir, "cpu") as session:
        for nothing in (None, {}):
            with pytest.raises(ValueError, match="Missing: DeviceToHostStream"):
                session.run_with_outputs({}, nothing)
        with pytest.raises(TypeError, match="An array of int32 for DeviceToHostStream"):
            session.run_with_outputs({}, {stream: np.zeros(3, np.int32)})
        wide = np.zeros(3)
        session.run_with_outputs({}, {stream: wide})
    assert wide.tolist() == [1.5, 2.5, -3.75]


def test_arguments_that_cannot_be_are_named_where_they_are_given():
    ir = popxl.Ir()
    with ir.main_graph:
        buffer = popxl.remote_buffer((2,), popxl.float32, 2)
        held = popxl.remote_variable(np.ones(2, np.float32), buffer, 0)
        for kind, call, said in (
                (TypeError, lambda: popxl.h2d_stream((1.5,), popxl.float32), "h2d_stream: the shape: an entry is an integer, not 1.5 of type float"),
                (TypeError, lambda: popxl.d2h_stream(None, popxl.float32), "d2h_stream: a shape is expected, not None"),
                (ValueError, lambda: popxl.h2d_stream((2, -1), popxl.float32), "h2d_stream: the shape (2, -1) has a dimension below 0"),
                (TypeError, lambda: popxl.h2d_stream((2,), popxl.float32, name=5), "h2d_stream: a name is a text, not 5 of type int"),
                (ValueError, lambda: popxl.remote_buffer((-2,), popxl.float32), "remote_buffer: the shape (-2,) has a dimension below 0"),
                (TypeError, lambda: popxl.remote_buffer((2,), popxl.float32, 1.5), "remote_buffer: the number of entries is an integer, not 1.5"),
                (TypeError, lambda: popxl.remote_variable(np.ones(2), None), "remote_variable: None of type NoneType is not a RemoteBuffer"),
                (TypeError, lambda: popxl.remote_variable(np.ones(2), buffer, 1.0), "remote_variable: the offset is an integer, not 1.0"),
                (ValueError, lambda: popxl.remote_variable(np.ones(2), buffer, 2), "remote_variable: the remote buffer has 2 rows"),
                (ValueError, lambda: popxl.remote_variable(np.ones(2), buffer, 0),
                 f"remote_variable: row 0 of {buffer!r} holds the variable {held.name!r} already"),
                (ValueError, lambda: ops.remote_load(buffer, 2**32), "remote_load: row 4294967296 of a remote buffer; rows are counted from 0, in 32 bits"),
                (TypeError, lambda: popxl.variable(1.0, name=3), "variable: a name is a text, not 3 of type int"),
                (ValueError, lambda: popxl.variable(1.0, "quux"), "There is no element type for 'quux'"),
                (ValueError, lambda: popxl.ipu(-2), "ipu: there is no IPU -2; they are numbered from 0"),
                (TypeError, lambda: popxl.ipu(1.5), "ipu: the number of an IPU is an integer, not 1.5 of type float"),
                (TypeError, lambda: popxl.Ir(replication=1.5), "Ir: the number of replicas is an integer, not 1.5 of type float"),
                (TypeError, lambda: setattr(ir, "num_host_transfers", 1.5), "num_host_transfers is an integer, not 1.5 of type float")):
            with pytest.raises(kind) as error:
                call()
            assert str(error.value).startswith(said), str(error.value)
        # What has failed has taken no row.
        graph, flag = ir.create_graph(lambda t: ops.relu(t), held := popxl.variable(np.ones(2, np.float32))), popxl.variable(True)
        autodiff = popxl.transforms.autodiff
        for call, said in (
                (lambda: autodiff(None), "autodiff: None of type NoneType is not a graph"),
                (lambda: autodiff(graph, grads_required=graph.inputs[0]), "autodiff: a list of tensors is expected, not Tensor"),
                (lambda: autodiff(graph, called_graphs_grad_info=3), "autodiff: called_graphs_grad_info is a dict, not 3 of type int"),
                (lambda: autodiff(graph, called_graphs_grad_info={graph: 1}), "autodiff: called_graphs_grad_info: 1 of type int is not a GradGraphInfo"),
                (lambda: popxl.transforms.decompose_sum(None), "decompose_sum: None of type NoneType is not a graph"),
                (lambda: ops.call(graph, held, inputs_dict="a"), "call: inputs_dict is a dict, not 'a' of type str"),
                (lambda: ops.conditional(flag, graph, graph, held, held), "conditional: a list of inputs is expected, not Variable"),
                (lambda: ops.transpose(held, (0.0,)), "transpose: permutation: an entry is an integer, not 0.0 of type float"),
                (lambda: popxl.graph_input((1.5,), popxl.float32), "graph_input: the shape: an entry is an integer, not 1.5 of type float"),
                (lambda: ir.create_empty_graph(3), "create_empty_graph: a name is a text, not 3 of type int")):
            with pytest.raises(TypeError) as error:
                call()
            assert str(error.value).startswith(said), str(error.value)
        for call in (lambda: popxl.h2d_stream((2,), None), lambda: ops.cast(held, None)):
            with pytest.raises(ValueError, match="^There is no element type for None"):
                call()
        with pytest.raises(ValueError, match="does not match buffer"):
            popxl.remote_variable(np.ones(3), buffer, 1)
        popxl.remote_variable(np.ones(2), buffer, np.int64(1))
    with popxl.Ir().main_graph, pytest.raises(ValueError, match="^remote_variable: .* is of another Ir"):
        popxl.remote_variable(np.ones(2), buffer, 1)


def test_host_data_are_numbers_and_none_is_lost():
    ir = popxl.Ir()
    with ir.main_graph:
        for data in (None, "1", [None], 1j, np.array(["1"]), np.ones(2, np.complex64), np.array(["2026-01-01"], "M8[D]")):
            for make in (popxl.variable, popxl.constant):
                with pytest.raises(TypeError, match="^Host data: elements of the type .*; (real )?numbers are expected"):
                    make(data)
        with pytest.raises(ValueError, match="^Host data of int64, which become int32: 1099511627776 at \\(1,\\) does not fit int32"):
            popxl.variable(np.array([1, 2**40]))
        assert popxl.variable(np.array([2**31 - 1, -2**31])).dtype is popxl.int32
        f, i, b = (popxl.h2d_stream((2,), t, name=n) for t, n in ((popxl.float32, "f"), (popxl.int32, "i"), (popxl.bool, "b")))
        out = {s: popxl.d2h_stream((2,), s.dtype) for s in (f, i, b)}
        for s, d in out.items():
            ops.host_store(d, ops.host_load(s))
    good = {f: np.zeros(2), i: np.zeros(2), b: np.zeros(2)}
    with popxl.Session(ir, "cpu") as session:
        given = {f: np.array([2**62, -1]), i: np.array([3.0, -4.0]), b: np.array([0, 1])}
        for s, array in session.run(given).items():
            np.testing.assert_array_equal(array, next(given[x] for x in out if out[x] is s))
        for stream, data, kind, said in ((i, np.array([1, 2**31]), ValueError, r"2147483648 at \(1,\) does not fit int32"), (i, [0.5, 1], ValueError, r"0.5 at \(0,\) does not fit int32"),
                                         (i, [1, float("nan")], ValueError, r"nan at \(1,\) does not fit int32"), (b, [0, 2], ValueError, r"2 at \(1,\) does not fit bool"),
                                         (f, [1, None], TypeError, "elements of the type object; numbers are expected"),
                                         (f, np.ones(2, complex), TypeError, "elements of the type complex128; real numbers are expected")):
            with pytest.raises(kind, match=f"^Data for HostToDeviceStream.*{said}"):
                session.run({**good, stream: data})
        arrays = session.create_host_outputs()
        arrays[out[f]].flags.writeable = False
        with pytest.raises(ValueError, match="^run_with_outputs: the array for DeviceToHostStream.* can only be read"):
            session.run_with_outputs(good, arrays)
        with pytest.raises(TypeError, match=r"^run_with_outputs: an array is expected for DeviceToHostStream.*, not \[0, 0\] of type list"):
            session.run_with_outputs(good, {**session.create_host_outputs(), out[f]: [0, 0]})
