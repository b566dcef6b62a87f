"""Loops in graphs: the nodes between two marks are the body, which a program repeats."""
import torch

from pando.torch.adapter import library

# What a body begins with and what it returns: as many tensors, of the same shapes and types.
library.define("loop_begin(Tensor[] state, int loop) -> Tensor[]")
library.define("loop_end(Tensor[] state, int loop, int count) -> Tensor[]")
BEGIN, END = torch.ops.pando.loop_begin.default, torch.ops.pando.loop_end.default


@torch.library.impl(library, "loop_begin", "Meta")
def _type_of_begin(state, loop):
    return [torch.empty_like(t, memory_format=torch.contiguous_format) for t in state]


@torch.library.impl(library, "loop_end", "Meta")
def _type_of_end(state, loop, count):
    return [torch.empty_like(t, memory_format=torch.contiguous_format) for t in state]


_loops = iter(range(2**62))


def written_once(count, body, state):
    """What `count` calls of a body give, each with the tensors that the one before returned, while a graph is traced: the body is called once.

    Raises:
        ValueError: a body that returns other shapes or types than it takes.
    """
    loop = next(_loops)
    made = list(body(*torch.ops.pando.loop_begin(list(state), loop)))
    forms = [[(tuple(t.shape), t.dtype) for t in ts] for ts in (state, made)]
    if forms[0] != forms[1]:
        raise ValueError(f"The body of a loop takes {forms[0]} and returns {forms[1]}: they have to be the same.")
    return list(torch.ops.pando.loop_end(made, loop, count))


class Loop:
    """A loop of a graph.

    Attributes:
        count: iterations.
        begin, end: the nodes of the marks.
        body: the nodes between them, in order.
        captured: nodes in front of the loop whose values the body uses.
        draws: whether the body has random numbers, which differ from iteration to iteration.
    """

    def __init__(self, nodes, begin):
        first = nodes.index(begin)
        end = next((i for i in range(first, len(nodes)) if nodes[i].target is END and nodes[i].args[1] == begin.args[1]), None)
        if end is None:
            raise NotImplementedError("The body of a loop cannot call a function on the host.")
        self.begin, self.end, self.body = begin, nodes[end], nodes[first + 1:end]
        self.count = self.end.args[2]
        inside = {begin, *self.body}
        used = [n for node in [*self.body, self.end] for n in node.all_input_nodes]
        self.captured = list(dict.fromkeys(n for n in used if n not in inside))
        self.draws = any(isinstance(n.target, torch._ops.OpOverload) and torch.Tag.nondeterministic_seeded in n.target.tags for n in self.body)
        late = next((n for n in self.body if any(user not in inside and user is not self.end for user in n.users)), None)
        if late is not None:
            raise NotImplementedError(f"The body of a loop changes a tensor from outside of it ({late.name}): make it one of the loop's inputs.")

