"""Tensors, variables, constants, element types, groups of replicas."""
import numpy as np
import pytest

import popxl
import popxl.ops as ops
from popxl.errors import UndefinedValue
from popxl.utils import to_numpy


def test_names_are_unique(main):
    names = [popxl.variable(1, name="w").id, popxl.constant(1, name="w").id]
    with popxl.name_scope("a"), popxl.name_scope("b"):
        names.append(popxl.variable(1, name="w").id)
    assert names[0] == "w" and names[2] == "a/b/w" and len(set(names)) == 3


def test_host_data_become_32_bits_wide(main):
    assert popxl.variable(np.zeros(2)).dtype == popxl.float32
    assert popxl.variable(1).dtype == popxl.int32
    assert popxl.variable(1, downcast=False).dtype == popxl.int64
    assert popxl.constant([True]).dtype == popxl.bool
    assert popxl.constant(1, popxl.float16).dtype == popxl.float16


@pytest.mark.parametrize("kind", sorted({np.dtype(c) for c in "?bBhHiIlLqQefdgFDG"}, key=str), ids=str)
@pytest.mark.parametrize("copy", (True, False))
def test_host_arrays_of_numbers_of_any_type_convert(kind, copy):
    of_user = np.ones((2, 3), kind)
    array = to_numpy(of_user, downcast=False, copy=copy)
    assert array.dtype == kind and (array == of_user).all()
    of_user[0, 1] = 0
    assert array[0, 1] == (1 if copy else 0)
    turned = to_numpy(of_user.T, downcast=False, copy=copy)
    assert turned.flags.c_contiguous and (turned == of_user.T).all()
    if kind.kind == "c":
        with pytest.raises(TypeError, match="^Host data: elements of the type complex.*; real numbers are expected"):
            to_numpy(of_user, popxl.float32)
    assert to_numpy(np.ones(2), popxl.complex64).dtype == np.complex64


def test_float8(main):
    t = popxl.constant(2.0, popxl.float8_143, log2_scale=1)
    assert t.dtype == popxl.float8_143 and t._data().tolist() == (0x50,)
    with pytest.raises(RuntimeError):
        popxl.variable(1.0, popxl.float32, log2_scale=1)
    with pytest.raises(TypeError):
        popxl.constant(t._data())


def test_a_tensor_is_itself(main):
    a, b = popxl.variable(1), popxl.variable(1)
    assert a == a and a != b and len({a, b, a}) == 2
    assert repr(a) == "Variable[t popxl.dtypes.int32 ()]"
    with pytest.raises(ValueError):
        len(a)
    with pytest.raises(TypeError):
        iter(a)
    with pytest.raises(UndefinedValue):
        a.ipu
    a + b
    assert a.ipu == 0
    with pytest.raises(RuntimeError):
        popxl.Tensor()


def test_in_place_addition_rebinds_to_the_same(main, run):
    x = popxl.variable(1.0)
    y = x
    y += 1
    assert y is x
    assert run(x) == 2


def test_variables_live_in_the_main_graph(main):
    with main.ir.create_empty_graph(), pytest.raises(ValueError):
        popxl.variable(1)


@pytest.mark.parametrize("stride, size, groups", [(1, 4, [0, 0, 0, 0]), (1, 2, [0, 0, 1, 1]), (2, 2, [0, 1, 0, 1]), (1, 1, [0, 1, 2, 3])])
def test_groups(stride, size, groups):
    ir = popxl.Ir(4)
    g = ir.replica_grouping(stride, size)
    assert g.assignment == groups and g == ir.replica_grouping_from_assignments(groups)
    assert g.transpose().group_size * g.group_size == 4


def test_bad_groups_are_rejected():
    ir = popxl.Ir(4)
    for bad in ([0], [0, 0, 0, 1], [1, 1, 2, 2]):
        with pytest.raises(ValueError):
            ir.replica_grouping_from_assignments(bad)
    with pytest.raises(ValueError):
        ir.replica_grouping(3)
    with pytest.raises(NotImplementedError):
        ir.replica_grouping_from_assignments([0, 1, 1, 0]).stride


def test_streams_and_buffers(main):
    s = popxl.h2d_stream((2,), popxl.float16, "x")
    assert (s.shape, s.dtype, s.tensor_id) == ((2,), popxl.float16, "x") and s != popxl.h2d_stream((2,), popxl.float16, "x")
    with pytest.raises(NotImplementedError):
        popxl.HostToDeviceStream()
    b = popxl.remote_buffer((2,), popxl.float32, 3)
    assert b.remote_buffer_id == 1 and b.entries == 3
    with pytest.raises(ValueError):
        popxl.remote_variable(np.zeros(3, np.float32), b)
    with pytest.raises(ValueError):
        popxl.remote_variable(np.zeros(2, np.float32), b, 3)
    with pytest.raises(ValueError):
        b.entries = 0


def test_dtypes():
    assert popxl.dtype.as_dtype("half") is popxl.float16 and popxl.dtype.as_dtype(float) is popxl.float32
    assert popxl.dtype.as_dtype(np.zeros(1, np.uint8)) is popxl.uint8
    assert popxl.int8.as_numpy() == np.int8 and repr(popxl.bool) == "popxl.dtypes.bool"
    with pytest.raises(ValueError):
        popxl.dtype.as_dtype("float9")
    with pytest.raises(TypeError):
        popxl.dtype()


def test_wrong_operands_are_rejected(main):
    x = popxl.variable(1.0)
    with pytest.raises(TypeError):
        ops.add(x, 1)
    with main.ir.create_empty_graph(), pytest.raises(ValueError):
        ops.add(x, x)
    with pytest.raises(ValueError):
        x + []
