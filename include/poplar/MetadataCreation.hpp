#ifndef poplar_MetadataCreation_hpp
#define poplar_MetadataCreation_hpp

#include <poplar/DebugContext.hpp>
#include <poplar/Export.hpp>
#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
#include <poplar/Quarter.hpp>
#include <poplar/Tensor.hpp>

namespace poplar {

/// A QUARTER_METADATA scalar, on tile 0, that never changes. Throws overflow_error for a scale outside -32 ... 31.
POPLAR_EXPORT Tensor createConstantMetadataTensor(Graph& graph, const QuarterMetadata::Format& format, int scale,
                                                  const DebugContext& debugContext = {});
/// A QUARTER_METADATA variable with that initial value.
POPLAR_EXPORT Tensor createVariableMetadataTensor(Graph& graph, const QuarterMetadata::Format& format, int scale,
                                                  const DebugContext& debugContext = {});
/// The same, set by `prog`.
POPLAR_EXPORT Tensor createVariableMetadataTensor(Graph& graph, const QuarterMetadata::Format& format, int scale, program::Sequence& prog,
                                                  const DebugContext& debugContext = {});
/// The same with a scale that `prog` reads: one INT or SIGNED_CHAR element. A scale outside -32 ... 31 stops the program with an error.
POPLAR_EXPORT Tensor createVariableMetadataTensor(Graph& graph, const QuarterMetadata::Format& format, const Tensor& scale,
                                                  program::Sequence& prog, const DebugContext& debugContext = {});

}  // namespace poplar

#endif
