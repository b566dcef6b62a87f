"""A training step as one program: forward, backward and update, with weights resident on the device."""
import weakref
from typing import List

import numpy as np
import torch

import popxl
import popxl.ops as ops

from pando.torch import adapter
from pando.torch.decompositions import decompositions
from pando.torch.importer import Importer
from pando.torch.program import Seed
from pando.torch.types import to_array, to_popxl, to_tensor, warn_of_float64


def compile_step(model, loss, optimizer, *, device="cpu", steps_per_call=1, return_outputs=False):
    """One program of forward, backward and update. Weights, buffers and the optimizer's state stay on the device between calls.

    Args:
        model: an nn.Module. What it does when it is traced counts: its training mode, its Python control flow.
        loss: a function of the model's output and of the targets that gives a scalar; None: the model returns the loss, or a tuple that begins with it.
        optimizer: of torch.optim, over parameters of the model. Learning rates may change between calls.
        device: "cpu" (one tile with the whole host), "ipu_model" (1,472 tiles) or "interpreter".
        steps_per_call: steps of one call; the inputs and targets have a leading dimension of as many.
        return_outputs: whether a call gives (loss, output) instead of the loss.

    Returns:
        a TrainingStep: `step(inputs, targets)`, each a tensor or a tuple of them.

    Raises:
        TypeError: no module, no optimizer.
        ValueError: an optimizer of other parameters; steps_per_call below 1.
        UnsupportedOps: at the first call: ops without a rule, all named with the model's lines.
    """
    return TrainingStep(model, loss, optimizer, device, steps_per_call, return_outputs)


def _tuple(x):
    if x is None:
        return ()
    return tuple(x) if isinstance(x, (tuple, list)) else (x,)


class TrainingStep:
    """A compiled training step. Made by `compile_step`.

    `model.state_dict()` and `optimizer.state_dict()` bring the state back first; `sync()` does so, too. After `load_state_dict` the next call takes the new state.
    """

    def __init__(self, model, loss, optimizer, device, steps_per_call, return_outputs):
        if not isinstance(model, torch.nn.Module):
            raise TypeError(f"compile_step: an nn.Module is expected, not {type(model).__name__}.")
        if not isinstance(optimizer, torch.optim.Optimizer):
            raise TypeError(f"compile_step: an optimizer of torch.optim is expected, not {type(optimizer).__name__}.")
        if loss is not None and not callable(loss):
            raise TypeError(f"compile_step: the loss is a function, not {type(loss).__name__}.")
        if not isinstance(steps_per_call, int) or steps_per_call < 1:
            raise ValueError(f"compile_step: steps_per_call is an integer from 1 on, not {steps_per_call!r}.")
        known = {id(p) for p in model.parameters()}
        if any(id(p) not in known for group in optimizer.param_groups for p in group["params"]):
            raise ValueError("compile_step: the optimizer has parameters that the model does not have.")
        self._model, self._loss, self._optimizer = model, loss, optimizer
        self._device, self._steps, self._return_outputs = device, steps_per_call, return_outputs
        self._programs, self._current = {}, None
        own = weakref.ref(self)
        for thing in (model, optimizer):
            thing.register_state_dict_pre_hook(lambda *args, **kwargs: own() and own().sync())
        model.register_load_state_dict_post_hook(lambda *args, **kwargs: own() and own()._forget())
        if hasattr(optimizer, "register_load_state_dict_post_hook"):
            optimizer.register_load_state_dict_post_hook(lambda *args, **kwargs: own() and own()._forget())

    def __call__(self, inputs, targets=None):
        """Runs `steps_per_call` steps.

        Returns:
            the loss, a scalar; for several steps a tensor of as many. With return_outputs a pair of it and of the model's output.
        """
        inputs, targets = _tuple(inputs), _tuple(targets)
        for x in (*inputs, *targets):
            if not isinstance(x, torch.Tensor):
                raise TypeError(f"A training step takes tensors, not {type(x).__name__}.")
            if self._steps > 1 and (x.dim() == 0 or x.shape[0] != self._steps):
                raise ValueError(f"A tensor of the shape {tuple(x.shape)} for {self._steps} steps: its first dimension counts them.")
        program = self._program(inputs, targets)
        if program is not self._current:
            self.sync()
            program.load()
            self._current = program
        return program.run((*inputs, *targets))

    def sync(self):
        """Brings parameters, buffers and the optimizer's state from the device into the model and the optimizer."""
        if self._current is not None:
            self._current.save()

    def program(self, inputs, targets=None):
        """The popxl.Ir of the step for such inputs: what `popxl.distribution.search` and `pando` tools take."""
        return self._program(_tuple(inputs), _tuple(targets)).ir

    def _forget(self):
        self._current = None

    def _program(self, inputs, targets):
        fixed = () if adapter.takes_tensor_rates(self._optimizer) else tuple(float(group["lr"]) for group in self._optimizer.param_groups)
        key = (tuple((tuple(x.shape), x.dtype) for x in (*inputs, *targets)), len(inputs), self._model.training, fixed)
        if key not in self._programs:
            warn_of_float64([*inputs, *targets, *self._model.parameters()])
            self._programs[key] = _StepProgram(self._model, self._loss, self._optimizer, inputs, targets, self._device, self._steps, self._return_outputs)
        return self._programs[key]


class _StepProgram:
    """The program of one set of shapes."""

    def __init__(self, model, loss, optimizer, inputs, targets, device, steps, return_outputs):
        self._optimizer, self._steps, self._return_outputs = optimizer, steps, return_outputs
        adapter.initialised_state(optimizer)
        self._parameters = dict(model.named_parameters())
        self._buffers = dict(model.named_buffers())
        self._state = [(p, key) for group in optimizer.param_groups for p in group["params"]
                       for key, value in optimizer.state[p].items() if isinstance(value, torch.Tensor)]
        self._rates = adapter.takes_tensor_rates(optimizer)
        self._trace(model, loss, inputs, targets)
        self._build(device)

    # --- the graph

    def _resident(self):
        """The tensors that stay on the device, as they are on the host now."""
        return [*self._parameters.values(), *self._buffers.values(), *(self._optimizer.state[p][key] for p, key in self._state)]

    def _rate_values(self):
        return [torch.tensor(float(group["lr"])) for group in self._optimizer.param_groups] if self._rates else []

    def _trace(self, model, loss, inputs, targets):
        names = [*self._parameters, *self._buffers]
        resident, rates = len(self._resident()), len(self._rate_values())
        by_tensor = {p: name for name, p in self._parameters.items()}

        def step(*flat):
            state = flat[len(names):resident]
            tensors = {}
            for name, value in zip(names, flat):
                trained = name in self._parameters and self._parameters[name].requires_grad
                tensors[name] = value.detach().requires_grad_() if trained else value
            given = flat[resident + rates:]
            with adapter.reparametrized(model, tensors):
                output = model(*given[:len(inputs)])
            value = loss(output, *given[len(inputs):]) if loss is not None else _tuple(output)[0]
            trained = [p for group in self._optimizer.param_groups for p in group["params"] if p.requires_grad]
            own = {p: tensors[by_tensor[p]] for p in trained}
            for p, gradient in zip(own.values(), torch.autograd.grad(value, list(own.values()), allow_unused=True)):
                p.grad = gradient
            states = {}
            for (p, key), tensor in zip(self._state, state):
                states.setdefault(p, {k: v for k, v in self._optimizer.state[p].items() if not isinstance(v, torch.Tensor)})[key] = tensor
            group_rates = flat[resident:resident + rates] or [None] * len(self._optimizer.param_groups)
            adapter.update(adapter.optimizer_with(self._optimizer, own, states, group_rates))
            outputs = [t.detach() for t in _tuple(output) if isinstance(t, torch.Tensor)] if self._return_outputs else []
            return [value.detach(), *outputs]

        one_step = [x[0] if self._steps > 1 else x for x in (*inputs, *targets)]
        self._graph = adapter.trace(step, [*self._resident(), *self._rate_values(), *one_step], decompositions())
        self._graph.graph.eliminate_dead_code()
        self._given = one_step

    # --- the program

    def _build(self, device):
        self.ir = popxl.Ir()
        self.ir.num_host_transfers = self._steps
        placeholders = [n for n in self._graph.graph.nodes if n.op == "placeholder"]
        resident = self._resident()
        self._seed = Seed()
        with self.ir.main_graph, popxl.in_sequence(True):
            self._variables = [popxl.variable(to_array(x), to_popxl(x.dtype), name=n.name) for x, n in zip(resident, placeholders)]
            self._rate_variables = [popxl.variable(to_array(x), popxl.float32, name="lr") for x in self._rate_values()]
            variables = [*self._variables, *self._rate_variables]
            if self._steps == 1:
                self._write(variables)
            else:
                ops.repeat(self.ir.create_graph(self._write, variables), self._steps, *variables)
        self._session = popxl.Session(self.ir, device, weights_to_host_on_exit=False)
        self._session.__enter__()
        weakref.finalize(self, self._session.__exit__, None, None, None)
        self._last_rates = None

    def _write(self, variables: List[popxl.TensorByRef]):
        self._streams = [popxl.h2d_stream(tuple(x.shape), to_popxl(x.dtype), name=f"input_{i}") for i, x in enumerate(self._given)]
        given = [ops.host_load(s) for s in self._streams]
        made = Importer(self._seed).run(self._graph, [*variables, *given])
        self._results = []
        for value in made:
            stream = popxl.d2h_stream(value.shape, value.dtype)
            ops.host_store(stream, value)
            self._results.append(stream)

    def run(self, inputs):
        rates = [float(group["lr"]) for group in self._optimizer.param_groups] if self._rates else None
        if rates != self._last_rates:
            self._session.write_variables_data({v: np.float32(r) for v, r in zip(self._rate_variables, rates or ())})
            self._last_rates = rates
        results = self._session.run({**{s: to_array(x) for s, x in zip(self._streams, inputs)}, **self._seed.data(self._steps)})
        loss, *outputs = (torch.from_numpy(results[s]) for s in self._results)
        if not self._return_outputs:
            return loss
        return loss, (outputs[0] if len(outputs) == 1 else tuple(outputs))

    def load(self):
        """Takes the state of the model and the optimizer."""
        self._session.write_variables_data({v: to_array(x).astype(v.dtype.as_numpy()) for v, x in zip(self._variables, self._resident())})

    def save(self):
        """Gives the model and the optimizer their state."""
        data = self._session.get_tensors_data(self._variables)
        with torch.no_grad():
            for v, x in zip(self._variables, self._resident()):
                x.copy_(to_tensor(data[v], x.dtype))
