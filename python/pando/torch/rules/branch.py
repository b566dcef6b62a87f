"""Branches: torch.cond, of which a program runs the one that a tensor says."""
from typing import List

import torch

import popxl
from popxl.tensor import Tensor

from pando.torch.table import rule


@rule(torch.ops.higher_order.cond)
def cond(g, condition, yes, no, operands=()):
    if not isinstance(condition, Tensor):
        return tuple(g.inner(yes if condition else no, operands))
    tensors = [x for x in operands if isinstance(x, Tensor)]

    def graph_of(branch):
        def body(given: List[Tensor]):
            inner, seen = iter(given), list(given)
            results = []
            for result in g.inner(branch, [next(inner) if isinstance(x, Tensor) else x for x in operands]):
                if isinstance(result, Tensor):
                    results.append(g.one("identity", result) if any(result is t for t in seen) else result)
                    seen.append(results[-1])
            return results

        ir = popxl.gcg().ir
        return ir.create_graph(body, tensors) if tensors else ir.create_graph(lambda: body([]))

    branches = [graph_of(branch) for branch in (yes, no)]
    made = iter(popxl.ops.conditional(g.cast(g.reshape(condition, []), popxl.bool), *branches, tensors, tensors))
    # What has no gradient is None in both.
    return tuple(next(made) if isinstance(value, torch.Tensor) else value for value in g.node.meta["val"])
