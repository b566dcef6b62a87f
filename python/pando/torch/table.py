"""The table of rules: one for each overload of an op of PyTorch.

A rule is a function of the importer and of the op's arguments, in which tensors are tensors of a popxl graph. It returns a tensor, a tuple of them for an op of
several results, or None for one that gives nothing.
"""
RULES = {}


def rule(*overloads):
    """Registers a function as the rule of some overloads (torch._ops.OpOverload)."""

    def register(function):
        for overload in overloads:
            if overload in RULES:
                raise ValueError(f"{overload} has two rules.")
            RULES[overload] = function
        return function

    return register
