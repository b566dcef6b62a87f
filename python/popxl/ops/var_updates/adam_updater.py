"""What Adam and its relatives change weights by."""
from typing import Optional, Union

from popxl._build import op
from popxl.ops.utils import scalars
from popxl.tensor import Tensor

_Scalar = Optional[Union[float, Tensor]]


def weight_decay_is_required(weight_decay):
    """Whether a weight decay other than zero was given."""
    return weight_decay is not None and not (isinstance(weight_decay, (int, float)) and weight_decay == 0)


def create_adamupdater(acc_first_order, acc_second_order, ins, mode, weight=None, time_step=None, weight_decay=None, beta1=None, beta2=None, epsilon=1e-07):
    """The op of a mode ("adam_updater", "lamb_updater" or "adamax_updater"); `ins` is not used."""
    if weight_decay_is_required(weight_decay) and weight is None:
        raise ValueError("Weight decay requires weight to not be None.")
    values = {"weight_decay": weight_decay if weight_decay_is_required(weight_decay) else None, "beta1": beta1, "beta2": beta2, "epsilon": epsilon}
    if mode == "adamax_updater":
        del values["beta2"]
    attributes, tensors = scalars(**values)
    given = {"weight": weight, "time_step": time_step}
    attributes["present"] = [name for name, t in given.items() if t is not None]
    return op(mode, [acc_first_order, acc_second_order, *(t for t in given.values() if t is not None), *tensors], attributes)[0]


def _check(weight, time_step, weight_decay, beta1, beta2):
    if weight_decay_is_required(weight_decay) and weight is None:
        raise ValueError("Weight decay requires weight to not be None.")
    if time_step is not None and (beta1 is None or beta2 is None):
        raise ValueError("Bias correction requires both beta1 and beta2 to not be None.")


def adam_updater(acc_first_order: Tensor, acc_second_order: Tensor, weight: Optional[Tensor] = None, time_step: Optional[Tensor] = None,
                 weight_decay: _Scalar = None, beta1: _Scalar = None, beta2: _Scalar = None, epsilon: Union[float, Tensor] = 1e-07) -> Tensor:
    """acc_first_order / (sqrt(acc_second_order) + epsilon) [+ weight_decay * weight].

    With a time step, which goes up by one, both accumulators are corrected for their bias first: divided by 1 - beta**time_step.

    Args:
        acc_first_order, acc_second_order: running means of the gradient and of its square, of one shape.
        weight: for weight decay.
        time_step: a scalar; it changes.
        weight_decay, beta1, beta2, epsilon: numbers or scalars.

    Raises:
        ValueError: weight decay without a weight, a time step without both betas.
    """
    _check(weight, time_step, weight_decay, beta1, beta2)
    return create_adamupdater(acc_first_order, acc_second_order, {}, "adam_updater", weight, time_step, weight_decay, beta1, beta2, epsilon)


def lamb_updater(acc_first_order: Tensor, acc_second_order: Tensor, weight: Optional[Tensor] = None, time_step: Optional[Tensor] = None,
                 weight_decay: _Scalar = None, beta1: _Scalar = None, beta2: _Scalar = None, epsilon: Union[float, Tensor] = 1e-07) -> Tensor:
    """What LAMB scales by its trust ratio: the same as `adam_updater`."""
    _check(weight, time_step, weight_decay, beta1, beta2)
    return create_adamupdater(acc_first_order, acc_second_order, {}, "lamb_updater", weight, time_step, weight_decay, beta1, beta2, epsilon)


def adamax_updater(acc_first_order: Tensor, acc_second_order: Tensor, weight: Optional[Tensor] = None, time_step: Tensor = None,
                   weight_decay: _Scalar = None, beta1: Union[float, Tensor] = 0.9, epsilon: Union[float, Tensor] = 1e-07) -> Tensor:
    """acc_first_order / (1 - beta1**time_step) / (acc_second_order + epsilon) [+ weight_decay * weight]; time_step goes up by one.

    Args:
        acc_first_order, acc_second_order: the running mean of the gradient, and its largest magnitude.
        weight, time_step, weight_decay, beta1, epsilon: see `adam_updater`.

    Raises:
        ValueError: no time step, or weight decay without a weight.
    """
    if time_step is None:
        raise ValueError("AdaMax requires time_step to not be None.")
    return create_adamupdater(acc_first_order, acc_second_order, {}, "adamax_updater", weight, time_step, weight_decay, beta1, None, epsilon)


__all__ = ["adam_updater", "lamb_updater", "adamax_updater"]
