"""What the replicas of a program exchange: see pando.torch.collectives, which calls these ops."""
import torch

import popxl
import popxl.ops as ops

from pando.torch.adapter import library
from pando.torch.table import rule

library.define("all_gather(Tensor x, int replicas) -> Tensor")
library.define("own_part(Tensor x, int replicas) -> Tensor")
library.define("all_reduce(Tensor x, str op) -> Tensor")
library.define("reduce_scatter(Tensor x, int replicas, str op) -> Tensor")
library.define("all_to_all(Tensor x, int replicas) -> Tensor")


def _outside(name):
    def run(x, *_):
        raise RuntimeError(f"pando.torch.collectives.{name}: replicas exchange tensors in a compiled program; this is a call outside of one.")

    return run


for _name in ("all_gather", "own_part", "all_reduce", "reduce_scatter", "all_to_all"):
    torch.library.impl(library, _name, "CPU")(_outside(_name))


@torch.library.impl(library, "all_gather", "Meta")
def _type_of_gather(x, replicas):
    return x.new_empty([replicas, *x.shape])


@torch.library.impl(library, "own_part", "Meta")
def _type_of_part(x, replicas):
    return x.new_empty(x.shape[1:])


@torch.library.impl(library, "all_reduce", "Meta")
def _type_of_reduce(x, op):
    return torch.empty_like(x, memory_format=torch.contiguous_format)


@torch.library.impl(library, "reduce_scatter", "Meta")
def _type_of_scatter(x, replicas, op):
    return x.new_empty(x.shape[1:])


@torch.library.impl(library, "all_to_all", "Meta")
def _type_of_exchange(x, replicas):
    return torch.empty_like(x, memory_format=torch.contiguous_format)


def _keep(ctx, inputs, output):
    ctx.arguments = inputs[1:]


def _only_sums(name, op):
    if op != "add":
        raise NotImplementedError(f"pando.torch.collectives.{name}: op={op!r} has no gradient; 'add' has.")


def _gather_gradient(ctx, dy):
    return torch.ops.pando.reduce_scatter(dy, ctx.arguments[0], "add"), None


def _reduce_gradient(ctx, dy):
    _only_sums("all_reduce", ctx.arguments[0])
    return torch.ops.pando.all_reduce(dy, "add"), None


def _scatter_gradient(ctx, dy):
    _only_sums("reduce_scatter", ctx.arguments[1])
    return torch.ops.pando.all_gather(dy, ctx.arguments[0]), None, None


def _exchange_gradient(ctx, dy):
    return torch.ops.pando.all_to_all(dy, ctx.arguments[0]), None


for _name, _gradient in (("all_gather", _gather_gradient), ("all_reduce", _reduce_gradient), ("reduce_scatter", _scatter_gradient),
                         ("all_to_all", _exchange_gradient)):
    torch.library.register_autograd(f"pando::{_name}", _gradient, setup_context=_keep, lib=library)


def _check_replicas(name, replicas):
    there = popxl.gcg().ir.replication_factor
    if replicas != there:
        raise ValueError(f"pando.torch.collectives.{name}: replicas={replicas}; the program has {there}.")


@rule(torch.ops.pando.all_gather.default)
def all_gather(g, x, replicas):
    _check_replicas("all_gather", replicas)
    return ops.reshape(ops.collectives.replicated_all_gather(x, output_shape="new_axis"), [replicas, *x.shape])


@rule(torch.ops.pando.own_part.default)
def own_part(g, x, replicas):
    _check_replicas("own_part", replicas)
    return ops.reshape(ops.collectives.replicated_slice(x, axis=0), x.shape[1:])


@rule(torch.ops.pando.all_reduce.default)
def all_reduce(g, x, op):
    return ops.collectives.replicated_all_reduce(x, op=op)


@rule(torch.ops.pando.reduce_scatter.default)
def reduce_scatter(g, x, replicas, op):
    _check_replicas("reduce_scatter", replicas)
    shape = x.shape[1:]
    shard = ops.collectives.replicated_reduce_scatter(ops.flatten(x), op=op)
    return ops.reshape(shard, shape)


@rule(torch.ops.pando.all_to_all.default)
def all_to_all(g, x, replicas):
    _check_replicas("all_to_all", replicas)
    parts = ops.reshape(x, [replicas, x.nelms // replicas])
    gathered = ops.reshape(ops.collectives.replicated_all_gather(parts, output_shape="new_axis"), [replicas, *parts.shape])
    return ops.reshape(ops.collectives.replicated_slice(gathered, axis=1), x.shape)
