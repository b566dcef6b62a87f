#ifndef popops_TopK_hpp
#define popops_TopK_hpp

#include <poplar/Export.hpp>
#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>
#include <popops/SortOrder.hpp>

#include <ostream>
#include <utility>
#include <vector>

// The k largest or smallest elements of the last dimension. Types and order of keys as in Sort.hpp: a NaN is the largest.
namespace popops {

struct POPLAR_EXPORT TopKParams {
  /// How many; at most the size of the last dimension. 0 gives results without elements, as popnn::topK does.
  unsigned k;
  /// The largest ones? Otherwise the smallest.
  bool largest;
  /// Order of the results. NONE: the best first.
  SortOrder sortOrder;
  /// Among equal keys the earlier in the tensor is the better one. topKWithPermutation is so in any case; for topKKeyValue this costs a
  /// look-up of the values. Otherwise the order of values is that of their bits as unsigned integers.
  bool stableSort;
  TopKParams(unsigned k, bool largest, SortOrder sortOrder, bool stableSort = false) noexcept;
};
POPLAR_EXPORT std::ostream& operator<<(std::ostream& os, const TopKParams& p);

/// A new tensor that is good as input: equal parts in order on all tiles.
POPLAR_EXPORT poplar::Tensor createTopKInput(poplar::Graph& graph, const poplar::Type& type, const std::vector<std::size_t>& shape,
                                             const TopKParams& params, const poplar::DebugContext& debugContext = {});

/// A new tensor of the shape of `t` with k in the last dimension. Throws poplibs_error for a scalar, a k larger than the last dimension,
/// or a type that cannot be sorted. So do the others.
POPLAR_EXPORT poplar::Tensor topK(poplar::Graph& graph, poplar::program::Sequence& prog, const poplar::Tensor& t, const TopKParams& params,
                                  const poplar::DebugContext& debugContext = {});

/// The best keys with their values: `values` has the shape of `keys` and a type of at most four bytes.
POPLAR_EXPORT std::pair<poplar::Tensor, poplar::Tensor> topKKeyValue(poplar::Graph& graph, poplar::program::Sequence& prog,
                                                                     const poplar::Tensor& keys, const poplar::Tensor& values,
                                                                     const TopKParams& params,
                                                                     const poplar::DebugContext& debugContext = {});

/// The best elements and where they are in the last dimension (UNSIGNED_INT). Of equal elements the earlier is the better.
POPLAR_EXPORT std::pair<poplar::Tensor, poplar::Tensor> topKWithPermutation(poplar::Graph& graph, poplar::program::Sequence& prog,
                                                                            const poplar::Tensor& t, const TopKParams& params,
                                                                            const poplar::DebugContext& debugContext = {});

}  // namespace popops

#endif
