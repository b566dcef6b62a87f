"""Everything of `pva`, under the module's other name."""
from pva._compilation import (IPU, Compilation, ComputeSet, EquivalenceClass, Graph, Ipu, LivenessMemory, LivenessProgramStep, LoweredVariable,
                              LoweredVariables, MemoryCategories, MemoryCategory, MemoryRegion, MemoryTotal, StepInterval, Target, Tile, TileMemory,
                              VertexInstances, VertexType)
from pva._execution import Block, CycleTotal, ExecutedComputeSet, ExecutedStep, Execution, ExecutionStep, Interval, Run, StepOnIpu
from pva._operations import DebugContext, Location, Operation, OperationAnalysis
from pva._programs import Bounds, LivenessVariable, Program, ProgramVisitor, Var
from pva._report import FormatVersion, Report, Version, openReport

__all__ = [name for name in dir() if not name.startswith("_")]
