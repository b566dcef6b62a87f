"""The state of an optimizer before its first step: a program has it from the beginning."""
import inspect

import torch

from pando.torch import adapter


def initialise(optimizer):
    """Gives each parameter of an optimizer that has gradients the state that its first step would make, without a step.

    Raises NotImplementedError for optimizers that no program has, and for those whose first step differs from the others.
    """
    name = type(optimizer).__name__
    closure = inspect.signature(inspect.unwrap(type(optimizer).step)).parameters.get("closure")
    if closure is not None and closure.default is inspect.Parameter.empty:
        raise NotImplementedError(f"{name}: its step computes the loss several times and goes on by its value; the step of a program computes it once. Use an "
                                  'optimizer whose step takes gradients alone, or torch.compile(model, backend="pando") and the loop of PyTorch.')
    if isinstance(optimizer, torch.optim.SparseAdam):
        raise NotImplementedError("SparseAdam takes sparse gradients, and those of programs are dense. Use Adam.")
    if isinstance(optimizer, torch.optim.SGD):
        _make_momenta(optimizer)
    elif hasattr(optimizer, "_init_group"):
        _make_by_group(optimizer)
    else:
        _make_zeros(optimizer)


def _make_momenta(optimizer):
    for group in optimizer.param_groups:
        if group["momentum"] and group["dampening"]:
            raise NotImplementedError("SGD with dampening: its first step differs from the others. Use dampening=0.")
        for p in group["params"] if group["momentum"] else ():
            if p.requires_grad and optimizer.state[p].get("momentum_buffer") is None:
                optimizer.state[p]["momentum_buffer"] = torch.zeros_like(p)


def _make_by_group(optimizer):
    """Of the optimizers of torch.optim, which make the state of a group before they do anything else."""
    lists = len(inspect.signature(optimizer._init_group).parameters) - 1
    grads = {p: p.grad for group in optimizer.param_groups for p in group["params"]}
    try:
        for group in optimizer.param_groups:
            for p in group["params"]:
                p.grad = torch.zeros_like(p) if p.requires_grad else None
            optimizer._init_group(group, *([] for _ in range(lists)))
    finally:
        for p, grad in grads.items():
            p.grad = grad


def _stepped(optimizer, gradients, states):
    """({parameter: what a step of a copy of an optimizer makes of it}, {parameter: its state then})"""
    copies = {p: p.detach().clone().requires_grad_() for p in gradients}
    for p, copied in copies.items():
        copied.grad = gradients[p].clone()
    other = adapter.optimizer_with(optimizer, copies, states, [{}] * len(optimizer.param_groups))
    with torch.no_grad():
        inspect.unwrap(type(optimizer).step)(other)
    return {p: copied.detach() for p, copied in copies.items()}, {p: other.state.get(copied, {}) for p, copied in copies.items()}


def _is_near(a, b):
    return torch.allclose(torch.as_tensor(a, dtype=torch.float64), torch.as_tensor(b, dtype=torch.float64), rtol=1e-5)


def _make_zeros(optimizer):
    """Of an optimizer whose step makes the state where there is none: zeros, tensors also for numbers, if a step from there gives the same."""
    generator = torch.Generator().manual_seed(1)
    gradients = {p: torch.randn(p.shape, generator=generator).to(p.dtype) for group in optimizer.param_groups for p in group["params"]
                 if p.requires_grad and not optimizer.state.get(p)}
    wanted, made = _stepped(optimizer, gradients, {})
    states = {}
    for p, state in made.items():
        for key, x in state.items():
            if not isinstance(x, (torch.Tensor, int, float)) or isinstance(x, bool):
                raise NotImplementedError(f"{type(optimizer).__name__}: its state has {key!r}, which is neither a tensor nor a number. {_ADVICE}")
        states[p] = {key: torch.zeros_like(x) if isinstance(x, torch.Tensor) else torch.zeros(()) for key, x in state.items()}
    got, after = _stepped(optimizer, gradients, {p: {key: x.clone() for key, x in state.items()} for p, state in states.items()})
    for p, state in made.items():
        if not _is_near(wanted[p], got[p]) or any(not _is_near(x, after[p][key]) for key, x in state.items()):
            raise NotImplementedError(f"{type(optimizer).__name__}: its first step is another one than a step from a state of zeros. {_ADVICE}")
    for p, state in states.items():
        optimizer.state[p].update(state)


_ADVICE = "Give it a method _init_group(group), which makes the state before the first step, as the optimizers of torch.optim have."
