"""poptorch.Options: how a model is compiled and run.

Every option of PopTorch is accepted and keeps its value. `EFFECT` names those that change what Pando does; the others say so once in the log (INFO).
"""
import copy
import json
import os

import torch

from poptorch import enums, option_log
from poptorch.logging import logger, say_once

EFFECT = {"device_iterations", "replication_factor", "input_group_size", "input_group_type", "output_mode", "output_return_period", "random_seed", "ipu_model",
          "gradient_accumulation", "accumulation_and_replication_reduction_type", "broadcast_buffers", "enable_synthetic_data", "connection_type",
          "show_compilation_progress_bar", "log_cycle_count", "profile_dir", "model_name"}


class ConfigFileError(Exception):
    """A line of a file of options cannot be run."""


class _Group:
    """Values by name. Frozen values cannot change."""

    _defaults = {}

    def __init__(self):
        object.__setattr__(self, "_values", dict(self._defaults))
        object.__setattr__(self, "_frozen", False)
        object.__setattr__(self, "_explicit", set())

    def __getattr__(self, name):
        if name.startswith("__") or name in ("_values", "_frozen", "_explicit"):
            raise AttributeError(name)
        if name in self._values:
            return self._values[name]
        raise AttributeError(f"Invalid option {name}, must be one of {', '.join(sorted(self._values))}")

    def __setattr__(self, name, value):
        if name.startswith("_"):
            object.__setattr__(self, name, value)
            return
        if name not in self._values and name not in self._optional():
            raise AttributeError(f"Invalid option {name}, must be one of {', '.join(sorted(self._values))}")
        default = self._defaults.get(name)
        if default is not None and not isinstance(value, type(default)) and not (isinstance(default, bool) and isinstance(value, (bool, int))):
            raise TypeError(f"Unexpected type {type(value)} for option {name}. Expected {type(default)}")
        self._set(**{name: value})

    def _optional(self):
        return ()

    def _set(self, **values):
        if self._frozen:
            raise AttributeError("Can't modify frozen Options: the options of a model or a data loader cannot change once it is made.")
        for name, value in values.items():
            if name not in EFFECT:
                say_once(f"The option {name} has no effect in Pando.")
            self._values[name] = value
            self._explicit.add(name)
        return self

    def exists(self, name):
        """Whether a value is set."""
        return name in self._values

    def _freeze(self):
        object.__setattr__(self, "_frozen", True)

    def checkIsFrozen(self, name=None):
        if self._frozen:
            raise AttributeError("Can't modify frozen Options")

    def __deepcopy__(self, memo):
        other = type(self).__new__(type(self))
        for name, value in self.__dict__.items():
            object.__setattr__(other, name, False if name == "_frozen" else copy.deepcopy(value, memo))
        return other


def _positive(value, name):
    assert isinstance(value, int) and not isinstance(value, bool) and value > 0, f"{name} must be greater than 0"
    return value


class _TrainingOptions(_Group):
    _defaults = {"gradient_accumulation": 1, "accumulation_and_replication_reduction_type": enums.ReductionType.Mean,
                 "meanAccumulationAndReplicationReductionStrategy": enums.MeanReductionStrategy.Post, "auto_loss_scaling": False, "convolution_dithering": False}

    def gradientAccumulation(self, gradient_accumulation):
        """Micro-batches of one update."""
        return self._set(gradient_accumulation=_positive(gradient_accumulation, "gradientAccumulation"))

    def accumulationAndReplicationReductionType(self, reduction_type):
        """Mean or Sum of the gradients of micro-batches and replicas."""
        if reduction_type not in (enums.ReductionType.Sum, enums.ReductionType.Mean):
            raise ValueError("Unsupported reduction type.")
        return self._set(accumulation_and_replication_reduction_type=reduction_type)

    def setMeanAccumulationAndReplicationReductionStrategy(self, strategy):
        if not isinstance(strategy, enums.MeanReductionStrategy):
            raise ValueError("Unsupported mean reduction strategy.")
        return self._set(meanAccumulationAndReplicationReductionStrategy=strategy)

    def setAutomaticLossScaling(self, enabled):
        return self._set(auto_loss_scaling=bool(enabled))

    def setConvolutionDithering(self, enabled):
        return self._set(convolution_dithering=bool(enabled))


class _PrecisionOptions(_Group):
    _defaults = {"floating_point_exceptions": False, "stochastic_rounding": False, "partials_type": torch.float}

    def __init__(self):
        super().__init__()
        for name in ("floating_point_exceptions", "stochastic_rounding", "partials_type"):
            self._values.pop(name, None)

    def _optional(self):
        return self._defaults

    def enableFloatingPointExceptions(self, enabled):
        assert isinstance(enabled, bool), "enableFloatingPointExceptions needs to be set to a bool"
        return self._set(floating_point_exceptions=enabled)

    def enableStochasticRounding(self, enabled):
        assert isinstance(enabled, bool), "enableStochasticRounding needs to be set to a bool"
        return self._set(stochastic_rounding=enabled)

    def setPartialsType(self, dtype):
        if dtype not in (torch.float, torch.half):
            raise ValueError("setPartialsType supports only torch.float and torch.half")
        return self._set(partials_type=dtype)

    def halfFloatCasting(self, half_float_casting):
        return self

    def runningStatisticsAlwaysFloat(self, value):
        return self


class _JitOptions(_Group):
    _defaults = {"trace_model": False}

    def traceModel(self, trace_model):
        if trace_model:
            raise ValueError("Tracing by torch.jit is not supported.")
        return self


class _DistributedOptions(_Group):
    _defaults = {"distributed_process_id": 0, "num_distributed_processes": 1}

    def __init__(self):
        super().__init__()
        object.__setattr__(self, "_variables", ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"))
        self._read()

    def _read(self):
        size, rank = self._variables
        self._values["num_distributed_processes"] = int(os.environ.get(size, 1))
        self._values["distributed_process_id"] = int(os.environ.get(rank, 0))

    def disable(self):
        self._values.update(distributed_process_id=0, num_distributed_processes=1)
        return self

    def setEnvVarNames(self, var_num_processes, var_process_id):
        object.__setattr__(self, "_variables", (var_num_processes, var_process_id))
        self._read()
        return self

    def configureProcessId(self, process_id, num_processes):
        assert 0 <= process_id < num_processes
        self._values.update(distributed_process_id=process_id, num_distributed_processes=num_processes)
        return self

    @property
    def processId(self):
        return self._values["distributed_process_id"]

    @property
    def numProcesses(self):
        return self._values["num_distributed_processes"]


class TensorLocationSettings(_Group):
    """Where tensors of one kind lie. Pando keeps them on the device."""

    _defaults = {}

    def _any(self, **values):
        self._values.update(values)
        return self

    def minElementsForOffChip(self, min_elements):
        return self._any(minElementsForOffChip=min_elements)

    def minElementsForReplicatedTensorSharding(self, min_elements):
        return self._any(minElementsForReplicatedTensorSharding=min_elements)

    def useOnChipStorage(self, use=True):
        if use is None:
            self._values.pop("onChip", None)
            return self
        return self._any(onChip=int(use))

    def useReplicatedTensorSharding(self, use=True):
        return self._any(useReplicatedTensorSharding=int(use))

    def useIOTilesToLoad(self, use=True):
        return self._any(useIOTilesToLoad=int(use))

    def useIOTilesToStore(self, use=True):
        return self._any(useIOTilesToStore=int(use))

    def toDict(self):
        return dict(self._values)


class _TensorLocationOptions(_Group):
    _defaults = {}

    def numIOTiles(self, num_tiles):
        assert isinstance(num_tiles, int) and 32 <= num_tiles <= 192 and num_tiles % 2 == 0, "numIOTiles must be an even number between 32 and 192."
        self._values["numIOTiles"] = num_tiles
        return self

    def _location(self, name, location):
        assert isinstance(location, TensorLocationSettings)
        self.checkIsFrozen()
        self._values[name] = location.toDict()
        return self

    def setActivationLocation(self, location):
        return self._location("location_activation", location)

    def setWeightLocation(self, location):
        return self._location("location_weight", location)

    def setOptimizerLocation(self, location):
        return self._location("location_optimizer", location)

    def setAccumulatorLocation(self, location):
        return self._location("location_accumulator", location)


class _PopartOptions:
    """Options of the compiler below PopTorch, by name. They are kept and have no effect."""

    def __init__(self):
        self.options = {}
        self._frozen = False

    def _freeze(self):
        self._frozen = True

    def checkIsFrozen(self, name=None):
        if self._frozen:
            raise AttributeError("Can't modify frozen Options")

    def set(self, key, value):
        self.checkIsFrozen()
        self.options[key] = value
        return self

    def setEngineOptions(self, engine_options):
        return self.set("engineOptions", dict(engine_options))

    def setPatterns(self, patterns, level=2):
        self.set("patterns", dict(patterns))
        return self.set("patternsLevel", level)

    def __deepcopy__(self, memo):
        other = type(self)()
        other.options = copy.deepcopy(self.options, memo)
        return other


class Options(_Group):
    """How a model is compiled and run. Setters return the options, so calls can be chained; values are attributes, too (`device_iterations`)."""

    _defaults = {"device_iterations": 1, "replication_factor": 1, "input_group_size": 1, "input_group_type": enums.CommGroupType.Consecutive,
                 "output_mode": enums.OutputMode.Default, "output_return_period": 1, "auto_round_num_ipus": False, "available_memory_proportion": {},
                 "broadcast_buffers": True, "connection_type": enums.ConnectionType.Always, "sync_pattern": enums.SyncPattern.Full,
                 "log_dir": ".", "max_repeat_logs": 4, "show_compilation_progress_bar": True, "relax_optimizer_checks": False, "module_namescope_enabled": True,
                 "anchored_tensors": {}, "source_location_excludes": [], "enable_synthetic_data": False, "log_cycle_count": False, "stable_norm": False}

    def __init__(self):
        super().__init__()
        for name in ("anchored_tensors", "available_memory_proportion", "source_location_excludes"):
            self._values[name] = copy.copy(self._values[name])
        for name, group in (("_training", _TrainingOptions()), ("_precision", _PrecisionOptions()), ("_jit", _JitOptions()),
                            ("_distributed", _DistributedOptions()), ("_locations", _TensorLocationOptions()), ("_popart", _PopartOptions())):
            object.__setattr__(self, name, group)
        self.setExecutionStrategy(enums.AutoStage.SameAsIpu)
        given = os.environ.get("POPTORCH_DEFAULT_OPTIONS")
        if given:
            self.from_json(given)

    def _optional(self):
        return ("random_seed", "ipu_model", "ipu_id", "profile_dir", "model_name", "cache_path", "updatable_named_buffers")

    Training = property(lambda self: self._training)
    Precision = property(lambda self: self._precision)
    Jit = property(lambda self: self._jit)
    Distributed = property(lambda self: self._distributed)
    TensorLocations = property(lambda self: self._locations)
    _Popart = property(lambda self: self._popart)

    def _freeze(self):
        super()._freeze()
        for group in (self._training, self._precision, self._jit, self._distributed, self._locations, self._popart):
            group._freeze()

    def deviceIterations(self, device_iterations):
        """Steps in one call."""
        return self._set(device_iterations=_positive(device_iterations, "deviceIterations"))

    def replicationFactor(self, replication_factor):
        """Replicas of the model, side by side."""
        return self._set(replication_factor=_positive(replication_factor, "replicationFactor"))

    def inputReplicaGrouping(self, input_group_size, input_group_type):
        """Replicas of a group receive the same input."""
        if input_group_type == enums.CommGroupType.All:
            raise ValueError("Input group type cannot be CommGroupType.All.")
        if input_group_type == enums.CommGroupType.NoGrouping:
            input_group_size = 1
        if input_group_size > self.replication_factor or self.replication_factor % input_group_size:
            raise ValueError(f"Input group size {input_group_size} does not divide the replication factor {self.replication_factor}.")
        return self._set(input_group_size=input_group_size, input_group_type=input_group_type)

    def outputMode(self, output_mode, output_return_period=None):
        """Which outputs a call returns."""
        assert isinstance(output_mode, enums.OutputMode)
        if output_mode == enums.OutputMode.EveryN:
            assert output_return_period and output_return_period > 0, "EveryN output mode requires an output_return_period"
        return self._set(output_mode=output_mode, output_return_period=output_return_period or 1)

    def defaultOutputMode(self):
        return self.output_mode == enums.OutputMode.Default

    def randomSeed(self, random_seed):
        """The seed of the program's random numbers and of torch's."""
        torch.manual_seed(random_seed)
        return self._set(random_seed=random_seed)

    def setExecutionStrategy(self, strategy):
        """Stages of a pipeline. Pando runs all of them on one device: the numbers are the same."""
        from poptorch.blocks import check_strategy

        object.__setattr__(self, "_execution_strategy", check_strategy(strategy))
        return self

    def autoRoundNumIPUs(self, auto_round_num_ipus=True):
        return self._set(auto_round_num_ipus=auto_round_num_ipus)

    def setAvailableMemoryProportion(self, available_memory_proportion):
        actual = {}
        for key, value in available_memory_proportion.items():
            assert key.startswith("IPU"), "Available memory proportions are by IPU: IPU0, IPU1 ..."
            actual[int(key[3:])] = value
        return self._set(available_memory_proportion=actual)

    def broadcastBuffers(self, broadcast_buffers=True):
        return self._set(broadcast_buffers=broadcast_buffers)

    def useIpuModel(self, use_model):
        """True: the 1,472 tiles of an IPU; False: one tile that has the whole host (the default, the fastest)."""
        return self._set(ipu_model=bool(use_model))

    def useIpuId(self, ipu_id):
        return self._set(ipu_id=ipu_id)

    def useOfflineIpuTarget(self, ipu_version=2):
        return self.connectionType(enums.ConnectionType.Never)

    def connectionType(self, connection_type):
        assert isinstance(connection_type, enums.ConnectionType)
        return self._set(connection_type=connection_type)

    def syncPattern(self, sync_pattern):
        assert isinstance(sync_pattern, enums.SyncPattern)
        return self._set(sync_pattern=sync_pattern)

    def enableExecutableCaching(self, path):
        if path is None:
            self._values.pop("cache_path", None)
            return self
        return self._set(cache_path=path)

    def enableSyntheticData(self, enabled):
        """Inputs are random numbers, whatever is given."""
        return self._set(enable_synthetic_data=bool(enabled))

    def enableStableNorm(self, enabled):
        return self._set(stable_norm=bool(enabled))

    def logCycleCount(self, log_cycle_count):
        return self._set(log_cycle_count=bool(log_cycle_count))

    def enableProfiling(self, profile_dir=None):
        """A report of compiling and of the first run goes into a folder of the model's name in `profile_dir`: profile.pando, with profile.pop as a second name."""
        return self._set(profile_dir=profile_dir or ".")

    def modelName(self, name):
        """The folder of the model's report."""
        return self._set(model_name=name)

    def logDir(self, log_dir):
        return self._set(log_dir=log_dir)

    def maxRepeatLogs(self, max_lines):
        return self._set(max_repeat_logs=max_lines)

    def showCompilationProgressBar(self, show=True):
        return self._set(show_compilation_progress_bar=show)

    def relaxOptimizerAttributesChecks(self, relax=True):
        return self._set(relax_optimizer_checks=relax)

    def disableModuleNamescope(self):
        return self._set(module_namescope_enabled=False)

    def sourceLocationExcludes(self, excludes):
        return self._set(source_location_excludes=list(excludes))

    def appendToLocationExcludes(self, *excludes):
        return self._set(source_location_excludes=[*self.source_location_excludes, *excludes])

    def anchorTensor(self, short_name, long_name, output_mode=None, output_return_period=1):
        """A tensor that getAnchoredTensor returns after a call. Long names: see PoplarExecutor.getTensorNames.

        Args:
            short_name: what getAnchoredTensor takes.
            long_name: an input, a weight, "loss", "Gradient___<weight>" or "UpdatedVar___<weight>".
            output_mode: which of its micro-batches; None: as the outputs of the model.
            output_return_period: of EveryN.
        """
        if output_mode is not None:
            assert isinstance(output_mode, enums.OutputMode)
            if output_mode == enums.OutputMode.EveryN:
                assert output_return_period and output_return_period > 0, "EveryN output mode requires an output_return_period"
        self.checkIsFrozen()
        self._values["anchored_tensors"] = {**self._values["anchored_tensors"], short_name: (long_name, output_mode, output_return_period)}

    def updatableNamedBuffers(self, buffers):
        return self._set(updatable_named_buffers=list(buffers))

    def clone(self):
        """A deep copy that can be changed."""
        return copy.deepcopy(self)

    def loadFromFile(self, filepath):
        """Calls of setters, one a line, without `options.`; blank lines and those that begin with # are left out."""
        with open(filepath) as file:
            for number, line in enumerate(file, 1):
                text = line.strip()
                if not text or text.startswith("#"):
                    continue
                import poptorch

                try:
                    exec(f"options.{text}", {"poptorch": poptorch, "torch": torch}, {"options": self})
                except Exception as error:
                    raise ConfigFileError(f"{type(error).__name__} at line {number} of {filepath}: {getattr(error, 'msg', error)}\n> options.{text}") from error
        return self

    def from_json(self, string):
        """{"Dotted.setter": value}: each is called with its value, or with the values of a list."""
        for key, value in json.loads(string).items():
            target = self
            for part in key.split("."):
                target = getattr(target, part)
            values = value if isinstance(value, list) else [value]
            target(*(_as_enum(v) for v in values))
        return self

    def _say(self):
        """Says all values in the log (DEBUG)."""
        from poptorch.blocks import SerialPhasedExecution, ParallelPhasedExecution, ShardedExecution

        mode = 2 if isinstance(self._execution_strategy, (SerialPhasedExecution, ParallelPhasedExecution)) else int(
            isinstance(self._execution_strategy, ShardedExecution))
        known = self.toDict()
        own = {name: value for name, value in known.items() if name not in self._popart.options}
        synthetic = {"syntheticDataMode": 2} if self.enable_synthetic_data else {}
        if self.exists("ipu_model"):
            logger.info("From the user configuration: Ipu model: %s", "Enabled" if self.ipu_model else "Disabled")
        option_log.say({"execution_mode": mode, **synthetic, **own}, self._popart.options)
        for name in self._popart.options:
            if not option_log.is_popart(name):
                say_once(f"There is no PopART option {name}, as far as Pando knows: it has no effect.")

    def toDict(self):
        assert self.output_mode != enums.OutputMode.Default, "The output mode has to be chosen first"
        parts = [self._values, self._training._values, self._precision._values, self._distributed._values, self._locations._values, self._popart.options]
        out = {}
        for part in parts:
            for key, value in part.items():
                assert key not in out, f"{key} is set twice"
                out[key] = value
        return out

    def __repr__(self):
        groups = [self._values, self._training._values, self._precision._values, self._distributed._values, self._locations._values, self._popart.options]
        return "Options(" + ", ".join(f"{k}={v!r}" for values in groups for k, v in values.items()) + ")"


# The names of all values of Options and its groups, but PopART's.
OWN = frozenset(name for group in (Options, _TrainingOptions, _PrecisionOptions, _JitOptions, _DistributedOptions) for name in group._defaults) | {
    "random_seed", "ipu_model", "ipu_id", "profile_dir", "model_name", "cache_path", "updatable_named_buffers", "numIOTiles", "location_activation",
    "location_weight", "location_optimizer", "location_accumulator"}


def _as_enum(value):
    if isinstance(value, str) and "." in value:
        name, _, member = value.rpartition(".")
        found = getattr(enums, name.replace("poptorch.", ""), None)
        if found is not None:
            return found[member]
    return value
