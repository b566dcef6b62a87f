#ifndef popops_SequenceSlice_hpp
#define popops_SequenceSlice_hpp

#include <poplar/Export.hpp>
#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
#include <poputil/DebugInfo.hpp>

#include <string>
#include <vector>

namespace poplar {
class Tensor;
}

namespace popops {

/// Copies sequences of entries of dimension 0: sequence i is tN[i] entries from entry tInOffset[i] of `tIn` to entry tOutOffset[i] of
/// `tOut`. Entries outside `tIn` read as zeros, those outside `tOut` are left out; where sequences overlap, the last one counts. The
/// other entries of `tOut` become zeros with `zeroUnused`, otherwise they stay. tIn, tOut: one type, entries of as many elements.
/// tN, tInOffset, tOutOffset: {sequences}, UNSIGNED_INT. Throws poplibs_error for other types or shapes, or a tOut that holds constants
/// or an element twice.
POPLAR_EXPORT void sequenceSlice(poplar::Graph& graph, const poplar::Tensor& tIn, const poplar::Tensor& tOut, const poplar::Tensor& tN,
                                 const poplar::Tensor& tInOffset, const poplar::Tensor& tOutOffset, bool zeroUnused,
                                 poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {});

}  // namespace popops

#endif
