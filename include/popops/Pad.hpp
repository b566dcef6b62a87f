#ifndef popops_Pad_hpp
#define popops_Pad_hpp

#include <poplar/Export.hpp>
#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>

#include <cstddef>
#include <vector>

namespace popops {
namespace padding {

/// Padding with elements of the tensor. EDGE: the element at the edge, repeated. REFLECT: the elements next to the edge, going
/// back from it; the edge itself is not repeated: [0 1 2] is [2 1 0 1 2 1 0] with 2 more on either side.
enum class Type { EDGE, REFLECT };

/// Where constant padding lies: nowhere yet (the caller maps it), on tile 0, or where the tensor's edge is.
enum class MappingMethod { NONE, ZERO, EDGE };

}  // namespace padding

// All return a tensor of which `t` is a part: dimension d has paddingLower[d] elements before and paddingUpper[d] after those of
// `t`. Negative numbers remove elements. No data are moved: what is added are constants, the element `val`, or elements of `t`.
//
// All throw poputil::poplibs_error if there is not one number for each dimension, if more elements are to be removed than there
// are, if a `val` tensor is not one element of the type of `t`, or if EDGE or REFLECT padding is wider than what there is: EDGE
// needs one element, REFLECT one more than it adds.

/// Pads all dimensions with the constant \p val, converted to the type of \p t.
POPLAR_EXPORT poplar::Tensor pad(poplar::Graph& graph, const poplar::Tensor& t, const std::vector<std::ptrdiff_t>& paddingLower,
                                 const std::vector<std::ptrdiff_t>& paddingUpper, float val = 0.0f,
                                 padding::MappingMethod mappingMethod = padding::MappingMethod::ZERO);
POPLAR_EXPORT poplar::Tensor pad(poplar::Graph& graph, const poplar::Tensor& t, const std::vector<std::ptrdiff_t>& paddingLower,
                                 const std::vector<std::ptrdiff_t>& paddingUpper, int val,
                                 padding::MappingMethod mappingMethod = padding::MappingMethod::ZERO);
/// Pads with the element \p val, repeated; it lies where it is.
POPLAR_EXPORT poplar::Tensor pad(poplar::Graph& graph, const poplar::Tensor& t, const std::vector<std::ptrdiff_t>& paddingLower,
                                 const std::vector<std::ptrdiff_t>& paddingUpper, const poplar::Tensor& val,
                                 padding::MappingMethod mappingMethod = padding::MappingMethod::ZERO);

/// The same for dimension \p dim alone.
POPLAR_EXPORT poplar::Tensor pad(poplar::Graph& graph, const poplar::Tensor& t, std::ptrdiff_t paddingLower, std::ptrdiff_t paddingUpper,
                                 unsigned dim, float val = 0.0f, padding::MappingMethod mappingMethod = padding::MappingMethod::ZERO);
POPLAR_EXPORT poplar::Tensor pad(poplar::Graph& graph, const poplar::Tensor& t, std::ptrdiff_t paddingLower, std::ptrdiff_t paddingUpper,
                                 unsigned dim, int val, padding::MappingMethod mappingMethod = padding::MappingMethod::ZERO);
POPLAR_EXPORT poplar::Tensor pad(poplar::Graph& graph, const poplar::Tensor& t, std::ptrdiff_t paddingLower, std::ptrdiff_t paddingUpper,
                                 unsigned dim, const poplar::Tensor& val,
                                 padding::MappingMethod mappingMethod = padding::MappingMethod::ZERO);

/// Pads with elements of \p t.
POPLAR_EXPORT poplar::Tensor pad(const poplar::Tensor& t, const std::vector<std::ptrdiff_t>& paddingLower,
                                 const std::vector<std::ptrdiff_t>& paddingUpper, padding::Type type);
POPLAR_EXPORT poplar::Tensor pad(const poplar::Tensor& t, std::ptrdiff_t paddingLower, std::ptrdiff_t paddingUpper, unsigned dim,
                                 padding::Type type);

}  // namespace popops

#endif
