"""Views of ops: a class for each type, so that programs can ask `isinstance(op, _ir.op.AddOp)`."""
from ..matmul_partials import MatMulPartialsType
from ..op_kinds import BodyCall, CallingOp, ConvolutionOp, FactorOp, IpuCopyView, LoadTarget, LoopView, MatMulView, MemoryProportionOp, OptimizerOp
from ..op_view import Op
from . import collectives, dynamic, exchange
from .table import declare

CLASSES = declare(globals(), Op, {
    "AbsOp": "Abs",
    "AddLhsInplaceOp": "AddLhsInplace",
    "AddOp": "Add",
    "AndOp": "And",
    "ArgMaxOp": "ArgMax",
    "ArgMinOp": "ArgMin",
    "AveragePoolOp": "AveragePool",
    "BatchNormOp": "BatchNormalization",
    "CastOp": "Cast",
    "CastThenPow2ScaleOp": "CastThenPow2Scale",
    "CeilOp": "Ceil",
    "ClipOp": "Clip",
    "ConcatInplaceOp": "ConcatInplace",
    "ConcatOp": "Concat",
    "ConstantOp": "Constant",
    "CosOp": "Cos",
    "CumSumOp": "CumSum",
    "DetachInplaceOp": "DetachInplace",
    "DetachOp": "Detach",
    "DivOp": "Div",
    "DropoutOp": "Dropout",
    "EqualOp": "Equal",
    "ErfxOp": "Erf",
    "ExpInplaceOp": "ExpInplace",
    "ExpOp": "Exp",
    "ExpandOp": "Expand",
    "FloorOp": "Floor",
    "FmodOp": "Fmod",
    "GeluErfInplaceOp": "GeluErfInplace",
    "GeluErfOp": "GeluErf",
    "GeluInplaceOp": "GeluInplace",
    "GeluOp": "Gelu",
    "GreaterOp": "Greater",
    "GroupNormGradOp": "GroupNormalizationGrad",
    "GroupNormOp": "GroupNormalization",
    "HistogramOp": "Histogram",
    "IdentityOp": "Identity",
    "IncrementModInplaceOp": "IncrementModInplace",
    "IncrementModOp": "IncrementMod",
    "InitOp": "Init",
    "IoTileCopyOp": "IoTileCopy",
    "IsInf": "IsInf",
    "IsNaN": "IsNaN",
    "LambSquareOp": "LambSquare",
    "LogOp": "Log",
    "MaxOp": "Max",
    "MaxPoolOp": "MaxPool",
    "ModifyRandomSeedOp": "ModifyRandomSeed",
    "MulLhsInplaceOp": "MulLhsInplace",
    "MulOp": "Mul",
    "MulRhsInplaceOp": "MulRhsInplace",
    "NegateOp": "Neg",
    "NllOp": "Nll",
    "NlllWithSoftmaxGradDirectOp": "NlllWithSoftmaxGradDirect",
    "NotOp": "Not",
    "OnehotOp": "OneHot",
    "OrOp": "Or",
    "Pow2ScaleThenCastOp": "Pow2ScaleThenCast",
    "PowOp": "Pow",
    "PrintTensorOp": "PrintTensor",
    "RandomNormalOp": "RandomNormal",
    "RandomUniformOp": "RandomUniform",
    "ReduceL1Op": "ReduceL1",
    "ReduceL2Op": "ReduceL2",
    "ReduceLogSumExpOp": "ReduceLogSumExp",
    "ReduceLogSumOp": "ReduceLogSum",
    "ReduceMaxOp": "ReduceMax",
    "ReduceMeanOp": "ReduceMean",
    "ReduceMedianOp": "ReduceMedian",
    "ReduceMinOp": "ReduceMin",
    "ReduceProdOp": "ReduceProd",
    "ReduceSumOp": "ReduceSum",
    "ReduceSumSquareOp": "ReduceSumSquare",
    "ReluInplaceOp": "ReluInplace",
    "ReluOp": "Relu",
    "ReshapeInplaceOp": "ReshapeInplace",
    "ReshapeOp": "Reshape",
    "ResizeOp": "Resize",
    "RoiAlignOp": "RoiAlign",
    "ScaledAddLhsInplaceOp": "ScaledAddLhsInplace",
    "ScaledAddOp": "ScaledAdd",
    "ShapedDropoutOp": "ShapedDropout",
    "SignOp": "Sign",
    "SinOp": "Sin",
    "SliceInplaceOp": "SliceInplace",
    "SliceOp": "Slice",
    "SoftmaxOp": "Softmax",
    "SplitOp": "Split",
    "SqrtOp": "Sqrt",
    "SubsampleOp": "Subsample",
    "SubtractOp": "Sub",
    "SumOp": "Sum",
    "SwishInplaceOp": "SwishInplace",
    "SwishOp": "Swish",
    "TanhOp": "Tanh",
    "TransposeInplaceOp": "TransposeInplace",
    "TransposeOp": "Transpose",
    "WhereOp": "Where",
})
# Ops that answer more than their operands and results.
CLASSES |= declare(globals(), CallingOp, {"CallOp": "Call", "IfOp": "If"})
CLASSES |= declare(globals(), LoopView, {"LoopOp": "Loop"})
CLASSES |= declare(globals(), ConvolutionOp, {"ConvOp": "Conv", "ConvTransposeOp": "ConvTranspose"})
CLASSES |= declare(globals(), MatMulView, {"MatMulOp": "MatMul"})
CLASSES |= declare(globals(), MemoryProportionOp, {"GatherOp": "Gather", "ScatterOp": "Scatter", "ScatterReduceOp": "ScatterReduce",
                                                   "TiedGatherOp": "PopartTiedGather", "TopKOp": "TopK"})
CLASSES |= declare(globals(), IpuCopyView, {"IpuCopyOp": "IpuCopy"})
CLASSES |= declare(globals(), FactorOp, {"AccumulateOp": "Accumulate", "AccumulatorScaleOp": "AccumulatorScale",
                                         "SparseAccumulateOp": "PopartSparseAccumulate"})
CLASSES |= declare(globals(), OptimizerOp, {"AdamUpdaterOp": "AdamUpdater", "AdamVarUpdateOp": "AdamVarUpdate", "CopyVarUpdateOp": "CopyVarUpdate"})
CLASSES |= collectives.CLASSES | dynamic.CLASSES | exchange.CLASSES


class LoadTargetOp(LoadTarget, InitOp):
    """An op of type Init."""


class BodyCallOp(BodyCall, CallOp):
    """An op of type Call."""
