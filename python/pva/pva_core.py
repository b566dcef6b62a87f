"""Everything of `pva`, under the module's other name."""
from pva._compilation import (IPU, Compilation, ComputeSet, Graph, Ipu, LivenessMemory, LivenessProgramStep, MemoryCategories, MemoryCategory,
                              MemoryRegion, MemoryTotal, Target, Tile, TileMemory, VertexInstances, VertexType)
from pva._execution import CycleTotal, ExecutedComputeSet, ExecutedStep, Execution, ExecutionStep, Interval, Run, StepOnIpu
from pva._operations import DebugContext, Location, Operation, OperationAnalysis
from pva._programs import Bounds, LivenessVariable, Program, ProgramVisitor
from pva._report import Report, Version, openReport

__all__ = [name for name in dir() if not name.startswith("_")]
