"""Losses of classification."""
from typing import Literal, Optional, Tuple, Union

from popxl._build import one, op
from popxl.ops.utils import scalars
from popxl.tensor import Tensor

REDUCTION_TYPE = Literal["mean", "sum", "none"]
_REDUCTIONS = ("mean", "sum", "none")


def _check(reduction, what):
    if reduction not in _REDUCTIONS:
        raise ValueError(f"{what}: reduction is one of {', '.join(_REDUCTIONS)}, not {reduction!r}.")


def nll_loss(probs: Tensor, labels: Tensor, ignore_index: Optional[int] = None, reduction: REDUCTION_TYPE = "mean", log_prob: bool = False) -> Tensor:
    """The negative logarithm of the probability of each label.

    Args:
        probs: (*rows, classes), probabilities.
        labels: integers, (*rows).
        ignore_index: a label whose rows do not count.
        reduction: "mean" over the rows that count, "sum" or "none".
        log_prob: whether probs are logarithms already.

    Returns:
        a scalar, or (*rows) for "none".

    Raises:
        ValueError: another reduction.
    """
    _check(reduction, "nll_loss")
    return one("nll_loss", [probs, labels], {"ignore_index": ignore_index, "reduction": reduction, "log_prob": log_prob})


def nll_loss_with_softmax_grad(probs: Tensor, labels: Tensor, loss_grad: Union[float, Tensor] = 1, ignore_index: Optional[int] = None,
                               reduction: REDUCTION_TYPE = "mean") -> Tuple[Tensor, Tensor]:
    """The loss of probabilities that a softmax has made, and the gradient of what it was made from.

    Args:
        probs, labels, ignore_index, reduction: see `nll_loss`.
        loss_grad: the gradient of the loss, a number or a scalar.

    Returns:
        (loss, gradient of the shape of probs)

    Raises:
        ValueError: another reduction.
    """
    _check(reduction, "nll_loss_with_softmax_grad")
    attributes, tensors = scalars(loss_grad=loss_grad)
    return tuple(op("nll_loss_with_softmax_grad", [probs, labels, *tensors], {**attributes, "ignore_index": ignore_index, "reduction": reduction}))


__all__ = ["nll_loss", "nll_loss_with_softmax_grad"]
