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
