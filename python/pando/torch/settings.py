"""Numbers of an optimizer, as learning rates and momenta, in the trace of its update: a program reads them at each call.

While an update is traced, each of them is a scalar tensor without contents that stands for an expression. What an update computes of such scalars alone is
another expression, which the host computes with 64 bits, as an optimizer of PyTorch does. Where one meets another tensor it becomes an input of the program.
Where the update asks for its value, as `if weight_decay != 0` does, the answer is a guard: another answer takes another program.
"""
import builtins
import contextlib
import dataclasses
import inspect
import operator

import numpy as np
import torch

# How many numbers an update may take as inputs, for each group of parameters; those beyond are constants.
_ROOM = 16
# What schedulers note in groups, and what is not a setting.
_NOTES = {"params", "initial_lr", "max_lr", "min_lr", "max_momentum", "base_momentum"}


def _is_number(key, x):
    """Whether a value of a group is one of those that may change: counts, flags and names are not."""
    if isinstance(x, torch.Tensor):
        return x.numel() == 1 and x.is_floating_point()
    return isinstance(x, float) or isinstance(x, int) and not isinstance(x, bool) and (key == "lr" or x == 0)


def _fields(group):
    """[(key, place in a tuple or None, value)] of the numbers of a group of parameters."""
    return [(key, place, x) for key, value in group.items() if key not in _NOTES
            for place, x in (enumerate(value) if isinstance(value, (tuple, list)) else [(None, value)]) if _is_number(key, x)]


def numbers(optimizer):
    """{(group, key, place in a tuple or None): value} of all numbers that an optimizer has now."""
    return {(i, key, place): np.float64(float(x)) for i, group in enumerate(optimizer.param_groups) for key, place, x in _fields(group)}


def constants(optimizer):
    """What else an optimizer is told: a program is made for it."""

    def text(key, value):
        if isinstance(value, (tuple, list)):
            return [text(key, x) for x in value]
        return "a number" if _is_number(key, value) else repr(value)

    return [{key: text(key, value) for key, value in group.items() if key not in _NOTES} for group in optimizer.param_groups]


@dataclasses.dataclass(frozen=True)
class Expression:
    """A function of parts: numbers, other expressions, and, where there is no function, of one that an optimizer has (a key of `numbers`)."""

    function: object
    parts: tuple

    def value(self, found):
        """The number, for what `numbers` finds."""
        if self.function is None:
            return found[self.parts]
        with np.errstate(all="ignore"):
            return self.function(*(part.value(found) if isinstance(part, Expression) else part for part in self.parts))


def _swapped(function):
    return lambda a, b: function(b, a)


def _is_small(weight):
    return abs(weight) < 0.5


# What makes expressions of one or two others, by the names of PyTorch's functions.
_UNARY = {"neg": operator.neg, "__neg__": operator.neg, "abs": abs, "__abs__": abs, "sqrt": np.sqrt, "exp": np.exp, "log": np.log, "square": np.square,
          "reciprocal": np.reciprocal}
_BINARY = {**{name: getattr(operator, f"__{name}__") for name in ("add", "sub", "mul", "pow", "eq", "ne", "lt", "le", "gt", "ge")}, "div": operator.truediv,
           "true_divide": operator.truediv, "maximum": np.maximum, "minimum": np.minimum}
_BINARY.update({f"__{name}__": _BINARY[name] for name in ("add", "sub", "mul", "pow", "eq", "ne", "lt", "le", "gt", "ge")}, __truediv__=operator.truediv)
_BINARY.update({f"__r{name}__": _swapped(_BINARY[name]) for name in ("add", "sub", "mul", "pow", "div")}, __rtruediv__=_swapped(operator.truediv),
               rsub=_swapped(operator.sub))
# What leaves a number as it is, what asks for its value, and what asks for something else.
_SAME = {"to", "float", "double", "half", "detach", "clone", "squeeze", "item", "cpu", "type_as"}
_VALUES = {"__bool__": bool, "__float__": float, "__int__": int, "__index__": int, "__format__": float, "tolist": float}
_ABOUT = {"__get__", "dim", "size", "numel", "is_complex", "is_floating_point", "__hash__"}


def is_scalar(x):
    """Whether a value is a scalar that stands for an expression."""
    return isinstance(x, torch.Tensor) and "_pando_expression" in x.__dict__


def leaves(tree):
    """The values in nested tuples, lists and dicts."""
    if isinstance(tree, dict):
        tree = tree.values()
    elif not isinstance(tree, (tuple, list)):
        yield tree
        return
    for x in tree:
        yield from leaves(x)


class Settings:
    """The numbers of an optimizer in a trace: `begin` starts it, and `call` is asked for each function of PyTorch that gets one.

    Attributes:
        room: how many inputs of the trace are for numbers.
        inputs: the expressions of those that the update takes, in order.
    """

    def __init__(self, optimizer):
        self._optimizer, self._now = optimizer, numbers(optimizer)
        self._constants = constants(optimizer)
        self.room = _ROOM * len(optimizer.param_groups)
        # Made outside of a trace, in which new tensors would be parts of it.
        self._blanks = [torch.empty(()) for _ in range(2 * len(self._now) + 2 * self.room)]
        self.begin(())

    def begin(self, pool):
        """For each group what stands in place of its numbers in the trace, a dict. pool: inputs of the trace, `room` of them."""
        self._pool, self._free, self._made, self._taken, self._guards = list(pool), list(self._blanks), {}, {}, {}
        self.inputs, groups = [], []
        for i, group in enumerate(self._optimizer.param_groups if pool else ()):
            own = {}
            for key, place, _ in _fields(group):
                scalar = self._scalar(Expression(None, (i, key, place)))
                if place is None:
                    own[key] = scalar
                else:
                    own.setdefault(key, list(group[key]))[place] = scalar
            groups.append({key: tuple(value) if isinstance(value, list) else value for key, value in own.items()})
        return groups

    def holds(self, optimizer):
        """Whether a program of this trace is right for what an optimizer is told now."""
        if constants(optimizer) != self._constants:
            return False
        found = numbers(optimizer)
        return found.keys() == self._now.keys() and all(e.value(found) == value for e, value in self._guards.items())

    def values(self, optimizer):
        """The numbers of the inputs, as an optimizer has them now."""
        found = numbers(optimizer)
        return [float(e.value(found)) for e in self.inputs]

    def _scalar(self, expression):
        """The scalar of an expression; its number where there are no more."""
        if expression not in self._made:
            if not self._free:
                return self._fixed(expression)
            self._made[expression] = self._free.pop()
            self._made[expression]._pando_expression = expression
        return self._made[expression]

    def _fixed(self, expression):
        """The number of an expression: the program is for that one alone."""
        return self._guards.setdefault(expression, expression.value(self._now)).item()

    def _input(self, scalar):
        """The input of the trace in place of a scalar."""
        expression = scalar._pando_expression
        if expression not in self._taken:
            if len(self.inputs) == len(self._pool):
                return self._fixed(expression)
            self._taken[expression] = self._pool[len(self.inputs)]
            self.inputs.append(expression)
        return self._taken[expression]

    def call(self, function, args, kwargs):
        """What a function of PyTorch gives for arguments among which are scalars."""
        name = getattr(function, "__name__", "")
        if name in _ABOUT:
            return function(*args, **kwargs)
        parts = [x._pando_expression if is_scalar(x) else np.float64(x) if isinstance(x, (int, float)) else x for x in args]
        if is_scalar(args[0]) and name in _SAME and not any(isinstance(x, torch.Tensor) for x in args[1:]):
            return args[0]
        if name in _VALUES:
            return _VALUES[name](self._fixed(parts[0]))
        if not kwargs and all(isinstance(part, (Expression, np.float64)) for part in parts):
            table = {1: _UNARY, 2: _BINARY}.get(len(parts), {})
            if name in table:
                return self._scalar(Expression(table[name], tuple(parts)))
        if name in ("lerp", "lerp_") and is_scalar(args[-1]):
            # As PyTorch computes it, from the end that is nearer.
            small = self._fixed(Expression(_is_small, (parts[-1],)))
            weight = args[-1] if small else self._scalar(Expression(operator.sub, (np.float64(1), parts[-1])))
            return _between(name, *args[:2], self._input(weight) if is_scalar(weight) else weight, small)
        from pando.torch import adapter

        try:
            return with_tensors(function, *self._replaced(args, kwargs, self._input))
        except (TypeError, *adapter.data_dependent()):
            # What takes a number and not a tensor.
            return with_tensors(function, *self._replaced(args, kwargs, lambda x: self._fixed(x._pando_expression)))

    def _replaced(self, args, kwargs, by):

        def replace(x):
            if is_scalar(x):
                return by(x)
            return type(x)(map(replace, x)) if type(x) in (tuple, list) else x

        return tuple(map(replace, args)), {key: replace(x) for key, x in kwargs.items()}


def _wide(x):
    """A tensor as kernels compute with it: numbers of 16 bits as ones of 32."""
    return x.float() if isinstance(x, torch.Tensor) and x.dtype in (torch.float16, torch.bfloat16) else x


def _written(name, x, made):
    """The result of a function of x: in x itself where the name says so."""
    made = made.to(x.dtype)
    return x.copy_(made) if name.endswith("_") else made


def _between(name, x, end, weight, small=True):
    """Of lerp; small: the weight is that of the end, else of the beginning."""
    a, b = _wide(x), _wide(end)
    return _written(name, x, a + (b - a) * weight if small else b - (b - a) * weight)


def with_tensors(function, args, kwargs, plain=None):
    """A call of a function of PyTorch some of whose numbers are tensors. plain: what is called where there are none; None: the function."""
    name = getattr(function, "__name__", "")
    if isinstance(kwargs.get("alpha"), torch.Tensor) and name in ("add", "add_", "sub", "sub_"):
        x, change = _wide(args[0]), _wide(args[1]) * kwargs["alpha"]
        return _written(name, args[0], x + change if name.startswith("add") else x - change)
    if isinstance(kwargs.get("value"), torch.Tensor) and name in ("addcmul", "addcmul_", "addcdiv", "addcdiv_"):
        x, a, b = map(_wide, args)
        return _written(name, args[0], x + (a * b if name.startswith("addcmul") else a / b) * kwargs["value"])
    if name in ("lerp", "lerp_") and isinstance(args[-1], torch.Tensor) and _wide(args[0]) is not args[0]:
        return _written(name, args[0], torch.lerp(_wide(args[0]), _wide(args[1]), _wide(args[-1])))
    return (plain or function)(*args, **kwargs)


def _of_tensors(builtin, function):
    """max or min that takes tensors among its arguments."""

    def extreme(*args, **kwargs):
        if kwargs or len(args) < 2 or not any(isinstance(x, torch.Tensor) and not is_scalar(x) for x in args):
            return builtin(*args, **kwargs)
        found = args[0]
        for x in args[1:]:
            a, b = (found, x) if isinstance(found, torch.Tensor) else (x, found)
            found = function(a, b) if isinstance(b, torch.Tensor) else torch.clamp(a, **{"min" if builtin is max else "max": b})
        return found

    return extreme


@contextlib.contextmanager
def extremes_of_tensors(optimizer):
    """Inside, `max` and `min` in the file of an optimizer's step take tensors without asking for their values."""
    names = inspect.unwrap(type(optimizer).step).__globals__
    own = {name: _of_tensors(getattr(builtins, name), function) for name, function in (("max", torch.maximum), ("min", torch.minimum)) if name not in names}
    names.update(own)
    try:
        yield
    finally:
        for name in own:
            del names[name]
