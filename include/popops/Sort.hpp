#ifndef popops_Sort_hpp
#define popops_Sort_hpp

#include <poplar/Export.hpp>
#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>

#include <string>

// Sorting, least first, along one dimension. Keys are FLOAT, HALF, INT, UNSIGNED_INT, SHORT or UNSIGNED_SHORT. A NaN is greater than
// every number (and comes out as the quiet NaN), -0 is less than 0. Long dimensions are sorted in blocks on many tiles.
//
// With values: they have any type of at most four bytes, and each goes where its key goes. Among equal keys the values are in
// the order of their bits as unsigned integers: sorting is not stable, but the result does not depend on how it is done.
//
// All throw poplibs_error for a dimension that does not exist, for other types, and for values of another shape than the keys;
// those in place also for tensors that hold constants or an element twice.
namespace popops {

/// A new tensor with the elements of `t` sorted along `dim`.
POPLAR_EXPORT poplar::Tensor sort(poplar::Graph& graph, const poplar::Tensor& t, unsigned dim, poplar::program::Sequence& prog,
                                  const poplar::DebugContext& debugContext = {});
/// The same in `t` itself.
POPLAR_EXPORT void sortInPlace(poplar::Graph& graph, const poplar::Tensor& t, unsigned dim, poplar::program::Sequence& prog,
                               const poplar::DebugContext& debugContext = {});
/// A new tensor with the elements of `v` in the order of their keys `k` along `dim`.
POPLAR_EXPORT poplar::Tensor sortKeyValue(poplar::Graph& graph, const poplar::Tensor& k, const poplar::Tensor& v, unsigned dim,
                                          poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {});
/// Sorts `k`, and `v` with it.
POPLAR_EXPORT void sortKeyValueInPlace(poplar::Graph& graph, const poplar::Tensor& k, const poplar::Tensor& v, unsigned dim,
                                       poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {});

}  // namespace popops

#endif
