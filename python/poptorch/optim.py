"""Optimizers of PopTorch: torch's, with arguments more. Those that concern the device's number formats have no effect in Pando."""
import inspect
import math
import weakref

import torch

from pando.torch.settings import constants
from poptorch.logging import logger, say_once


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


# The state of a parameter by PopART's names; what an optimizer does not have is left out.
_STATES = {"exp_avg": "Accl1___", "exp_avg_sq": "Accl2___", "square_avg": "Accl1___", "momentum_buffer": "Accl2___", "grad_avg": "Accl3___", "step": "Step___"}


class Optimizer:
    """What the optimizers of PopTorch have in common: `state_dict` also holds `ipu_state` and `ipu_param`, tensors by name, once a model is compiled."""

    # What load_state_dict took of the device, until a model is compiled.
    _loaded = (None, None)
    # Whether the part of it that has names of the device is still to be given to the parameters, whose names a model knows.
    _named = False

    def __init__(self):
        self._executor = None

    def __getstate__(self):
        return {**super().__getstate__(), "_executor": None, "variable_attrs": self.variable_attrs,
                **{name: getattr(self, name) for name in _OWN if hasattr(self, name)}}

    def _update_all(self, closure):
        """A step of torch's whose update of a parameter is `_update` of the class."""
        loss = None if closure is None else torch.enable_grad()(closure)()
        for group in self.param_groups:
            self._init_group(group, *([] for _ in range(len(inspect.signature(self._init_group).parameters) - 1)))
            for p in group["params"]:
                if p.grad is not None:
                    self._update(p, group)
        return loss

    def _compiled(self):
        """The executor of a model that is compiled for a device with this optimizer, or None."""
        executor = self._executor() if self._executor is not None else None
        return executor if executor is not None and executor.isCompiled() and executor.isAttachedToDevice() else None

    def attach(self, executor):
        """The model that the optimizer updates."""
        self._executor = weakref.ref(executor)
        self._take_named_state(executor)

    def _take_named_state(self, executor):
        """Gives parameters what load_state_dict took under names of the device. What it lacks stays as it is."""
        if not self._named:
            return
        self._named = False
        parameters = dict(executor._user_model.named_parameters())
        for full, value in (self._loaded[0] or {}).items():
            kind, _, name = full.partition("___")
            state = self.state.get(parameters.get(name), {})
            key = next((k for k, prefix in _STATES.items() if prefix == kind + "___" and isinstance(state.get(k), torch.Tensor)), None)
            if key is None:
                continue
            if not state[key].dim():
                # A number that groups of replicas have each.
                value = value.reshape(-1)[0]
            if value.shape != state[key].shape:
                raise RuntimeError(f"ipu_state[{full!r}] has the shape {tuple(value.shape)} instead of {tuple(state[key].shape)}.")
            state[key] = value.detach().to(state[key].dtype).clone()

    def state_dict(self):
        """torch's, with `ipu_state` and `ipu_param`. It brings the state back from the device if that is newer."""
        executor = self._compiled()
        if executor is None:
            return {**super().state_dict(), "ipu_state": self._loaded[0], "ipu_param": self._loaded[1]}
        if executor.copyWeightsToHostIfNeeded():
            logger.debug("Writing optimiser state tensors from IPU to host.")
        else:
            logger.debug("Using cached optimiser state dict")
        names = {p: name for name, p in executor._user_model.named_parameters()}
        state = self._named_state(executor, names)
        if executor._options.Training.auto_loss_scaling:
            # The scale stays what the optimizer says.
            state["lossScaleUpdateFactor"] = torch.tensor(1.0)
        return {**super().state_dict(), "ipu_state": state, "ipu_param": self._named_scalars(names)}

    def _named_state(self, executor, names):
        found = {}
        for p, state in self.state.items():
            for key, value in state.items():
                if isinstance(value, torch.Tensor) and p in names and key in _STATES:
                    groups = executor.groups_of(names[p])
                    value = value.detach().clone()
                    found[_STATES[key] + names[p]] = value if groups == 1 or value.dim() else value.expand(groups).clone()
        return found

    def _named_scalars(self, names):
        scaling = float(getattr(self, "loss_scaling", 1.0) or 1.0)
        found = {"lossScaling_FLOAT": torch.tensor(scaling)}
        for group in self.param_groups:
            rate, decay = float(group["lr"]), float(group.get("weight_decay", 0))
            for name in (names[p] for p in group["params"] if p in names):
                if isinstance(self, torch.optim.SGD):
                    undamped = rate * (1 - group["dampening"])
                    found[f"scaledLearningRate0___specific___{name}"] = torch.tensor(undamped / scaling)
                    found[f"weightDecayScaleFactor0___specific___{name}"] = torch.tensor(1 - undamped * decay)
                else:
                    found[f"learningRate___specific___{name}"] = torch.tensor(rate)
                    found[f"weightDecay___specific___{name}"] = torch.tensor(decay)
        return found

    def load_state_dict(self, state_dict):
        """Takes a state that `state_dict` gave; it goes to the device with the next call. Tensors of `ipu_state` count, whatever `state` has of them.

        Raises:
            RuntimeError: a state without `ipu_state` and `ipu_param`; another shape, with the next call at the latest.
        """
        if "ipu_state" not in state_dict or "ipu_param" not in state_dict:
            raise RuntimeError("Only IPU optimizer states can be loaded onto the IPU.")
        self._loaded = state_dict["ipu_state"], state_dict["ipu_param"]
        executor = self._compiled()
        if executor is not None:
            # The weights on the device may be newer than those that go there with the state.
            executor.copyWeightsToHostIfNeeded()
        super().load_state_dict({key: value for key, value in state_dict.items() if key not in ("ipu_state", "ipu_param")})
        self._named = True
        if executor is not None:
            self._take_named_state(executor)
            executor._state_is_newer = True


_TYPES = ("accum_type", "velocity_accum_type", "first_order_momentum_accum_type", "second_order_momentum_accum_type")


_OWN = ("loss_scaling", "max_grad_norm", "velocity_scaling", "use_combined_accum", "bias_correction", "use_tf_variant", *_TYPES)


def _prepare(own, given):
    """The arguments of torch's class. Sets PopTorch's own as attributes."""
    own_defaults = {"loss_scaling": 1.0, "max_grad_norm": math.inf}
    for name, value in given.items():
        if name in _TYPES:
            assert value in (None, torch.float32, torch.float16), f"{name} must be torch.float32 or torch.float16"
    explicit = {k for k, v in given.items() if v is not None}
    for name in _OWN:
        if name in given:
            value = given.pop(name)
            setattr(own, name, own_defaults.get(name, value) if value is None else value)
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

    @torch.no_grad()
    def step(self, closure=None):
        """One update: torch's, unless bias_correction is False."""
        if self.bias_correction is not False:
            return inspect.unwrap(torch.optim.AdamW.step)(self, closure)
        return self._update_all(closure)

    def _update(self, p, group):
        state, (beta1, beta2) = self.state[p], group["betas"]
        gradient = -p.grad if group["maximize"] else p.grad
        state["step"].add_(1)
        first, second = state["exp_avg"], state["exp_avg_sq"]
        first.mul_(beta1).add_(gradient, alpha=1 - beta1)
        second.mul_(beta2).addcmul_(gradient, gradient, value=1 - beta2)
        p.mul_(1 - group["lr"] * group["weight_decay"])
        p.sub_(group["lr"] * (first / (second.sqrt() + group["eps"])))


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

    def _init_group(self, group, *lists):
        fresh = [p for p in group["params"] if p.grad is not None and not self.state[p]]
        result = torch.optim.RMSprop._init_group(self, group, *lists)
        for p in fresh if self.use_tf_variant else ():
            self.state[p]["square_avg"].fill_(1)
        return result

    _init_group.__signature__ = inspect.signature(torch.optim.RMSprop._init_group)

    @torch.no_grad()
    def step(self, closure=None):
        """One update: torch's, or with use_tf_variant TensorFlow's, whose epsilon lies inside of the root and whose momentum holds the learning rate."""
        return self._update_all(closure)

    def _update(self, p, group):
        state, alpha, rate = self.state[p], group["alpha"], group["lr"]
        gradient = (-p.grad if group["maximize"] else p.grad) + group["weight_decay"] * p
        state["step"].add_(1)
        square = state["square_avg"].mul_(alpha).addcmul_(gradient, gradient, value=1 - alpha)
        if group["centered"]:
            mean = state["grad_avg"].lerp_(gradient, 1 - alpha)
            square = square - mean * mean
        step = gradient / ((square + group["eps"]).sqrt() if self.use_tf_variant else square.sqrt() + group["eps"])
        step = step * rate if self.use_tf_variant else step
        if group["momentum"] > 0:
            step = state["momentum_buffer"].mul_(group["momentum"]).add_(step)
        p.sub_(step if self.use_tf_variant else step * rate)


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


# --- what a model asks of an optimizer

_PLAIN = (torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW, torch.optim.RMSprop, SGD, Adam, AdamW, RMSprop, LAMB)


def check(optimizer):
    """Raises AssertionError for what is not an optimizer, ValueError for one that PopTorch does not have. A subclass is said to be traced."""
    assert isinstance(optimizer, torch.optim.Optimizer), "An optimizer of torch.optim or poptorch.optim is expected"
    if any(group.get("amsgrad") for group in optimizer.param_groups):
        raise ValueError("Only non-amsgrad Adam/AdamW optimizers are supported.")
    if type(optimizer) not in _PLAIN and any(cls in _PLAIN for cls in type(optimizer).__mro__):
        logger.warning("Poptorch does not run Python optimizer code directly: the step of %s is traced once.", type(optimizer).__name__)


def loss_scale(optimizer):
    """What the loss is multiplied with before its gradients are taken."""
    return float(getattr(optimizer, "loss_scaling", 1.0) or 1.0)


def settings(optimizer):
    """What is compiled into an update, but for numbers, of which the program knows."""
    own = [loss_scale(optimizer), *(getattr(optimizer, name, None) for name in ("bias_correction", "use_tf_variant", "max_grad_norm"))]
    return [own, constants(optimizer)]


def is_like(optimizer, other):
    """Whether two optimizers are of one class and of the same parameters, group by group."""
    return type(optimizer) is type(other) and ([[id(p) for p in g["params"]] for g in optimizer.param_groups]
                                               == [[id(p) for p in g["params"]] for g in other.param_groups])


def needs_running_mean(optimizer):
    """Whether gradients are accumulated in float16, for which PopTorch takes the running mean."""
    return getattr(optimizer, "accum_type", None) == torch.float16 and not getattr(optimizer, "use_combined_accum", False)


def say(optimizer):
    """A DEBUG line with the settings of an optimizer."""
    own = {"accumType": getattr(optimizer, "accum_type", None),
           "firstOrderMomentumAccumType": getattr(optimizer, "first_order_momentum_accum_type", getattr(optimizer, "velocity_accum_type", None)),
           "secondOrderMomentumAccumType": getattr(optimizer, "second_order_momentum_accum_type", None)}
    types = ", ".join(f"{name}={str(value).split('.')[-1]}" for name, value in own.items() if value is not None)
    logger.debug("graph optimizer with %s (%s; computed in float32) lossScaling=%g", type(optimizer).__name__, types, getattr(optimizer, "loss_scaling", 1.0) or 1.0)
    for number, group in enumerate(optimizer.param_groups):
        logger.debug("Updating group %d optimizer with %s learningRate=%g,", number, type(optimizer).__name__, float(group["lr"]))


class Watch:
    """Sees attributes that an optimizer gets after a model is made: nothing reads them. relaxed: a DEBUG line instead of a warning."""

    def __init__(self, optimizer, relaxed):
        self._say = logger.debug if relaxed else logger.warning
        self._known = set(vars(optimizer))
        self._groups = [set(group) for group in optimizer.param_groups]

    def look(self, optimizer):
        """Names what is new, once."""
        for name in sorted(set(vars(optimizer)) - self._known - {"variable_attrs", *_OWN}):
            self._known.add(name)
            self._say("Ignoring unexpected optimizer attribute '%s'", name)
        for number, (known, group) in enumerate(zip(self._groups, optimizer.param_groups)):
            for name in sorted(set(group) - known):
                known.add(name)
                self._say("Ignoring unexpected group %d attribute '%s'", number, name)
