"""The one place that knows how popxl's objects are numbered in the native program."""
import popxl


def program(ir):
    return ir._program


def graph_number(graph):
    return graph._index


def graph_of(ir, number):
    return ir._graph(number)


def tensor_number(tensor):
    return tensor._index


def tensor_of(ir, number):
    return popxl.Tensor._of(ir, number)


def rename(ir, number, tensor_id):
    """Gives a tensor an id that Graph._create_tensor_id gave out."""
    inner = program(ir)
    graph = inner.tensor_graph(number)
    inner.rename(number, tensor_id.removeprefix(inner.graph_name(graph) + "/") if graph else tensor_id)
