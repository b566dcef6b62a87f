"""What functions of popxl.ops share: checks of arguments and their usual forms."""
from popxl import dtypes
from popxl._checks import describe, integer, ints
from popxl.errors import UndefinedValue
from popxl.tensor import Tensor


def check_in_graph(graph, *args, **tensors):
    """Raises TypeError for what is not a tensor, ValueError for a tensor of another graph.

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


def check_tensor(t, what):
    """Raises TypeError for what is not a tensor. `what`: the function."""
    if not isinstance(t, Tensor):
        raise TypeError(f"{what + ': ' * bool(what)}{describe(t)} is not a tensor.")


def tensors_of(ts, what):
    """A list of tensors. Raises TypeError for what is none, or has something else in it."""
    if isinstance(ts, Tensor) or not hasattr(ts, "__iter__"):
        raise TypeError(f"{what}: a list of tensors is expected, not {describe(ts)}.")
    ts = list(ts)
    for t in ts:
        check_tensor(t, what)
    return ts


def handle_negative_axis(t, axis, what=""):
    """An axis counted from the front. Negative ones count from the end. `what`: the function, for messages."""
    check_tensor(t, what)
    axis = integer(axis, f"{what}: an axis" if what else "An axis")
    return axis if axis >= 0 else t.rank + axis


def axes_of(t, axis, what=""):
    """Axes as a list counted from the front; None: all of them."""
    check_tensor(t, what)
    if axis is None:
        return list(range(t.rank))
    several = hasattr(axis, "__iter__") and not isinstance(axis, str) and getattr(axis, "shape", None) != ()
    return [handle_negative_axis(t, a, what) for a in (axis if several else (axis,))]


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
