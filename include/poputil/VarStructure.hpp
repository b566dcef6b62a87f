#ifndef poputil_VarStructure_hpp
#define poputil_VarStructure_hpp

#include <poplar/DebugContext.hpp>
#include <poplar/Export.hpp>
#include <poplar/Graph.hpp>
#include <poplar/Tensor.hpp>
#include <poplar/Type.hpp>

#include <cstddef>
#include <functional>
#include <map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace poputil {

/// The largest number g such that the innermost dimension consists of groups of g elements, each contiguous in memory, for every
/// position in the other dimensions. g divides the size of the dimension; 1 for tensors without elements or dimensions.
POPLAR_EXPORT unsigned detectInnermostGrouping(const poplar::Graph& graph, const poplar::Tensor& t);

/// A dimension and the size of a group in it.
using GroupingInfo = std::pair<unsigned, unsigned>;

/// How the tensor is blocked in memory, innermost first: groups of result[0].second elements of dimension result[0].first are
/// contiguous; so are groups of result[1].second of those blocks along dimension result[1].first; and so on. All group sizes are
/// larger than 1; a dimension may occur several times. Shape {2,3} in row-major order: {{1,3},{0,2}}.
POPLAR_EXPORT std::vector<GroupingInfo> detectDimGroupings(const poplar::Graph& graph, const poplar::Tensor& t);

/// A variable for a tensor that will be cut into nPartitions[d] parts along each dimension d: each block is contiguous in memory.
/// A part has ceil(size / nPartitions[d]) elements; later ones may have fewer or none. Unmapped. Throws poplibs_error if shape
/// and nPartitions differ in length, or for a number of 0.
POPLAR_EXPORT poplar::Tensor createPartitionableTensor(poplar::Graph& graph, const poplar::Type& type,
                                                       const std::vector<std::size_t>& shape, const std::vector<std::size_t>& nPartitions,
                                                       const poplar::DebugContext& debugContext = {});

/// Calls \p f with the position of each block and the block of \p t, cut as above; the last position changes fastest.
POPLAR_EXPORT void iterateTensorPartitions(const poplar::Tensor& t, const std::vector<std::size_t>& nPartitions,
                                           const std::function<void(const std::vector<std::size_t>& i, const poplar::Tensor& s)>& f);

}  // namespace poputil

#endif
