#ifndef popops_Encoding_hpp
#define popops_Encoding_hpp

#include <poplar/Export.hpp>
#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>
#include <poplar/Type.hpp>
#include <popops/EncodingConstants.hpp>

#include <string>

namespace popops {

/// encoded[..., i, c] = 1 if indices[..., i] is c, else 0. A row whose index is no class (MASKED_LABEL_CODE, for one) is all 0.
/// \p indices: any shape, UNSIGNED_INT or INT; floating types and narrower integers are converted to INT first.
/// \p encoded: the shape of \p indices with the classes as last dimension; FLOAT, HALF or any integer type.
/// Throws poputil::poplibs_error if shapes do not fit, or if \p encoded cannot be written.
POPLAR_EXPORT void encodeOneHot(poplar::Graph& graph, const poplar::Tensor& indices, const poplar::Tensor& encoded,
                                poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {});

/// The same with the values of the tensors \p on and \p off, of one element and of the type of \p encoded, in place of 1 and 0.
POPLAR_EXPORT void encodeOneHot(poplar::Graph& graph, const poplar::Tensor& indices, const poplar::Tensor& encoded,
                                poplar::program::Sequence& prog, const poplar::Tensor& on, const poplar::Tensor& off,
                                const poplar::DebugContext& debugContext = {});

/// t[i] = startInteger + i, for \p t of rank 1 and type INT, UNSIGNED_INT, FLOAT or HALF. Integers wrap around; floating values
/// are those of the integers, rounded. Throws poputil::poplibs_error for other ranks and types, or if \p t cannot be written.
POPLAR_EXPORT void iota(poplar::Graph& graph, const poplar::Tensor& t, unsigned startInteger, poplar::program::Sequence& prog,
                        const poplar::DebugContext& debugContext = {});
POPLAR_EXPORT void iota(poplar::Graph& graph, const poplar::Tensor& t, int startInteger, poplar::program::Sequence& prog,
                        const poplar::DebugContext& debugContext = {});

}  // namespace popops

#endif
