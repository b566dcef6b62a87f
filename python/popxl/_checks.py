"""Checks of arguments that all of popxl shares. `what` says in messages which function it is, and what of it."""
import operator


def describe(t):
    """How messages name what was given instead of something else."""
    return f"{t!r} of type {type(t).__name__}"


def integer(value, what):
    """An integer, also one of NumPy. Raises TypeError for what is none, as a float."""
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{what} is an integer, not {describe(value)}.") from None


def ints(values, what=""):
    """A list of integers from a sequence of them; None stays None. Raises TypeError for what is none."""
    if values is None:
        return None
    if not hasattr(values, "__iter__") or isinstance(values, str):
        raise TypeError(f"{what + ': a' if what else 'A'} list of integers is expected, not {describe(values)}.")
    return [integer(v, f"{what}: an entry" if what else "An entry") for v in values]


def shape_of(values, what):
    """A shape. Raises TypeError for what is not a list of integers, ValueError for one below 0."""
    if values is None:
        raise TypeError(f"{what}: a shape is expected, not None.")
    shape = tuple(ints(values, f"{what}: the shape"))
    if any(d < 0 for d in shape):
        raise ValueError(f"{what}: the shape {shape} has a dimension below 0.")
    return shape


def name_of(value, what):
    """A name, or "" for None. Raises TypeError for what is not a text."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise TypeError(f"{what}: a name is a text, not {describe(value)}.")
    return value


def check_graph(graph, what):
    """Raises TypeError for what is not a graph, such as the function that one is made of."""
    from popxl.graph import Graph

    if not isinstance(graph, Graph):
        raise TypeError(f"{what}: {describe(graph)} is not a graph; ir.create_graph makes one.")
