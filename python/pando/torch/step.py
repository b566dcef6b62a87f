"""A training step as one program: forward, backward and update, with weights resident on the device."""
import collections.abc
import contextlib
import dataclasses
import sys
import weakref

import torch

from pando.torch import adapter, states, trees
from pando.torch.decompositions import decompositions
from pando.torch.importer import line_of
from pando.torch.program import Program, on_one_replica, output, placeholders, take_writes
from pando.torch.settings import Settings
from pando.torch.types import to_array, to_tensor, warn_of_widths


@dataclasses.dataclass(frozen=True)
class StepOptions:
    """What `compile_step` may be told."""

    device: object = "cpu"
    steps_per_call: int = 1
    gradient_accumulation: int = 1
    replicas: int = 1
    return_outputs: bool = False
    instances: int = 1
    profile: object = None
    max_grad_norm: object = None

    def __post_init__(self):
        norm = self.max_grad_norm
        if norm is not None and (isinstance(norm, bool) or not isinstance(norm, (int, float)) or not norm > 0):
            raise ValueError(f"compile_step: max_grad_norm is a number above 0, or None, not {norm!r}.")
        for name in ("steps_per_call", "gradient_accumulation", "replicas", "instances"):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise ValueError(f"compile_step: {name} is an integer from 1 on, not {value!r}.")


def compile_step(model, loss, optimizer, **options):
    """One program of forward, backward and update. Weights, buffers and the optimizer's state stay on the device between calls.

    Args:
        model: an nn.Module. What it does when it is traced counts: its training mode, its Python control flow.
        loss: a function of what the model returns and of the targets that gives a scalar; None: the model returns the loss, a tuple that begins with it, or a
            dict or an object with a `loss`.
        optimizer: of torch.optim, over parameters of the model. Learning rates may change between calls.
        device: "cpu" (default; one tile with the whole host), "ipu_model" (1,472 tiles) or "interpreter".
        steps_per_call: updates in one call (1).
        gradient_accumulation: micro-batches of an update (1); the update takes the mean of their gradients.
        replicas: copies of the model that work side by side, each on micro-batches of its own (1); the update takes the mean of their gradients.
            Inputs, targets and results have leading dimensions (steps_per_call * gradient_accumulation, replicas), without those that are 1.
        instances: processes that train the model together, each with so many replicas (1): popdist.getNumInstances() where poprun starts them.
        return_outputs: whether a call gives (loss, output) instead of the loss (False); the output has the form that the model gives it, without
            objects of classes that PyTorch's pytree does not know, as caches are: None is in their place.
        max_grad_norm: to which norm all gradients of an update together are clipped, as torch.nn.utils.clip_grad_norm_ does (None: they are not).
        profile: a folder for a report of compiling and of the first call (None): `pando report FOLDER/profile.pando` shows it.

    Returns:
        a TrainingStep: `step(inputs, targets, **keywords)`. Inputs and targets are tensors, or tuples, lists, dicts, dataclasses ... of them, nested at will.
            A tuple or list of inputs holds the model's positional arguments, a dict those by name; keywords are more of these. A tuple or list of targets holds
            arguments of the loss. Numbers, strings and None inside are constants: another one compiles another program.

    Raises:
        TypeError: no module, no optimizer.
        ValueError: an optimizer of other parameters; counts below 1; a loss that is not a scalar.
        UnsupportedOps: at the first call: ops without a rule, all named with the model's lines.
    """
    return TrainingStep(model, loss, optimizer, StepOptions(**options))


class TrainingStep:
    """A compiled training step. Made by `compile_step`.

    `model.state_dict()` and `optimizer.state_dict()` bring the state back first; `sync()` and deleting the step do so, too. After `load_state_dict` the next call takes the new state.
    """

    def __init__(self, model, loss, optimizer, options=StepOptions()):
        if not isinstance(model, torch.nn.Module):
            raise TypeError(f"compile_step: an nn.Module is expected, not {type(model).__name__}.")
        if isinstance(model, torch.jit.ScriptModule):
            raise TypeError("compile_step: a module of torch.jit.script has no Python that a trace could follow. Give the module that it was made of.")
        if not isinstance(optimizer, torch.optim.Optimizer):
            raise TypeError(f"compile_step: an optimizer of torch.optim is expected, not {type(optimizer).__name__}.")
        if loss is not None and not callable(loss):
            raise TypeError(f"compile_step: the loss is a function, not {type(loss).__name__}.")
        known = {id(p) for p in model.parameters()}
        if any(id(p) not in known for group in optimizer.param_groups for p in group["params"]):
            raise ValueError("compile_step: the optimizer has parameters that the model does not have.")
        self._model, self._loss, self._optimizer = model, loss, optimizer
        self._options = options
        self._modules, self._parameters = [*model.modules()], [*model.parameters()]
        self._programs, self._current = {}, None
        own = weakref.ref(self)
        for thing in (model, optimizer):
            thing.register_state_dict_pre_hook(lambda *args, **kwargs: own() and own().sync())
        model.register_load_state_dict_post_hook(lambda *args, **kwargs: own() and own()._forget())
        if hasattr(optimizer, "register_load_state_dict_post_hook"):
            optimizer.register_load_state_dict_post_hook(lambda *args, **kwargs: own() and own()._forget())

    def __call__(self, inputs, targets=None, **keywords):
        """Runs `steps_per_call` steps.

        Returns:
            the loss, a scalar, or one for each micro-batch. With return_outputs a pair of it and of the model's output.
        """
        tensors, form = self._flatten(inputs, targets, keywords)
        program, forward = self._program(tensors, form)
        if program is not self._current:
            self.sync()
            program.load()
            program.note()
            self._current = program
        else:
            program.load_changed()
        adapter.note_step(self._optimizer)
        value, *outputs = map(to_tensor, program.run([to_array(x) for x in tensors]), program.types)
        return (value, forward.output.rebuild(iter(outputs))) if self._options.return_outputs else value

    def sync(self):
        """Brings parameters, buffers and the optimizer's state from the device into the model and the optimizer, but for what was written there since."""
        if self._current is not None:
            self._current.load_changed()
            self._current.save()
            self._current.note()

    def __del__(self):
        # What was trained is the model's, also where only the model stays.
        if getattr(self, "_current", None) is not None and not sys.is_finalizing():
            self.sync()

    def program(self, inputs, targets=None, **keywords):
        """The popxl.Ir of the step for such inputs: what `popxl.distribution.search` and `pando` tools take."""
        return self._program(*self._flatten(inputs, targets, keywords))[0].ir

    def _forget(self):
        self._current = None

    def _lead(self):
        """The first dimensions of all tensors."""
        options = self._options
        return tuple(n for n in (options.steps_per_call * options.gradient_accumulation, options.replicas) if n > 1)

    def _flatten(self, inputs, targets, keywords):
        """(the tensors of a call, the trees.Form of the model's arguments and the loss')"""
        args, kwargs = trees.arguments(inputs, keywords)
        aims = trees.arguments((targets,) if isinstance(targets, collections.abc.Mapping) else targets)[0]
        found, form = [], []
        for value, name in ((args, "inputs"), (kwargs, "inputs"), (aims, "targets")):
            tensors, part = trees.flatten(value, name)
            found, form = found + tensors, [*form, part]
        lead = self._lead()
        for name, x in found:
            if tuple(x.shape[:len(lead)]) != lead:
                raise ValueError(f"{name} has the shape {tuple(x.shape)}: its first dimensions are {lead}, those of micro-batches and replicas.")
        return [x for _, x in found], tuple(form)

    def _modes(self):
        """The modes of the model's parts, and which weights are trained."""
        return tuple(m.training for m in self._modules), tuple(p.requires_grad for p in self._parameters)

    def _program(self, tensors, form):
        """(the StepProgram, its Forward)"""
        key = (form, tuple((tuple(x.shape), x.dtype) for x in tensors), *self._modes())
        if key in self._programs and not self._programs[key][0].holds(self._optimizer):
            # What the optimizer is told now takes another update.
            self.sync()
            self._programs, self._current = {}, None
        if key not in self._programs:
            warn_of_widths([*tensors, *self._model.parameters()])
            forward = Forward(self._model, self._loss, form, self._options.return_outputs)
            batch = [x[(0,) * len(self._lead())] for x in tensors]
            self._programs[key] = StepProgram(self._model, forward, self._optimizer, batch, self._options, max_norm=self._options.max_grad_norm), forward
        return self._programs[key]


class Forward:
    """The function of one micro-batch, (tensors...) to (loss, [tensors of the output]).

    form: trees.Form of (positional arguments, those by name, targets). `output`: once it was called, the form of the model's output.
    """

    def __init__(self, model, loss, form, return_outputs):
        self._model, self._loss, self._form, self._return_outputs, self.output = model, loss, form, return_outputs, None

    def __call__(self, *tensors):
        given = iter(tensors)
        args, kwargs, targets = (part.rebuild(given) for part in self._form)
        with _noting("A tuple or list of inputs holds the model's arguments; targets are the second argument of a step: step(inputs, targets)."):
            output = self._model(*args, **kwargs)
        with _noting(f"The loss gets the model's output and {len(targets)} targets, the second argument of a step: step(inputs, targets)."):
            value = self._loss(output, *targets) if self._loss is not None else trees.first(output)
        if not self._return_outputs:
            return value, []
        found, self.output = trees.flatten(output, "The model's output", strict=False)
        return value, [x for _, x in found]


@contextlib.contextmanager
def _noting(text):
    """Inside, an error about arguments gets a note."""
    try:
        yield
    except TypeError as error:
        if "argument" in str(error) and hasattr(error, "add_note"):
            error.add_note(text)
        raise


def clipped(gradients, max_norm):
    """Gradients, scaled so that the norm of all of them is at most max_norm."""
    if max_norm is None or max_norm == float("inf"):
        return gradients
    norm = torch.stack([g.float().square().sum() for g in gradients]).sum().sqrt()
    scale = (max_norm / (norm + 1e-6)).clamp(max=1.0)
    return [g * scale.to(g.dtype) for g in gradients]


def unscaled(gradient, scale):
    """A gradient of a loss that was multiplied with a scale, without it."""
    return gradient if scale == 1 else (gradient.float() / scale).to(gradient.dtype)


class StepProgram:
    """The program of a training step for one set of shapes.

    Args:
        model: whose parameters and buffers are resident.
        function: of the tensors of one micro-batch: (loss, [outputs]).
        optimizer: of torch.optim.
        batch: tensors of the shapes and types of one micro-batch.
        options: StepOptions.
        mean: whether an update takes the mean of the gradients of micro-batches and replicas, or their sum.
        gradients_of: names of parameters whose gradients are results, too, after all others.
        max_norm: to which norm all gradients together are clipped before an update; None or infinite: they are not.
        loss_scale: what the loss is multiplied with before its gradients are taken, which an update divides by it.
        groups: {name of a parameter: (stride, size) of the groups of replicas that share it}; the others are the same on all.

    Raises:
        NotImplementedError: groups of replicas in several processes, or a norm of gradients that differ between groups.
    """

    def __init__(self, model, function, optimizer, batch, options, mean=True, gradients_of=(), max_norm=None, loss_scale=1.0, groups=None):
        self._optimizer, self._options, self._max_norm, self._loss_scale = optimizer, options, max_norm, loss_scale
        states.initialise(optimizer)
        self._settings = Settings(optimizer)
        self._names = [*dict(model.named_parameters()), *dict(model.named_buffers())]
        self._tensors = [*dict(model.named_parameters()).values(), *dict(model.named_buffers()).values()]
        self._state = [(p, key) for group in optimizer.param_groups for p in group["params"]
                       for key, value in optimizer.state.get(p, {}).items() if isinstance(value, torch.Tensor)]
        self._groups = {dict(model.named_parameters())[name]: group for name, group in (groups or {}).items()}
        if self._groups and (options.instances > 1 or max_norm not in (None, float("inf"))):
            raise NotImplementedError("Weights that differ between groups of replicas go with one process, and without max_grad_norm.")
        forward, self._trained = self._trace_forward(model, function, batch)
        resident = set(placeholders(forward)[:len(self._resident())])
        self.writes_buffers = any(n.target is torch.ops.aten.copy_.default and n.args[0] in resident for n in forward.graph.nodes)
        self.written = take_writes(forward, len(resident), None)
        update = self._trace_update()
        outputs = output(forward).args[0]
        # Results of forward: the loss, outputs, gradients, what it writes into inputs. Gradients come last in a program.
        gradients = outputs[self._results:self._results + len(self._trained)]
        by_name, names_of = dict(zip(self._names, self._tensors)), dict(zip(self._tensors, self._names))
        named = [gradients[next(i for i, p in enumerate(self._trained) if p is by_name[name])] for name in gradients_of]
        results = [*outputs[:self._results], *outputs[self._results + len(self._trained):], *named]
        output(forward).args = ([*results, *gradients],)
        # The element types of what run() gives.
        self.types = [r.meta["val"].dtype for r in results]
        names = [*self._names, *(f"{key}.{names_of[p]}" for p, key in self._state), *(f"input_{i}" for i in range(len(batch)))]
        self._program = Program(forward, options.device, self._resident(), update, self._rates(), len(results), options.steps_per_call,
                                options.gradient_accumulation, options.replicas, mean, names, options.instances, options.profile, self._resident_groups(),
                                [self._groups.get(p) for p in self._trained])
        self.ir = self._program.ir

    def _resident(self):
        """The tensors that stay on the device, as they are on the host now."""
        return [*self._tensors, *(self._optimizer.state[p][key] for p, key in self._state)]

    def _resident_groups(self):
        """For each resident tensor its groups of replicas, or None: the state of a parameter is like it, scalars are the same on all."""
        state = [self._groups.get(p) if self._optimizer.state[p][key].shape == p.shape else None for p, key in self._state]
        return [*(self._groups.get(t) for t in self._tensors), *state]

    def _examples(self):
        """What one replica has of the resident tensors."""
        return on_one_replica([x.detach() for x in self._resident()], self._resident_groups(), self._options.replicas)

    def holds(self, optimizer):
        """Whether the program is right for what an optimizer is told now."""
        return self._settings.holds(optimizer)

    def _rates(self):
        return self._settings.values(self._optimizer)

    def _trace_forward(self, model, function, batch):
        """(the graph of a micro-batch, the parameters that it gives gradients of)"""
        wanted = {p for group in self._optimizer.param_groups for p in group["params"] if p.requires_grad}
        places = [i for i, p in enumerate(self._tensors) if p in wanted]
        with_gradient = []

        def forward(*flat):
            tensors = [t.detach().requires_grad_() if p.requires_grad else t for p, t in zip(self._tensors, flat)]
            # Gradients, too: what is checkpointed is computed again with them.
            with adapter.reparametrized(model, dict(zip(self._names, tensors))):
                value, outputs = function(*flat[len(self._resident()):])
                if not isinstance(value, torch.Tensor) or value.numel() != 1:
                    raise ValueError(f"The loss is a scalar, not {tuple(value.shape) if isinstance(value, torch.Tensor) else type(value).__name__}.")
                wanted_tensors = [tensors[i] for i in places]
                scaled = value.reshape(()) * self._loss_scale if self._loss_scale != 1 else value.reshape(())
                gradients = torch.autograd.grad(scaled, wanted_tensors, allow_unused=True) if value.requires_grad else [None] * len(places)
            with_gradient[:] = [self._tensors[i] for i, g in zip(places, gradients) if g is not None]
            self._results = 1 + len(outputs)
            # Their hooks are those of parameters that a program has others in place of.
            gradients = [g if g is None else adapter.hooked(self._tensors[i], g) for i, g in zip(places, gradients)]
            return [value.detach(), *(t.detach() for t in outputs), *(g for g in gradients if g is not None)]

        graph = adapter.trace(forward, [*self._examples(), *batch], decompositions())
        self._check_constants(graph, wanted)
        return graph, list(with_gradient)

    def _check_constants(self, graph, wanted):
        """Raises NotImplementedError if a graph has a trained weight as a constant."""
        names = {p.data_ptr(): name for name, p in zip(self._names, self._tensors) if p in wanted and p.numel()}
        for node in graph.graph.nodes:
            value = getattr(graph, node.target) if node.op == "get_attr" else None
            if isinstance(value, torch.Tensor) and value.numel() and adapter.address(value) in names:
                line = next((line_of(user) for user in node.users if line_of(user)), "")
                raise NotImplementedError(f"The model uses its weight {names[adapter.address(value)]} as a tensor that it keeps elsewhere, in a list or a function; a program "
                                          "has the weights of modules alone. Read it from its module where it is used, or keep a ParameterList."
                                          + (f" {line}" if line else ""))

    def _trace_update(self):
        """The graph of the optimizer's step."""
        resident, room = len(self._resident()), self._settings.room

        def update(*flat):
            by_tensor = dict(zip(self._tensors, flat))
            own = {p: by_tensor[p] for p in self._trained}
            given = [unscaled(g, self._loss_scale) for g in flat[resident + room:]]
            for p, gradient in zip(own.values(), clipped(given, self._max_norm)):
                p.grad = gradient
            found = {}
            for (p, key), tensor in zip(self._state, flat[len(self._tensors):]):
                found.setdefault(p, {k: v for k, v in self._optimizer.state[p].items() if not isinstance(v, torch.Tensor)})[key] = tensor
            groups = self._settings.begin(flat[resident:resident + room])
            adapter.update(adapter.optimizer_with(self._optimizer, own, found, groups))
            return []

        gradients = on_one_replica([torch.empty_like(p) for p in self._trained], [self._groups.get(p) for p in self._trained], self._options.replicas)
        numbers = [torch.zeros(()) for _ in range(room)]
        graph = adapter.trace_writes(update, [*self._examples(), *numbers, *gradients], decompositions(), self._settings,
                                     f"An update of {type(self._optimizer).__name__}")
        for node in placeholders(graph)[resident + len(self._settings.inputs):resident + room]:
            graph.graph.erase_node(node)
        return graph

    def take_over(self, optimizer):
        """Another optimizer of the same class, parameters and settings in place of the first, which gets its state. What the other one has no state of goes on
        as it is."""
        self.save()
        old, self._optimizer = self._optimizer, optimizer
        own_state = False
        for p, key in self._state:
            state = optimizer.state[p]
            own_state = own_state or key in state
            if key not in state:
                state[key] = old.state[p][key].clone()
        if own_state:
            self.load()

    def open(self):
        """Compiles the program, which else the first run does. Returns self."""
        self._program.open()
        return self

    def run(self, arrays):
        """Arrays for all micro-batches in; the loss, the outputs and what is written into inputs (`written`: which) out, as arrays."""
        return self._program.run(arrays, self._rates())

    def load(self):
        """Takes the state of the model and the optimizer."""
        self._program.load(self._resident())

    def load_changed(self):
        """Takes the tensors that were changed on the host since note()."""
        changed = [None if adapter.place_in_memory(x) == seen else x for x, seen in zip(self._resident(), self._seen)]
        if any(x is not None for x in changed):
            self._program.load(changed)
            self.note()

    def save(self):
        """Gives the model and the optimizer their state."""
        self._program.save(self._resident())

    def note(self):
        """Notes what is on the host, for load_changed."""
        self._seen = [adapter.place_in_memory(x) for x in self._resident()]
