"""Models that run as programs of Pando: poptorch.inferenceModel and poptorch.trainingModel."""
import datetime
import inspect
import time

import numpy as np
import torch
from torch.utils import _pytree

from pando.torch import adapter
from pando.torch.decompositions import decompositions
from pando.torch.importer import UnsupportedOps
from pando.torch.resident import ResidentProgram, take_writes
from pando.torch.step import StepOptions, StepProgram

from poptorch import enums, optim, tracing
from poptorch.blocks import PipelinedExecution
from poptorch.errors import Error, createPoptorchError
from poptorch.logging import logger
from poptorch.options import Options
from poptorch.wrapping import unwrap, wrap

_NARROWED = {torch.int64: torch.int32, torch.float64: torch.float32, torch.bfloat16: torch.float32}


def inferenceModel(model, options=None):
    """A model for inference.

    Args:
        model: an nn.Module, or an executor, whose model is taken.
        options: poptorch.Options.

    Raises:
        TypeError: what cannot be called.
        poptorch.Error: options with gradient accumulation.
    """
    if isinstance(model, PoplarExecutor):
        model = model._user_model
    if not callable(model):
        raise TypeError("inferenceModel takes a torch.nn.Module.")
    options = _checked(options)
    if options.Training.gradient_accumulation != 1:
        message = ("You must set poptorch.Options().Training.gradientAccumulation to 1 or leave it as its default value (1) when running a "
                   "poptorch.inferenceModel().")
        if options._execution_strategy is not None:
            message += " Use poptorch.Options().deviceIterations to process a sufficient number of batches each run for pipelined execution instead."
        raise createPoptorchError(message)
    return PoplarExecutor(model, options, False, None)


def trainingModel(model, options=None, optimizer=None):
    """A model that trains: a call runs forward, backward and the optimizer's update.

    Args:
        model: an nn.Module, whose forward computes the loss (see identity_loss).
        options: poptorch.Options.
        optimizer: of torch.optim or poptorch.optim; None: SGD with a learning rate of 0.01.

    Raises:
        RuntimeError: a model that is wrapped already: destroy() first.
    """
    if isinstance(model, PoplarExecutor):
        model = model._user_model
    if not isinstance(model, torch.nn.Module):
        raise TypeError("trainingModel takes a torch.nn.Module.")
    options = _checked(options)
    optimizer = optimizer if optimizer is not None else optim.SGD(model.parameters(), lr=0.01)
    assert isinstance(optimizer, torch.optim.Optimizer), "An optimizer of torch.optim or poptorch.optim is expected"
    _check_optimizer(optimizer)
    return PoplarExecutor(model, options, True, optimizer)


def _checked(options):
    if options is None:
        return Options()
    if not isinstance(options, Options):
        raise createPoptorchError("Invalid type: options must be an instance of poptorch.Options.")
    return options


def _check_optimizer(optimizer):
    if any(group.get("amsgrad") for group in optimizer.param_groups):
        raise ValueError("Only non-amsgrad Adam/AdamW optimizers are supported.")


class PoplarExecutor:
    """A model as a program. Made by inferenceModel and trainingModel; attributes that it does not have are the model's."""

    def __init__(self, model, options, training, optimizer):
        options._freeze()
        chosen = options.clone()
        if chosen.defaultOutputMode():
            chosen.output_mode = enums.OutputMode.Final if training else enums.OutputMode.All
        chosen._freeze()
        self._user_model, self._options, self._training, self._optimizer = model, chosen, training, optimizer
        self._program = self._signature = None
        self._device_is_newer = False
        self._runs_seen = -1
        self._seconds = None
        self._attached = False
        self._compiled_settings = _settings(optimizer) if training else None
        if training:
            wrap(model, self)

    # --- what it is

    @property
    def model(self):
        return self._user_model

    @property
    def options(self):
        return self._options

    @property
    def training(self):
        return self._user_model.training

    def __getattr__(self, name):
        if name.startswith("_") and name in ("_user_model", "_options"):
            raise AttributeError(name)
        return getattr(self._user_model, name)

    def __repr__(self):
        return repr(self._user_model)

    def isCompiled(self):
        return self._program is not None

    def isAttachedToDevice(self):
        return self._attached

    def _needs_program(self):
        if self._program is None:
            raise createPoptorchError("Model has not been compiled or has been destroyed.")

    # --- inputs

    def _bound(self, args, kwargs):
        """The arguments of forward in order, with its defaults."""
        forward = self._user_model.forward if isinstance(self._user_model, torch.nn.Module) else self._user_model
        signature = inspect.signature(forward)
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            if "missing a required" in str(error):
                raise createPoptorchError("Mandatory parameter {} missing".format(str(error).split("'")[1])) from None
            raise AssertionError(str(error)) from None
        bound.apply_defaults()
        return bound.args, bound.kwargs

    def _factors(self):
        o = self._options
        return o.device_iterations, self._accumulation(), o.replication_factor

    def _accumulation(self):
        return self._options.Training.gradient_accumulation if self._training else 1

    def _parts(self):
        steps, accumulation, replicas = self._factors()
        return steps * accumulation * (replicas // self._options.input_group_size)

    def _micro_batch(self, t):
        """One micro-batch of a tensor. Raises AssertionError where it cannot be cut into as many as a call has, Error for one without elements."""
        if 0 in t.shape:
            raise createPoptorchError(f"Zero-sized tensors are unsupported (Got shape {list(t.shape)})")
        parts = self._parts()
        if t.dim() == 0 or parts == 1:
            return t
        steps, accumulation, replicas = self._factors()
        assert t.shape[0] % parts == 0, (
            f"Invalid batch dimension: In the input {tuple(t.shape)}, the batch dimension ({t.shape[0]}) must be a multiple of Options.deviceIterations({steps}) "
            f"* Options.replicationFactor({replicas}) * Options.Training.gradientAccumulation({accumulation}) = {parts} because it is used to calculate the "
            "batch size which will be executed on the device in any given iteration.")
        return t[:t.shape[0] // parts]

    def _all_batches(self, t):
        """A tensor as an array (micro-batches, replicas, ...), without leading dimensions of 1."""
        t = t.detach()
        t = t.to(_NARROWED.get(t.dtype, t.dtype))
        steps, accumulation, replicas = self._factors()
        lead = [steps * accumulation, replicas]
        if t.dim() == 0:
            t = t.expand(lead)
        else:
            groups = replicas // self._options.input_group_size
            t = t.reshape(steps * accumulation, groups, t.shape[0] // self._parts(), *t.shape[1:])
            if groups != replicas:
                consecutive = self._options.input_group_type == enums.CommGroupType.Consecutive
                t = t.repeat_interleave(replicas // groups, 1) if consecutive else t.repeat(1, replicas // groups, *[1] * (t.dim() - 2))
        rest = t.shape[2:]
        array = t.reshape([n for n in lead if n > 1] + list(rest)).contiguous().numpy()
        return np.random.default_rng(0).standard_normal(array.shape).astype(array.dtype) if self._options.enable_synthetic_data and array.dtype.kind == "f" else array

    # --- compiling

    def compile(self, *args, **kwargs):
        """Traces and compiles the model for inputs of such shapes and types."""
        if self._program is not None:
            logger.warning("The model has already been compiled; compile() is ignored.")
            return
        self._compile(*self._flat(args, kwargs))
        self._attached = self._options.connection_type != enums.ConnectionType.Never

    def _flat(self, args, kwargs):
        args, kwargs = self._bound(args, kwargs)
        flat, spec = _pytree.tree_flatten((args, kwargs))
        return flat, spec

    def _compile(self, flat, spec):
        began = time.perf_counter()
        self._buffer_names = list(dict(self._user_model.named_buffers())) if isinstance(self._user_model, torch.nn.Module) else []
        if self._options.exists("updatable_named_buffers"):
            unknown = [name for name in self._options.updatable_named_buffers if name not in self._buffer_names]
            if unknown:
                raise createPoptorchError(f"updatableNamedBuffers: the model has no buffer {', '.join(unknown)}.")
        places = [i for i, x in enumerate(flat) if isinstance(x, torch.Tensor)]
        batch = []
        for i in places:
            t = self._micro_batch(flat[i]).detach()
            batch.append(t.to(_NARROWED.get(t.dtype, t.dtype)))
        self._signature, self._places = (flat, spec), places
        if self._options.exists("random_seed"):
            torch.manual_seed(self._options.random_seed)
        try:
            self._program = self._make_training(flat, spec, places, batch) if self._training else self._make_inference(flat, spec, places, batch)
        except UnsupportedOps as error:
            raise Error(str(error)) from error
        self._seconds = time.perf_counter() - began

    def _call_model(self, flat, spec, places, tensors):
        given = list(flat)
        for i, t in zip(places, tensors):
            given[i] = t
        args, kwargs = _pytree.tree_unflatten(given, spec)
        output = self._user_model(*args, **kwargs)
        leaves, self._output_spec = _pytree.tree_flatten(output)
        self._output_leaves = leaves
        return [x for x in leaves if isinstance(x, torch.Tensor)]

    def _device(self):
        return "ipu_model" if self._options.exists("ipu_model") and self._options.ipu_model else "cpu"

    def _resident(self):
        model = self._user_model
        if not isinstance(model, torch.nn.Module):
            return [], []
        named = {**dict(model.named_parameters()), **dict(model.named_buffers())}
        return list(named), list(named.values())

    def _make_inference(self, flat, spec, places, batch):
        names, resident = self._resident()
        resident = [t.detach() for t in resident]
        steps, _, replicas = self._factors()

        def forward(*tensors):
            with tracing.tracing(False) as trace, torch.no_grad():
                if not names:
                    results = self._call_model(flat, spec, places, tensors)
                else:
                    given = dict(zip(names, tensors))
                    with adapter.reparametrized(self._user_model, given):
                        results = self._call_model(flat, spec, places, tensors[len(names):])
                        self._check_buffers(given)
            self._check_pipeline(trace.blocks, steps)
            return results

        graph = adapter.trace(forward, [*resident, *batch], decompositions())
        self._written = [i - len(resident) for i in take_writes(graph, len(resident), None)]
        outputs = next(n for n in graph.graph.nodes if n.op == "output").args[0]
        return ResidentProgram(graph, None, resident, [], batch, len(outputs), self._device(), steps, 1, replicas)

    def _check_buffers(self, given):
        """Raises poptorch.Error if forward replaced or removed a buffer: `given` is what the buffers were, by name."""
        model = self._user_model
        exempt = {id(b) for m in model.modules() if isinstance(m, torch.nn.modules.batchnorm._BatchNorm) for b in m.buffers(recurse=False)}
        after = dict(model.named_buffers())
        for name in self._buffer_names:
            if name not in after:
                raise createPoptorchError(f"Buffer {name} is removed from the model when calling the forward method.")
            if after[name] is not given[name] and id(after[name]) not in exempt:
                raise createPoptorchError(f"Buffer {name} is reassigned within the model when calling the forward method. This is not supported. Consider using "
                                          f"self.{name}.copy_(src) to copy data from a source tensor, where src is the name of the source tensor.")

    def _check_pipeline(self, blocks, batches):
        strategy = self._options._execution_strategy or PipelinedExecution(enums.AutoStage.SameAsIpu)
        if isinstance(strategy, PipelinedExecution):
            strategy.check(blocks, self._training, batches)

    def _make_training(self, flat, spec, places, batch):
        steps, accumulation, replicas = self._factors()

        def function(*tensors):
            with tracing.tracing(True) as trace:
                outputs = self._call_model(flat, spec, places, tensors)
            self._check_pipeline(trace.blocks, accumulation)
            return tracing.final_loss(trace).sum(), outputs

        options = StepOptions(self._device(), steps, accumulation, replicas)
        mean = self._options.Training.accumulation_and_replication_reduction_type == enums.ReductionType.Mean
        unwrap_again = self._plain_weights()
        try:
            program = StepProgram(self._user_model, function, self._optimizer, batch, options, mean)
        finally:
            unwrap_again()
        self._written = [i - len(program._resident()) for i in program.written]
        if self._options.broadcast_buffers and replicas > 1 and program.writes_buffers:
            raise createPoptorchError("PopTorch does not support broadcasting buffers. If your model is able to tolerate buffers becoming out of sync between "
                                      "replicas, you can disable buffer broadcasting using poptorch.Options.broadcastBuffers(False).")
        return program

    def _plain_weights(self):
        """Weights without their wrapper classes, for the time of a trace. Returns what undoes it."""
        unwrap(self._user_model)
        return lambda: wrap(self._user_model, self, again=True)

    # --- running

    def __call__(self, *args, **kwargs):
        """Runs the program; compiles at the first call.

        Returns:
            what forward returns, for the micro-batches that the output mode says, along the first dimension.

        Raises:
            poptorch.Error: inputs of other shapes, types or structure than it is compiled for.
        """
        assert self._options.connection_type != enums.ConnectionType.Never, "Trying to run a model on an offline device (ConnectionType.Never)."
        flat, spec = self._flat(args, kwargs)
        if self._program is None:
            self._compile(flat, spec)
            self._attached = True
        else:
            self._check_inputs(flat, spec)
        if not self._training:
            self._take_newer_weights()
        inputs = [flat[i] for i in self._places]
        results = self._program.run([self._all_batches(t) for t in inputs])
        if self._training:
            self._device_is_newer = True
            self._user_model.__dict__["_poptorch_runs"] = self._user_model.__dict__.get("_poptorch_runs", 0) + 1
            results = results[1:]
        outputs = results[:len(results) - len(self._written)]
        for i, array in zip(self._written, results[len(outputs):]):
            inputs[i].data.copy_(self._combined(array, enums.OutputMode.All, tuple(self._micro_batch(inputs[i]).shape)).reshape(inputs[i].shape))
        return self._unflatten(outputs)

    def _unflatten(self, arrays):
        leaves, found = [], iter(arrays)
        for leaf in self._output_leaves:
            if not isinstance(leaf, torch.Tensor):
                leaves.append(leaf)
                continue
            leaves.append(self._combined(next(found), self._options.output_mode, tuple(leaf.shape)))
        return _pytree.tree_unflatten(leaves, self._output_spec)

    def _combined(self, array, mode, shape):
        """What a call returns of the arrays of all micro-batches."""
        steps, accumulation, replicas = self._factors()
        t = torch.from_numpy(np.ascontiguousarray(array)).reshape(steps * accumulation, replicas, *shape)
        if mode == enums.OutputMode.Final:
            t = t[-1:]
        elif mode == enums.OutputMode.EveryN:
            n = self._options.output_return_period
            t = t[n - 1::n]
        elif mode == enums.OutputMode.Sum:
            t = t.sum(0, keepdim=True).to(t.dtype)
        count = t.shape[0] * replicas
        if not shape:
            return t.reshape(()) if count == 1 else t.reshape(count)
        return t.reshape(count * shape[0], *shape[1:])

    def _check_inputs(self, flat, spec):
        old, old_spec = self._signature
        if spec != old_spec:
            raise createPoptorchError(f"Type mismatch of the inputs: the model is compiled for {old_spec}, not {spec}. Call destroy() to compile it for others.")
        for a, b in zip(old, flat):
            if isinstance(a, torch.Tensor) != isinstance(b, torch.Tensor):
                raise createPoptorchError(f"Type mismatch: expected {type(a)} but got {type(b)}")
            if isinstance(a, torch.Tensor):
                if a.dtype != b.dtype:
                    raise createPoptorchError(f"Type mismatch of an input: expected {a.dtype} but got {b.dtype}")
                if a.shape != b.shape:
                    raise createPoptorchError(f"Shape mismatch of an input: expected {a.shape} but got {b.shape})")
            elif a != b:
                raise createPoptorchError(f"Value mismatch of an input: expected {a} but got {b}")

    # --- weights

    def _take_newer_weights(self):
        """Before inference: what a training executor over the same model has learnt since."""
        trainer = self._user_model.__dict__.get("_poptorch_trainer")
        trainer = trainer() if trainer else None
        runs = self._user_model.__dict__.get("_poptorch_runs", 0)
        if runs != max(self._runs_seen, 0):
            if trainer is not None:
                trainer.copyWeightsToHostIfNeeded()
            self.copyWeightsToDevice()
        self._runs_seen = runs

    def copyWeightsToHostIfNeeded(self):
        """Brings weights to the model after a training run. Returns whether it did."""
        if not (self._training and self._device_is_newer and self._program is not None):
            return False
        self.copyWeightsToHost()
        return True

    def copyWeightsToHost(self):
        """Brings parameters and buffers from the device into the model."""
        self._needs_program()
        self._device_is_newer = False
        if self._training:
            self._program.save()
        else:
            self._program.save(self._resident()[1])

    def copyWeightsToDevice(self):
        """Brings parameters and buffers from the model to the device."""
        self._needs_program()
        self._device_is_newer = False
        if self._training:
            self._program.load()
        else:
            self._program.load([t.detach() for t in self._resident()[1]])

    def copyNamedBuffersToDevice(self):
        self._needs_program()
        if not self._options.exists("updatable_named_buffers"):
            raise createPoptorchError("copyNamedBuffersToDevice needs the option updatableNamedBuffers.")
        assert not self._training, "copyNamedBuffersToDevice is for inference models"
        names, tensors = self._resident()
        chosen = set(self._options.updatable_named_buffers)
        self._program.load([t.detach() if name in chosen else None for name, t in zip(names, tensors)])

    def state_dict(self, *args, **kwargs):
        return self._user_model.state_dict(*args, **kwargs)

    def load_state_dict(self, state_dict, strict=True):
        result = self._user_model.load_state_dict(state_dict, strict)
        if self._program is not None:
            self.copyWeightsToDevice()
        return result

    def setOptimizer(self, optimizer):
        """The optimizer of the next calls. Its learning rate is read at each call; other values compile its update again."""
        assert self._training, "Only a training model has an optimizer"
        _check_optimizer(optimizer)
        before, self._compiled_settings = self._compiled_settings, _settings(optimizer)
        same = self._optimizer is optimizer and before == self._compiled_settings
        self._optimizer = optimizer
        if self._program is None or same:
            return
        # The same weights, another update.
        self._program.save()
        flat, spec = self._signature
        self._program = None
        self._compile(flat, spec)

    # --- life

    def attachToDevice(self):
        self._needs_program()
        if self._attached:
            raise createPoptorchError("The model is already attached to a device.")
        self.copyWeightsToDevice()
        self._attached = True

    def detachFromDevice(self):
        self._needs_program()
        if not self._attached:
            raise createPoptorchError("Device is not attached")
        if self._training:
            self.copyWeightsToHostIfNeeded()
        self._attached = False

    def destroy(self):
        """Forgets the program. The weights of a training model come to the host, and the model is a plain one again."""
        if self._program is not None and self._training:
            self.copyWeightsToHostIfNeeded()
        self._program, self._attached = None, False
        if self._training and isinstance(self._user_model, torch.nn.Module):
            unwrap(self._user_model, entirely=True)

    def compilationTime(self):
        if self._seconds is None:
            raise createPoptorchError("Please compile the model before obtaining compilation time.")
        if not self._options.show_compilation_progress_bar:
            raise createPoptorchError("Please set showCompilationProgressBar option to obtain compilation time.")
        return datetime.timedelta(seconds=self._seconds)

    def cycleCount(self):
        if not self._options.log_cycle_count:
            raise createPoptorchError("Cycle count logging is disabled. Please set option logCycleCount to True to enable.")
        raise createPoptorchError("Cycle count logging is only supported on actual IPU hardware.")

    def save(self, *args, **kwargs):
        raise Error("save: Pando does not write executables of PopTorch models; save the model's state_dict.")

    compileAndExport = loadExecutable = save


def _settings(optimizer):
    """What is compiled into an update."""
    return [{k: v for k, v in group.items() if k not in ("params", "lr")} for group in optimizer.param_groups]
