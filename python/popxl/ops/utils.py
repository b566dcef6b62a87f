"""What functions of popxl.ops share: checks of arguments and their usual forms."""
from popxl import dtypes
from popxl._build import describe
from popxl.errors import UndefinedValue
from popxl.tensor import Tensor


def check_in_graph(graph, *args, **tensors):
    """Raises TypeError for what is no tensor, ValueError for a tensor of another graph.

    Args:
        graph: the graph.
        tensors: by the names that messages use.
    """
    for name, t in [*((f"argument {i}", t) for i, t in enumerate(args)), *tensors.items()]:
        if not isinstance(t, Tensor):
            raise TypeError(f"{name} is {describe(t)}, not a tensor.")
        if t not in graph:
            raise ValueError(f"{name} ({t!r}) is not in the graph {graph.name!r}.")


def check_tensor_ipu_and_tile_set(*args, **tensors):
    """Raises ValueError for tensors that are known to lie on different IPUs or tile sets."""
    tensors = {**{f"argument {i}": t for i, t in enumerate(args)}, **tensors}
    for attribute, what in (("ipu", "IPUs"), ("tile_set", "tile sets")):
        known = {}
        for name, t in tensors.items():
            try:
                known[name] = getattr(t, attribute)
            except UndefinedValue:
                pass
        if len(set(known.values())) > 1:
            raise ValueError(f"The tensors lie on different {what}: " + ", ".join(f"{name} on {value}" for name, value in known.items()))


def cast_if_needed(t, data_type):
    """The tensor, or a cast of it to another element type."""
    from popxl.ops.cast import cast

    return t if t.dtype is data_type else cast(t, data_type)


def handle_negative_axis(t, axis):
    """An axis counted from the front. Negative ones count from the end."""
    if not isinstance(t, Tensor):
        raise TypeError(f"{describe(t)} is no tensor.")
    return axis if axis >= 0 else t.rank + axis


def axes_of(t, axis):
    """Axes as a list counted from the front; None: all of them."""
    if not isinstance(t, Tensor):
        raise TypeError(f"{describe(t)} is no tensor.")
    if axis is None:
        return list(range(t.rank))
    if isinstance(axis, int):
        axis = (axis,)
    if isinstance(axis, (str, float)):
        raise TypeError(f"An axis is an integer, or several of them, not {axis!r}.")
    return [handle_negative_axis(t, int(a)) for a in axis]


def ints(values):
    """A list of integers from a sequence of them; None stays None."""
    return None if values is None else [int(v) for v in values]


def dtype_index(dtype):
    """An element type as the builder counts them; None stays None."""
    return None if dtype is None else dtypes.dtype.as_dtype(dtype)._index


def scalars(**values):
    """Parameters that are numbers or tensors: (attributes, tensors)."""
    attributes, tensors, names = {}, [], []
    for name, value in values.items():
        if isinstance(value, Tensor):
            names.append(name)
            tensors.append(value)
        elif value is not None:
            attributes[name] = float(value)
    if names:
        attributes["scalars"] = names
    return attributes, tensors


def convert_optional_float(v):
    return None if v is None else float(v)


def convert_optional_int(v):
    return None if v is None else int(v)


def convert_optional_dtype(dt):
    return dt


def convert_optional_int64_list(l):
    return ints(l)
