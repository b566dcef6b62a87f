"""Models that run as programs of Pando: poptorch.inferenceModel and poptorch.trainingModel."""
import contextlib
import datetime
import inspect
import os
import sys
import time

import torch

from pando.torch import adapter
from pando.torch.decompositions import decompositions
from pando.torch.hosted import HostedProgram, calls_host
from pando.torch.program import Program, on_one_replica, take_writes
from pando.torch.step import StepOptions, StepProgram

from popxl import _core

from poptorch import enums, grouping, hooks, optim, saving, structure, tracing
from poptorch.anchors import Anchors
from poptorch.batches import Batches, traced
from poptorch.blocks import PipelinedExecution, module_repr
from poptorch.counters import Counters
from poptorch.errors import createPoptorchError, translated
from poptorch.logging import logger, say_graph
from poptorch.options import Options
from poptorch.wrapping import unwrap, wrap

# Lines of this package are not the user's.
_core.add_package(os.path.dirname(os.path.abspath(__file__)) + os.sep)


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
        if isinstance(options._execution_strategy, PipelinedExecution):
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
    optim.check(optimizer)
    return PoplarExecutor(model, options, True, optimizer)


def _checked(options):
    if options is None:
        return Options()
    if not isinstance(options, Options):
        raise createPoptorchError("Invalid type: options must be an instance of poptorch.Options.")
    return options


class PoplarExecutor:
    """A model as a program. Made by inferenceModel and trainingModel; attributes that it does not have are the model's."""

    def __init__(self, model, options, training, optimizer):
        options._freeze()
        chosen = options.clone()
        if chosen.defaultOutputMode():
            chosen.output_mode = enums.OutputMode.Final if training else enums.OutputMode.All
        if training and optim.needs_running_mean(optimizer):
            chosen.Training.setMeanAccumulationAndReplicationReductionStrategy(enums.MeanReductionStrategy.Running)
        chosen._freeze()
        self._user_model, self._options, self._training, self._optimizer = model, chosen, training, optimizer
        # The model's own flag, which is this executor's from here on.
        self._mode = getattr(model, "training", None)
        self._batches = Batches(chosen, training)
        self._anchors = Anchors(chosen, self._batches)
        self._program = self._arguments = None
        self._device_is_newer = False
        self._runs_seen = -1
        self._seconds = None
        self._attached = False
        self._counters = Counters()
        self._groupings = {}
        self._state_is_newer = self._has_run = False
        if training:
            self._compiled_settings = optim.settings(optimizer)
            self._watch = optim.Watch(optimizer, chosen.relax_optimizer_checks)
            if isinstance(optimizer, optim.Optimizer):
                optimizer.attach(self)
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
        return self._mode

    def train(self, mode=True):
        """Puts the model into training mode, for this executor, too. What is compiled stays what it is. Returns the executor."""
        self._user_model.train(mode)
        self._mode = self._user_model.training
        return self

    def eval(self):
        """train(False)."""
        return self.train(False)

    @contextlib.contextmanager
    def _in_its_mode(self):
        """Inside, the model's own flag `training` is what it was when the executor was made, or what train() and eval() said since."""
        was = getattr(self._user_model, "training", None)
        if was is None:
            yield
            return
        self._user_model.training = self._mode
        try:
            yield
        finally:
            self._user_model.training = was

    def __getattr__(self, name):
        if name.startswith("_") and name in ("_user_model", "_options"):
            raise AttributeError(name)
        value = getattr(self._user_model, name)
        return value if self._training or type(value) is not torch.nn.Parameter else grouping.Alias.of(value, self)

    def __repr__(self):
        return module_repr(self._user_model) if isinstance(self._user_model, torch.nn.Module) else repr(self._user_model)

    def groups_of(self, name):
        """How many groups of replicas have a value of their own of a parameter."""
        return self._batches.replicas // self._groupings[name][1] if name in self._groupings else 1

    def _set_grouping(self, parameter, comm_group_type, shards):
        """See Groupable.replicaGrouping."""
        if self._program is not None:
            raise createPoptorchError("replicaGrouping: the model is already compiled.")
        name = next(n for n, p in self._user_model.named_parameters() if p.data_ptr() == parameter.data_ptr())
        stride, size = grouping.stride_and_size(comm_group_type, shards, self._batches.replicas)
        groups = self._batches.replicas // size
        if groups > 1 and (parameter.dim() == 0 or parameter.shape[0] != groups):
            raise createPoptorchError(f"replicaGrouping: {name} has the shape {tuple(parameter.shape)}; its first dimension has to be {groups}, that of groups.")
        self._groupings[name] = (stride, size)

    def isCompiled(self):
        return self._program is not None

    def isAttachedToDevice(self):
        return self._attached

    def _needs_program(self):
        if self._program is None:
            raise createPoptorchError("Model has not been compiled or has been destroyed.")

    # --- inputs

    def _bound(self, args, kwargs):
        """The arguments of forward in order, with its defaults: (args, kwargs)."""
        forward = self._user_model.forward if isinstance(self._user_model, torch.nn.Module) else self._user_model
        try:
            signature = inspect.signature(forward)
        except ValueError:
            # A function of C, such as torch.erfc.
            self._names = []
            return args, kwargs
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            if "missing a required" in str(error):
                raise createPoptorchError("Mandatory parameter {} missing".format(str(error).split("'")[1])) from None
            raise AssertionError(str(error)) from None
        bound.apply_defaults()
        self._names = [p.name for p in signature.parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        return bound.args, bound.kwargs

    def _check_inputs(self, args, kwargs):
        """The tensors of a call, in the order of those that the model is compiled for. Raises poptorch.Error for others."""
        old_args, old_kwargs = self._arguments.parts
        new_args, new_kwargs = structure.flatten((args, kwargs))[1].parts
        if len(old_args.parts) != len(new_args.parts):
            raise createPoptorchError(f"Number of positional arguments mismatch: expected {len(old_args.parts)} arguments but got {len(new_args.parts)}.")
        for i, (old, new) in enumerate(zip(old_args.parts, new_args.parts)):
            structure.check_same(old, new, self._names[i] if i < len(self._names) else f"argument {i}")
        structure.check_keys(old_kwargs.keys, new_kwargs.keys)
        by_key = dict(zip(new_kwargs.keys, new_kwargs.parts))
        for key, part in zip(old_kwargs.keys, old_kwargs.parts):
            structure.check_same(part, by_key[key], key)
        tensors = structure.tensors_of(self._arguments, (args, kwargs))
        for (shape, dtype), t in zip(self._input_types, tensors):
            if dtype != t.dtype:
                raise createPoptorchError(f"Type mismatch of an input: expected {dtype} but got {t.dtype}. Call destroy() to compile the model for another one.")
            if shape != t.shape:
                raise createPoptorchError(f"Shape mismatch of an input: expected {shape} but got {t.shape}. Call destroy() to compile the model for another one.")
        return tensors

    # --- compiling

    def compile(self, *args, **kwargs):
        """Traces and compiles the model for inputs of such shapes and types."""
        if self._program is not None:
            logger.warning("The model has already been compiled; compile() is ignored.")
            return
        self._compile(*self._bound(args, kwargs))
        self._attached = self._options.connection_type != enums.ConnectionType.Never

    def _compile(self, args, kwargs):
        """Compiles, and returns the tensors of the arguments."""
        began = time.perf_counter()
        self._buffer_names = list(dict(self._user_model.named_buffers())) if isinstance(self._user_model, torch.nn.Module) else []
        if self._options.exists("updatable_named_buffers"):
            unknown = [name for name in self._options.updatable_named_buffers if name not in self._buffer_names]
            if unknown:
                raise createPoptorchError(f"updatableNamedBuffers: the model has no buffer {', '.join(unknown)}.")
        tensors, form = structure.flatten((args, kwargs))
        if any(t.requires_grad for t in tensors):
            logger.warning("Input tensor has requires_grad=True set. This tensor will be detached because backward pass via inputs is not supported.")
        batch = [traced(self._batches.one(t).detach()) for t in tensors]
        self._compile_for(form, batch, [(t.shape, t.dtype) for t in tensors])
        self._seconds = time.perf_counter() - began
        return tensors

    def _compile_for(self, form, batch, types):
        """form: the structure of the arguments; batch: the tensors of one micro-batch; types: (shape, element type) of the tensors of a call."""
        self._arguments, self._batch, self._input_types = form, batch, types
        self._options._say()
        if self._options.exists("random_seed"):
            torch.manual_seed(self._options.random_seed)
        with hooks.compiling(), translated():
            self._program = (self._make_training(batch) if self._training else self._make_inference(batch)).open()

    def _call_model(self, tensors):
        """The model's outputs for the tensors of its arguments: those that are tensors."""
        args, kwargs = structure.unflatten(self._arguments, iter(tensors))
        with self._in_its_mode(), tracing.plain_messages():
            found, self._output_form = structure.flatten(self._user_model(*args, **kwargs))
            tracing.overlaps().check(tensors, found, self._options)
        self._output_shapes = [tuple(t.shape) for t in found]
        return found

    def _device(self):
        return "ipu_model" if self._options.exists("ipu_model") and self._options.ipu_model else "cpu"

    def _profile_folder(self):
        """Where a report of the program goes, or None."""
        if not self._options.exists("profile_dir"):
            return None
        name = self._options.model_name if self._options.exists("model_name") else "training" if self._training else "inference"
        return os.path.join(self._options.profile_dir, name)

    def _name_report(self):
        """Readers of PopTorch's reports look for profile.pop."""
        folder = self._profile_folder()
        if folder is not None and os.path.exists(os.path.join(folder, "profile.pando")) and not os.path.lexists(os.path.join(folder, "profile.pop")):
            os.symlink("profile.pando", os.path.join(folder, "profile.pop"))

    def _resident(self):
        """(names, tensors) of parameters and buffers."""
        model = self._user_model
        if not isinstance(model, torch.nn.Module):
            return [], []
        named = {**dict(model.named_parameters()), **dict(model.named_buffers())}
        return list(named), list(named.values())

    def _make_inference(self, batch):
        names, resident = self._resident()
        resident = [t.detach() for t in resident]
        steps, replicas = self._batches.steps, self._batches.replicas

        def forward(*tensors):
            with tracing.tracing(False) as trace, torch.no_grad():
                given = dict(zip(names, tensors))
                with adapter.reparametrized(self._user_model, given) if names else contextlib.nullcontext():
                    results = self._call_model(tensors[len(names):])
                    self._check_buffers(given)
                self._options._execution_strategy.check(trace.blocks, False, steps)
            return results

        groups = [self._groupings.get(name) for name in names]
        graph = adapter.trace(forward, [*on_one_replica(resident, groups, replicas), *batch], decompositions())
        self._written = [i - len(resident) for i in take_writes(graph, len(resident), None)]
        if calls_host(graph):
            return HostedProgram(graph, self._device(), resident, steps, replicas)
        names = [*names, *(f"input_{i}" for i in range(len(batch)))]
        program = Program(graph, self._device(), resident, steps=steps, replicas=replicas, names=names, profile=self._profile_folder(), groups=groups)
        say_graph(graph, program.sliced)
        return program

    def _check_buffers(self, given):
        """Raises poptorch.Error if forward replaced or removed a buffer: `given` is what the buffers were, by name."""
        model = self._user_model
        if not self._buffer_names:
            return
        exempt = {id(b) for m in model.modules() if isinstance(m, torch.nn.modules.batchnorm._BatchNorm) for b in m.buffers(recurse=False)}
        after = dict(model.named_buffers())
        for name in self._buffer_names:
            if name not in after:
                raise createPoptorchError(f"Buffer {name} is removed from the model when calling the forward method.")
            if after[name] is not given[name] and id(after[name]) not in exempt:
                raise createPoptorchError(f"Buffer {name} is reassigned within the model when calling the forward method. This is not supported. Consider using "
                                          f"self.{name}.copy_(src) to copy data from a source tensor, where src is the name of the source tensor.")

    def _make_training(self, batch):
        b = self._batches

        def function(*tensors):
            with tracing.tracing(True) as trace:
                outputs = self._call_model(tensors)
                self._options._execution_strategy.check(trace.blocks, True, b.accumulation)
            return tracing.final_loss(trace).sum(), outputs

        optim.say(self._optimizer)
        options = StepOptions(self._device(), b.steps, b.accumulation, b.replicas, instances=b.instances, profile=self._profile_folder())
        mean = self._options.Training.accumulation_and_replication_reduction_type == enums.ReductionType.Mean
        unwrap_again = self._plain_weights()
        try:
            program = StepProgram(self._user_model, function, self._optimizer, batch, options, mean, self._anchors.gradients(self._resident()[0]),
                                  getattr(self._optimizer, "max_grad_norm", None), optim.loss_scale(self._optimizer), self._groupings)
        finally:
            unwrap_again()
        self._written = [i - len(program._resident()) for i in program.written]
        if self._options.broadcast_buffers and b.replicas * b.instances > 1 and program.writes_buffers:
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
        if self._options.log_cycle_count:
            raise createPoptorchError("Cycle count logging is only supported on actual IPU hardware.")
        args, kwargs = self._bound(args, kwargs)
        inputs = self._compile(args, kwargs) if self._program is None else self._check_inputs(args, kwargs)
        if not self._attached and self._seconds is not None:
            self._attached = True
        if not self._training:
            self._take_newer_weights()
        elif self._state_is_newer:
            logger.debug("Writing optimiser state tensors from host to IPU memory")
            self._program.load()
            self._state_is_newer = False
        times = [Counters.now()]
        arrays = [self._batches.all(t) for t in inputs]
        times.append(Counters.now())
        results = self._program.run(arrays)
        if not self._has_run:
            self._has_run = True
            self._name_report()
        times.append(Counters.now())
        if self._training:
            self._device_is_newer = True
            self._user_model.__dict__["_poptorch_runs"] = self._user_model.__dict__.get("_poptorch_runs", 0) + 1
        outputs = self._taken_apart(inputs, results)
        self._note(times, len(inputs), len(self._output_shapes))
        return outputs

    def _taken_apart(self, inputs, results):
        """The outputs; what the program wrote into inputs goes there."""
        if self._training:
            loss, *results = results
        count = len(self._output_shapes)
        outputs, written, gradients = results[:count], results[count:count + len(self._written)], results[count + len(self._written):]
        for i, array in zip(self._written, written):
            whole = self._batches.combined(array, enums.OutputMode.All, tuple(self._batches.one(inputs[i]).shape))
            inputs[i].data.copy_(whole.reshape(inputs[i].shape))
        if self._anchors:
            self._anchors.take(self, inputs, loss if self._training else None, gradients)
        o = self._options
        combined = [self._batches.combined(a, o.output_mode, shape, o.output_return_period) for a, shape in zip(outputs, self._output_shapes)]
        return structure.unflatten(self._output_form, iter(combined))

    # --- times

    def _note(self, times, inputs, outputs):
        o, b = self._options, self._batches
        steps, returned = b.steps * b.accumulation * b.replicas, b.returned(o.output_mode, o.output_return_period)
        if o.enable_synthetic_data:
            steps = returned = 0
        self._counters.note([*times, Counters.now()], inputs, outputs, steps, returned)

    def getPerfCounters(self):
        """{"input", "input_complete", "output", "output_complete": [[seconds of each micro-batch] of each tensor]} of the last call."""
        return self._counters.times()

    def getLatency(self):
        """(least, largest, mean) seconds from the first input to the last complete output."""
        return self._counters.latency("input", "output_complete")

    def getHostIpuLatency(self):
        """(least, largest, mean) seconds in which inputs go to the device."""
        return self._counters.latency("input", "input_complete")

    def getComputeLatency(self):
        """(least, largest, mean) seconds from the last complete input to the last output."""
        return self._counters.latency("input_complete", "output")

    def getIpuHostLatency(self):
        """(least, largest, mean) seconds in which outputs come to the host."""
        return self._counters.latency("output", "output_complete")

    # --- tensors by name

    def getTensorNames(self):
        """Names that Options.anchorTensor takes."""
        assert self._program is not None, "Model must be compiled before calling getTensorNames"
        return self._anchors.names(self)

    def getAnchoredTensor(self, short_name):
        """What an anchored tensor held in the last call. Raises AssertionError for an unknown name, or before the first call."""
        return self._anchors.tensor(short_name)

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
        """The optimizer of the next calls. Its numbers are read at each call; what takes another update, as a weight decay where there was none, compiles it again."""
        assert self._training, "Only a training model has an optimizer"
        optim.check(optimizer)
        strategy = self._options.Training.meanAccumulationAndReplicationReductionStrategy
        if self._program is not None and optim.needs_running_mean(optimizer) and strategy != enums.MeanReductionStrategy.Running:
            raise ValueError("The accumulators of the optimizer cannot become float16: the model is already compiled.")
        self._watch.look(optimizer)
        optim.say(optimizer)
        before, self._compiled_settings = self._compiled_settings, optim.settings(optimizer)
        same = optim.is_like(optimizer, self._optimizer) and before == self._compiled_settings and (self._program is None or self._program.holds(optimizer))
        old, self._optimizer = self._optimizer, optimizer
        if isinstance(optimizer, optim.Optimizer):
            optimizer.attach(self)
        if self._program is None:
            return
        if same:
            if optimizer is not old:
                self._program.take_over(optimizer)
            return
        # The same weights, another update.
        self._program.save()
        self._compile_for(self._arguments, self._batch, self._input_types)

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
        if not self._has_run:
            raise createPoptorchError("Please run the model at least once before obtaining cycle count.")
        raise createPoptorchError("Cycle count logging is only supported on actual IPU hardware.")

    def __del__(self):
        # What the device has learnt is the model's, whether or not somebody asked for it in time.
        if self.__dict__.get("_training") and self.__dict__.get("_device_is_newer") and self.__dict__.get("_program") is not None and not sys.is_finalizing():
            self._program.save()

    # --- files

    def compileAndExport(self, filename, *args, export_model=True, **kwargs):
        """Compiles the model for inputs, and saves it. See save()."""
        if self._program is None:
            self.compile(*args, **kwargs)
        self.save(filename, export_model)

    def save(self, filename, export_model=True, save_rng_state=True):
        """Writes what poptorch.load needs: the model and its optimizer (export_model) or their state, options, and the form of the inputs.

        Args:
            filename: the file; folders are made; in a folder it is model.poptorch.
            export_model: whether the model itself is written, which must be possible to pickle.
            save_rng_state: whether the state of torch's random numbers is written.

        Raises:
            poptorch.Error: a model that is not compiled.
        """
        self._needs_program()
        if self._training:
            self.copyWeightsToHostIfNeeded()
        saving.write(self, filename, export_model, save_rng_state)

    def loadExecutable(self, filename):
        """Compiles the model for the inputs of a file that save() wrote for the same model. Its weights stay what they are.

        Raises:
            poptorch.Error: no such file.
        """
        content = saving.read(filename)
        if content["training"] != self._training:
            raise createPoptorchError(f"{filename} is of {'a training' if content['training'] else 'an inference'} model.")
        self._restore(content)

    def _restore(self, content):
        """Compiles for the inputs of a file."""
        began = time.perf_counter()
        self._buffer_names = list(dict(self._user_model.named_buffers())) if isinstance(self._user_model, torch.nn.Module) else []
        self._names = content["names"]
        self._compile_for(content["arguments"], content["batch"], content["types"])
        self._seconds = time.perf_counter() - began
        if content["rng_state"] is not None:
            torch.set_rng_state(content["rng_state"])

    @property
    def rng_state(self):
        """The state of the random numbers: torch's, from which each call takes its seeds."""
        self._needs_program()
        return torch.get_rng_state().tolist()

    @rng_state.setter
    def rng_state(self, state):
        self._needs_program()
        torch.set_rng_state(torch.tensor(state, dtype=torch.uint8))
