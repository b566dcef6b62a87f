"""The tables of rules: one for each overload of an op of PyTorch, and one for each that takes or gives complex numbers.

A rule is a function of the importer and of the op's arguments, in which tensors are tensors of a popxl graph and complex numbers are complex.Complex. It returns
a tensor, a tuple of them for an op of several results, or None for one that gives nothing.
"""
import functools

import popxl

# {overload: rule}
RULES, COMPLEX_RULES = {}, {}


def _registering(table, of):
    """A decorator of overloads (torch._ops.OpOverload) that puts a function into a table. of: what the table's rules are for, as a message ends with it."""

    def rule(*overloads):

        def register(function):
            for overload in overloads:
                if overload in table:
                    raise ValueError(f"{overload} has two rules{of}.")
                table[overload] = function
            return function

        return register

    return rule


rule = _registering(RULES, "")
complex_rule = _registering(COMPLEX_RULES, " for complex numbers")


def in_float32(function):
    """Makes a rule of several steps compute numbers of 16 bits as float32 and round once, as kernels of PyTorch do."""

    @functools.wraps(function)
    def wide(g, *args, **kwargs):
        narrow = g.dtype
        if narrow is not popxl.float16:
            return function(g, *args, **kwargs)
        with g.computed_as(popxl.float32):
            given = [g.cast(x, popxl.float32) if isinstance(x, popxl.Tensor) and x.dtype is narrow else x for x in args]
            made = function(g, *given, **kwargs)
        return g.cast(made, narrow)

    return wide
