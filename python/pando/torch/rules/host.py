"""What a program does on the host while it runs: tensors as text, calls of functions."""
import torch
import torch.fx

import popxl

from pando.torch.adapter import library
from pando.torch.table import rule

library.define("print_tensor(Tensor x, str title, bool print_gradient, int summarise_threshold, int edge_items, int max_line_width, int digits, "
               "str float_format, str separator, str open_bracket, str close_bracket) -> Tensor")
_FORMAT = ("summarise_threshold", "edge_items", "max_line_width", "digits", "float_format", "separator", "open_bracket", "close_bracket")


@torch.library.impl(library, "print_tensor", "Meta")
def _type_of_print(x, *format):
    return torch.empty_like(x, memory_format=torch.contiguous_format)


def _keep_format(ctx, inputs, output):
    ctx.title, ctx.print_gradient, ctx.format = inputs[1], inputs[2], inputs[3:]


def _print_gradient(ctx, dy):
    if ctx.print_gradient:
        dy = torch.ops.pando.print_tensor(dy, f"{ctx.title}_gradient", False, *ctx.format)
    return (dy, *[None] * (2 + len(_FORMAT)))


torch.library.register_autograd("pando::print_tensor", _print_gradient, setup_context=_keep_format, lib=library)


@rule(torch.ops.pando.print_tensor.default)
def print_tensor(g, x, title, print_gradient, *format):
    return g.one("print_tensor", x, title=title, print_self=True, print_gradient=False, **dict(zip(_FORMAT, format)))


class HostFunctions:
    """Functions that programs call, by number, and the tensors that they return for inputs of a form."""

    def __init__(self):
        self._functions, self._results = [], {}

    def add(self, function):
        """Its number."""
        self._functions.append(function)
        return len(self._functions) - 1

    def function(self, number):
        return self._functions[number]

    @staticmethod
    def _form(number, inputs):
        return number, tuple((tuple(x.shape), x.dtype) for x in inputs)

    def learn(self, number, inputs, outputs):
        """Notes what a function returns for such inputs."""
        self._results[self._form(number, inputs)] = [(tuple(y.shape), y.dtype) for y in outputs]

    def results(self, number, inputs):
        return self._results[self._form(number, inputs)]


# Functions that live as long as the process: a graph names them by number.
HOST_FUNCTIONS = HostFunctions()

# A graph with this op becomes several programs: see pando.torch.hosted.
library.define("host_call(Tensor[] inputs, int function) -> Tensor[]")


@torch.library.impl(library, "host_call", "Meta")
def _type_of_call(inputs, function):
    return [torch.empty(shape, dtype=dtype, device="meta") for shape, dtype in HOST_FUNCTIONS.results(function, inputs)]


def call_on_host(number, inputs):
    """The results of a function of HOST_FUNCTIONS, while a graph is traced."""
    return torch.ops.pando.host_call(list(inputs), number)


# Checks stay in a graph, though nothing uses them.
for _check in (torch.ops.aten._assert_async.msg, torch.ops.aten._assert_async.default, torch.ops.aten._linalg_check_errors.default):
    torch.fx.node.has_side_effect(_check)


@rule(torch.ops.aten._assert_async.msg, torch.ops.aten._assert_async.default)
def assert_async(g, holds, message=""):
    if isinstance(holds, popxl.Tensor):
        g.check(holds, message or "An assertion of the model does not hold.")
