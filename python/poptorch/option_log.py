"""What is said of options: lines of the log when a model is compiled, and errors for what no option has."""
import enum

from poptorch.errors import Error
from poptorch.logging import logger

# Names of PopART's session options. Pando accepts them, and none has an effect.
POPART = frozenset("""
accumulateOuterFragmentSettings accumulationAndReplicationReductionType accumulationFactor aliasZeroCopy autoRecomputation automaticLossScalingSettings
batchSerializationSettings cachePath compileEngine constantWeights convolutionOptions customCodeletCompileFlags customCodelets customTransformApplierSettings
decomposeGradSum defaultBufferingDepth defaultPrefetchBufferingDepth delayVarUpdates developerSettings disableGradAccumulationTensorStreams
disableOptimizerStateTensorStreams dotChecks dotOpNames enableConstantFoldingOfMultipleConsumers enableDistributedReplicatedGraphs
enableEfficientOverlapIOTopoCons enableEngineCaching enableExplicitIR enableExplicitMainLoops enableFloatingPointChecks enableFullyConnectedPass
enableGradientAccumulation enableInplaceAmbiguityChecking enableLoadAndOffloadRNGState enableMergeExchange enableNonStableSoftmax enableOutlining
enableOutliningCopyCostPruning enablePipelining enablePrefetchDatastreams enableReplicatedGraphs enableSerializedMatmuls enableStableNorm
enableStochasticRounding enableVariablesCaching engineOptions ensureFp32LossScaleTensor executionPhaseSettings explicitRecomputation
exportPoplarComputationGraph exportPoplarVertexGraph finalDotOp firstDotOp gclOptions globalReplicaOffset globalReplicationFactor groupHostSync
groupNormStridedChannelGrouping hardwareInstrumentations instrumentWithHardwareCycleCounter kahnTieBreaker logDir lstmOptions matmulOptions
meanAccumulationAndReplicationReductionStrategy mergeVarUpdate mergeVarUpdateMemThreshold numIOTiles opxAliasChecking opxModifyChecking
outlineSequenceBreakCost outlineThreshold partialsTypeMatMuls patterns patternsLevel prefetchBufferingDepthMap rearrangeAnchorsOnHost
rearrangeStreamsOnHost replicatedCollectivesSettings replicatedGraphCount reportOptions saveInitializersToFile scheduleNonWeightUpdateGradientConsumersEarly
separateCallOpPdfs stashAllTensorsInferencePipeline strictOpVersions subgraphCopyingStrategy swapLimitScheduler syntheticDataMode timeLimitScheduler
transitiveClosureOptimizationThreshold updatableNamedBuffers useHostCopyOps useLoopCandidateCreator virtualGraphMode
""".split())

_VALUES = (bool, int, float, str, dict, list, tuple, set, frozenset, enum.Enum, type(None))


def _text(value):
    return str(value).lower() if isinstance(value, bool) else str(int(value)) if isinstance(value, enum.IntEnum) else str(value)


def _lines(name, value):
    if isinstance(value, dict):
        return [f"set {name}[{key}] to {_text(v)}" for key, v in value.items()]
    if isinstance(value, (list, tuple, set, frozenset)):
        return [f"added {_text(v)} to {name}" for v in value]
    return [f"set {name} to value {_text(value)}"]


def is_popart(name):
    """Whether PopART has an option of a name; parts of an option follow a point."""
    return name.partition(".")[0] in POPART


def check(own, popart):
    """Raises poptorch.Error for a PopART option that is not known, or a value of a type that no option has. own, popart: {name: value}."""
    for name, value in {**own, **popart}.items():
        if type(value).__module__.startswith("torch") and type(value).__name__ != "dtype":
            raise Error(f"Unknown value type {type(value)} for option {name}")
        if name in popart and not isinstance(value, _VALUES):
            raise Error(f"Unknown value type {type(value)} for option {name}")
        if name in popart and not is_popart(name):
            raise Error(f"Unknown PopART option {name}")


def say(own, popart):
    """A DEBUG line for each value."""
    for name, value in {**own, **popart}.items():
        for line in _lines(name, value):
            logger.debug("poptorch.Options %s", line)
