"""Optimizers of PopTorch: torch's, with arguments more. Those that concern the device's number formats have no effect in Pando."""
import math

import torch

from poptorch.errors import Error
from poptorch.logging import say_once


class VariableAttributes:
    """Which attributes of an optimizer may change after a model is compiled. In Pando all may."""

    def __init__(self, variable_attributes, allowed_attributes):
        self._variable_attributes, self._allowed_attributes = list(variable_attributes), list(allowed_attributes)

    def isConstant(self, attr):
        return attr not in self._variable_attributes

    def markAsConstant(self, attr):
        assert attr in self._allowed_attributes, f"Unknown attribute {attr}: {', '.join(self._allowed_attributes)}"
        self._variable_attributes = [a for a in self._variable_attributes if a != attr]

    def markAsVariable(self, attr):
        assert attr in self._allowed_attributes, f"Unknown attribute {attr}: {', '.join(self._allowed_attributes)}"
        if attr not in self._variable_attributes:
            self._variable_attributes.append(attr)


class Optimizer:
    """What the optimizers of PopTorch have in common."""

    def __init__(self):
        self.ipu_state = self.ipu_param = None


_TYPES = ("accum_type", "velocity_accum_type", "first_order_momentum_accum_type", "second_order_momentum_accum_type")


def _prepare(own, given):
    """The arguments of torch's class. Sets PopTorch's own as attributes."""
    own_defaults = {"loss_scaling": 1.0, "max_grad_norm": math.inf}
    for name, value in given.items():
        if name in _TYPES:
            assert value in (None, torch.float32, torch.float16), f"{name} must be torch.float32 or torch.float16"
    explicit = {k for k, v in given.items() if v is not None}
    for name in ("loss_scaling", "max_grad_norm", "velocity_scaling", "use_combined_accum", "bias_correction", "use_tf_variant", *_TYPES):
        if name in given:
            value = given.pop(name)
            setattr(own, name, own_defaults.get(name, value) if value is None else value)
    if getattr(own, "max_grad_norm", math.inf) != math.inf:
        raise Error("max_grad_norm: Pando does not clip the norm of gradients in an optimizer; use torch.nn.utils.clip_grad_norm_ on a CPU model.")
    if getattr(own, "bias_correction", True) is False or getattr(own, "use_tf_variant", False):
        raise Error("bias_correction=False and use_tf_variant=True are not supported by Pando.")
    arguments = {k: v for k, v in given.items() if v is not None}
    own.variable_attrs = VariableAttributes(sorted(explicit), sorted(given) + ["loss_scaling", "lr", "velocity_scaling"])
    if any(name in explicit for name in _TYPES):
        say_once("Accumulators are float32 in Pando, whatever type an optimizer asks for.")
    return arguments


class SGD(Optimizer, torch.optim.SGD):
    """torch.optim.SGD."""

    def __init__(self, params, lr, momentum=None, dampening=None, weight_decay=None, nesterov=None, maximize=None, foreach=None, differentiable=None,
                 loss_scaling=None, velocity_scaling=None, use_combined_accum=None, accum_type=None, velocity_accum_type=None, max_grad_norm=None):
        Optimizer.__init__(self)
        given = dict(momentum=momentum, dampening=dampening, weight_decay=weight_decay, nesterov=nesterov, maximize=maximize, loss_scaling=loss_scaling,
                     velocity_scaling=velocity_scaling, use_combined_accum=use_combined_accum, accum_type=accum_type,
                     velocity_accum_type=velocity_accum_type, max_grad_norm=max_grad_norm)
        torch.optim.SGD.__init__(self, params, lr=lr, **_prepare(self, given))


class Adam(Optimizer, torch.optim.Adam):
    """torch.optim.Adam."""

    def __init__(self, params, lr=None, betas=None, eps=None, weight_decay=None, amsgrad=None, foreach=None, maximize=None, capturable=None,
                 differentiable=None, fused=None, loss_scaling=None, accum_type=None, first_order_momentum_accum_type=None,
                 second_order_momentum_accum_type=None, max_grad_norm=None):
        Optimizer.__init__(self)
        given = dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, amsgrad=amsgrad, maximize=maximize, loss_scaling=loss_scaling,
                     accum_type=accum_type, first_order_momentum_accum_type=first_order_momentum_accum_type,
                     second_order_momentum_accum_type=second_order_momentum_accum_type, max_grad_norm=max_grad_norm)
        torch.optim.Adam.__init__(self, params, **_prepare(self, given))


class AdamW(Optimizer, torch.optim.AdamW):
    """torch.optim.AdamW."""

    def __init__(self, params, lr=None, betas=None, eps=None, weight_decay=None, amsgrad=None, maximize=None, foreach=None, capturable=None,
                 differentiable=None, fused=None, loss_scaling=None, bias_correction=None, accum_type=None, first_order_momentum_accum_type=None,
                 second_order_momentum_accum_type=None, max_grad_norm=None):
        Optimizer.__init__(self)
        given = dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, amsgrad=amsgrad, maximize=maximize, loss_scaling=loss_scaling,
                     bias_correction=bias_correction, accum_type=accum_type, first_order_momentum_accum_type=first_order_momentum_accum_type,
                     second_order_momentum_accum_type=second_order_momentum_accum_type, max_grad_norm=max_grad_norm)
        torch.optim.AdamW.__init__(self, params, **_prepare(self, given))


class RMSprop(Optimizer, torch.optim.RMSprop):
    """torch.optim.RMSprop."""

    def __init__(self, params, lr=None, alpha=None, eps=None, weight_decay=None, momentum=None, centered=None, foreach=None, maximize=None,
                 differentiable=None, loss_scaling=None, accum_type=None, first_order_momentum_accum_type=None, second_order_momentum_accum_type=None,
                 use_tf_variant=None):
        Optimizer.__init__(self)
        given = dict(lr=lr, alpha=alpha, eps=eps, weight_decay=weight_decay, momentum=momentum, centered=centered, maximize=maximize,
                     loss_scaling=loss_scaling, accum_type=accum_type, first_order_momentum_accum_type=first_order_momentum_accum_type,
                     second_order_momentum_accum_type=second_order_momentum_accum_type, use_tf_variant=use_tf_variant)
        torch.optim.RMSprop.__init__(self, params, **_prepare(self, given))


class LAMB(Optimizer, torch.optim.Optimizer):
    """Layer-wise adaptive moments: Adam's step, scaled for each tensor by the ratio of its norm (at most max_weight_norm) to the step's."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2, bias_correction=True, loss_scaling=None, max_weight_norm=None,
                 accum_type=None, first_order_momentum_accum_type=None, second_order_momentum_accum_type=None):
        Optimizer.__init__(self)
        _prepare(self, dict(loss_scaling=loss_scaling, accum_type=accum_type, first_order_momentum_accum_type=first_order_momentum_accum_type,
                            second_order_momentum_accum_type=second_order_momentum_accum_type))
        self.bias_correction = bias_correction
        defaults = dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, max_weight_norm=65500.0 if max_weight_norm is None else max_weight_norm)
        torch.optim.Optimizer.__init__(self, params, defaults)

    def _init_group(self, group):
        for p in group["params"]:
            if p.grad is not None and not self.state[p]:
                self.state[p].update(step=torch.tensor(0.0), exp_avg=torch.zeros_like(p), exp_avg_sq=torch.zeros_like(p))

    @torch.no_grad()
    def step(self, closure=None):
        """One update."""
        loss = None if closure is None else torch.enable_grad()(closure)()
        for group in self.param_groups:
            self._init_group(group)
            for p in group["params"]:
                if p.grad is not None:
                    self._update(p, group)
        return loss

    def _update(self, p, group):
        state, (beta1, beta2) = self.state[p], group["betas"]
        state["step"].add_(1)
        first, second = state["exp_avg"], state["exp_avg_sq"]
        first.mul_(beta1).add_(p.grad, alpha=1 - beta1)
        second.mul_(beta2).addcmul_(p.grad, p.grad, value=1 - beta2)
        m, v = first, second
        if self.bias_correction:
            m, v = first / (1 - beta1 ** state["step"]), second / (1 - beta2 ** state["step"])
        update = m / (v.sqrt() + group["eps"]) + group["weight_decay"] * p
        weight_norm, update_norm = p.norm().clamp(max=group["max_weight_norm"]), update.norm()
        one = torch.ones_like(weight_norm)
        trust = torch.where((weight_norm > 0) & (update_norm > 0), weight_norm / update_norm, one)
        p.sub_(update * (trust * group["lr"]))
