"""Tensors that Options.anchorTensor asks for by name: inputs, the loss, weights, their gradients and new values."""
import torch

from poptorch import enums, optim
from poptorch.errors import createPoptorchError
from poptorch.logging import logger

_GRADIENT, _UPDATED = "Gradient___", "UpdatedVar___"
_MODES = {enums.OutputMode.All: "ALL", enums.OutputMode.EveryN: "EVERYN", enums.OutputMode.Final: "FINAL", enums.OutputMode.Sum: "Sum"}


class Anchors:
    """The anchored tensors of a model.

    Args:
        options: poptorch.Options; `anchored_tensors`: {short name: (long name, mode or None, period)}.
        batches: the Batches of the model.
    """

    def __init__(self, options, batches):
        self._batches, self._values, self._gradients = batches, {}, []
        self._wanted = {short: (name, options.output_mode if mode is None else mode, options.output_return_period if mode is None else period if mode == enums.OutputMode.EveryN else 1)
                        for short, (name, mode, period) in options.anchored_tensors.items()}
        for name, mode, period in self._wanted.values():
            logger.debug("anchored tensor %s %s/%s", name, _MODES[mode], period)

    def __bool__(self):
        return bool(self._wanted)

    def gradients(self, names):
        """The parameters whose gradients a program has to return, of those with some names."""
        self._gradients = [n for n in names if any(name == _GRADIENT + n for name, _, _ in self._wanted.values())]
        return self._gradients

    def names(self, executor):
        """All names that can be anchored."""
        names, _ = executor._resident()
        inputs = ["input" + (f"/{i}" if i else "") for i in range(len(executor._input_types))]
        if not executor._training:
            return [*inputs, *names]
        trained = [n for n, p in executor._user_model.named_parameters() if p.requires_grad]
        scalars = [f"scaledLearningRate0___specific___{n}" for n in trained] + [f"weightDecayScaleFactor0___specific___{n}" for n in trained]
        final = ["finalLossScale"] if executor._options.Training.auto_loss_scaling else []
        return [*inputs, *names, *final, "loss", *(_GRADIENT + n for n in trained), *(_UPDATED + n for n in trained), *scalars]

    def take(self, executor, inputs, loss, gradients):
        """Keeps what a call gave. gradients: arrays, in the order that gradients() said."""
        by_name = dict(zip(self._gradients, gradients))
        names, weights = executor._resident()
        shapes = dict(zip(names, (tuple(w.shape) for w in weights)))
        for short, (name, mode, period) in self._wanted.items():
            if name.startswith(_GRADIENT) and name[len(_GRADIENT):] in by_name:
                parameter = name[len(_GRADIENT):]
                self._values[short] = self._batches.combined(by_name[parameter], mode, shapes[parameter], period)
            elif name == "loss" and loss is not None:
                self._values[short] = self._batches.combined(loss, mode, (), period)
            elif name == "finalLossScale" and name in self.names(executor):
                self._values[short] = torch.tensor(optim.loss_scale(executor._optimizer))
            elif name.removeprefix(_UPDATED) in shapes:
                self._values[short] = self._weight(executor, name.removeprefix(_UPDATED), mode)
            elif name.startswith("input") and name in self.names(executor):
                self._values[short] = inputs[int(name.partition("/")[2] or 0)].clone()
            else:
                raise createPoptorchError(f"anchorTensor: there is no tensor {name}. getTensorNames() lists those that there are.")

    def _weight(self, executor, name, mode):
        if mode != enums.OutputMode.Final and self._batches.steps * self._batches.accumulation > 1:
            raise createPoptorchError(f"anchorTensor: of the weight {name} the value after the last step is there: its mode is Final, or None in training.")
        with torch.no_grad():
            executor.copyWeightsToHostIfNeeded()
            return dict(zip(*executor._resident()))[name].detach().as_subclass(torch.Tensor).clone()

    def tensor(self, short):
        """What a call gave under a short name."""
        assert short in self._wanted, f"There is no anchored tensor {short}."
        assert short in self._values, f"{short}: the model has not run yet."
        return self._values[short]
