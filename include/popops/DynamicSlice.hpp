#ifndef popops_DynamicSlice_hpp
#define popops_DynamicSlice_hpp

#include <poplar/Export.hpp>
#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
#include <poputil/DebugInfo.hpp>

#include <memory>
#include <ostream>
#include <string>
#include <vector>

namespace poplar {
class Tensor;
}

// Slices at positions that the program computes.
//
// dynamicSlice and dynamicUpdate take one offset per dimension and wrap around: coordinate i of a slice is coordinate
// (offset + i) mod size of the tensor. The functions of many offsets take offsets of shape {numIndices, dims.size()}; there a row
// whose coordinates do not exist reads as zeros, and updates to it do nothing. No offset can reach other memory.
//
// Offsets are UNSIGNED_INT, or INT of which negative ones count as too large.
namespace popops {

class SlicePlanInternal;

/// How a table and the lookups in it are shared out to tiles: made by embedding::plan, for the table's shape and a number of
/// lookups. A default-constructed plan leaves the choice to each function.
class POPLAR_EXPORT SlicePlan {
 public:
  SlicePlan();
  ~SlicePlan();
  SlicePlan(const SlicePlan& other);
  SlicePlan(SlicePlan&& other);
  SlicePlan& operator=(const SlicePlan& other);
  SlicePlan& operator=(SlicePlan&& other);
  /// Writes the table's shape and the partition.
  friend POPLAR_EXPORT std::ostream& operator<<(std::ostream& o, const SlicePlan& p);
  friend POPLAR_EXPORT bool operator<(const SlicePlan& a, const SlicePlan& b) noexcept;
  friend POPLAR_EXPORT bool operator==(const SlicePlan& a, const SlicePlan& b) noexcept;
  friend poplar::ProfileValue poputil::toProfileValue<>(const SlicePlan& p);
  // Of the implementation.
  SlicePlan(std::unique_ptr<SlicePlanInternal> internal);
  SlicePlanInternal& getImpl() const { return *internal; }

 private:
  std::unique_ptr<SlicePlanInternal> internal;
};

POPLAR_EXPORT std::ostream& operator<<(std::ostream& o, const SlicePlan& p);
POPLAR_EXPORT bool operator<(const SlicePlan& a, const SlicePlan& b) noexcept;
POPLAR_EXPORT bool operator==(const SlicePlan& a, const SlicePlan& b) noexcept;
POPLAR_EXPORT bool operator!=(const SlicePlan& a, const SlicePlan& b) noexcept;

/// A new tensor of `shape` that is good to slice in `dims`, by `sizes`: each tile has all of the sliced dimensions of its share
/// of the others, if there is enough of them for all tiles. Shares are multiples of `minGrainSize` elements (0: 16 bytes).
/// Throws poplibs_error if a dimension does not exist or occurs twice, or `dims` and `sizes` differ in length, or a size is
/// larger than its dimension. So do all functions here that have these parameters.
POPLAR_EXPORT poplar::Tensor createSliceableTensor(poplar::Graph& graph, const poplar::Type& type, const std::vector<size_t>& shape,
                                                   const std::vector<size_t>& dims, const std::vector<size_t>& sizes,
                                                   std::size_t minGrainSize = 0, const poplar::DebugContext& debugContext = {});

/// The same in the layout of a plan. `dims` holds one dimension, of the plan's number of entries, and the others have the plan's
/// output size; otherwise the plan is not used.
POPLAR_EXPORT poplar::Tensor createSliceableTensor(poplar::Graph& graph, const poplar::Type& type, const std::vector<size_t>& shape,
                                                   const std::vector<size_t>& dims, const std::vector<size_t>& sizes, const SlicePlan& plan,
                                                   const poplar::OptionFlags& options, const poplar::DebugContext& debugContext = {});

/// `groupSize` tables: shape {groupSize, shape...}; `dims` count from `shape`.
POPLAR_EXPORT poplar::Tensor createGroupedSliceableTensor(poplar::Graph& graph, const poplar::Type& type, const std::size_t groupSize,
                                                          const std::vector<std::size_t>& shape, const std::vector<std::size_t>& dims,
                                                          const std::vector<std::size_t>& sizes, const SlicePlan& plan,
                                                          const poplar::OptionFlags& options,
                                                          const poplar::DebugContext& debugContext = {});

/// A new tensor for `numIndices` slices of `t`: shape {numIndices, shape of t with `sizes` in `dims`}.
POPLAR_EXPORT poplar::Tensor createSliceTensor(poplar::Graph& graph, const poplar::Tensor& t, const std::vector<size_t>& dims,
                                               const std::vector<size_t>& sizes, std::size_t numIndices,
                                               const poplar::DebugContext& debugContext = {});
/// The same for a tensor of `shape`, in the layout of a plan.
POPLAR_EXPORT poplar::Tensor createSliceTensor(poplar::Graph& graph, const poplar::Type& type, const std::vector<std::size_t>& shape,
                                               const std::vector<std::size_t>& dims, const std::vector<std::size_t>& sizes,
                                               std::size_t numIndices, const SlicePlan& plan, const poplar::OptionFlags& options,
                                               const poplar::DebugContext& debugContext = {});
/// Shape {groupSize, numIndices, slice shape...}.
POPLAR_EXPORT poplar::Tensor createGroupedSliceTensor(poplar::Graph& graph, const poplar::Type& type, const std::size_t groupSize,
                                                      const std::vector<std::size_t>& shape, const std::vector<std::size_t>& dims,
                                                      const std::vector<std::size_t>& sizes, const std::size_t numIndices,
                                                      const SlicePlan& plan, const poplar::OptionFlags& options,
                                                      const poplar::DebugContext& debugContext = {});

/// A new UNSIGNED_INT tensor {numIndices, dims.size()} for offsets.
POPLAR_EXPORT poplar::Tensor createIndicesTensor(poplar::Graph& graph, const std::vector<std::size_t>& dims, std::size_t numIndices,
                                                 const SlicePlan& plan, const poplar::OptionFlags& options,
                                                 const poplar::DebugContext& debugContext = {});
/// Shape {groupSize, numIndices, dims.size()}.
POPLAR_EXPORT poplar::Tensor createGroupedIndicesTensor(poplar::Graph& graph, const std::size_t groupSize,
                                                        const std::vector<std::size_t>& dims, const std::size_t numIndices,
                                                        const SlicePlan& plan, const poplar::OptionFlags& options,
                                                        const poplar::DebugContext& debugContext = {});

/// A new tensor of the shape of `s` with dims[i] `numSlices[i]` times as long. The elements of each slice have the tiles of `s`.
POPLAR_EXPORT poplar::Tensor createSliceableTensorFromSlice(poplar::Graph& graph, const poplar::Tensor& s,
                                                            const std::vector<std::size_t>& dims, const std::vector<std::size_t>& numSlices,
                                                            const poplar::DebugContext& debugContext = {});

/// The slice of `t` of `sizes` at `offset` ({dims.size()}) in `dims`, all of the other dimensions: a new tensor of the rank of `t`.
POPLAR_EXPORT poplar::Tensor dynamicSlice(poplar::Graph& graph, const poplar::Tensor& t, const poplar::Tensor& offset,
                                          const std::vector<std::size_t>& dims, const std::vector<std::size_t>& sizes,
                                          poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {},
                                          const poplar::OptionFlags& options = {});

/// A new tensor for dynamicSliceWithOutput.
POPLAR_EXPORT poplar::Tensor createDynamicSliceOutput(poplar::Graph& graph, const poplar::Tensor& t, const poplar::Tensor& offset,
                                                      const std::vector<std::size_t>& dims, const std::vector<std::size_t>& sizes,
                                                      const poplar::DebugContext& debugContext = {},
                                                      const poplar::OptionFlags& options = {});

/// dynamicSlice into `output`, which has the slice's shape and type.
POPLAR_EXPORT void dynamicSliceWithOutput(poplar::Graph& graph, const poplar::Tensor& output, const poplar::Tensor& t,
                                          const poplar::Tensor& offset, const std::vector<std::size_t>& dims,
                                          const std::vector<std::size_t>& sizes, poplar::program::Sequence& prog,
                                          const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {});

/// Tiles of the slice of `t` at offset 0.
POPLAR_EXPORT poplar::Graph::TileToTensorMapping getSliceMapping(poplar::Graph& graph, const poplar::Tensor& t,
                                                                 const std::vector<std::size_t>& dims,
                                                                 const std::vector<std::size_t>& sizes);

/// Writes `s`, which has the shape of t with `sizes` in `dims`, into `t` at `offset`.
POPLAR_EXPORT void dynamicUpdate(poplar::Graph& graph, const poplar::Tensor& t, const poplar::Tensor& s, const poplar::Tensor& offset,
                                 const std::vector<std::size_t>& dims, const std::vector<std::size_t>& sizes,
                                 poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {},
                                 const poplar::OptionFlags& options = {});

/// Slice i is the one at offsets[i]. Returns a new tensor {numIndices, shape of t with `sizes` in `dims`}.
/// Options: those of embedding::plan; with validateIndices an offset outside its dimension stops the program with an error.
POPLAR_EXPORT poplar::Tensor multiSlice(poplar::Graph& graph, const poplar::Tensor& t, const poplar::Tensor& offsets,
                                        const std::vector<std::size_t>& dims, const std::vector<std::size_t>& sizes,
                                        poplar::program::Sequence& prog, const SlicePlan& plan, const poplar::OptionFlags& options,
                                        const poplar::DebugContext& debugContext = {});
/// Of each group on its own: t {groups, ...}, offsets {groups, numIndices, dims.size()}; returns {groups, numIndices, slice shape...}.
POPLAR_EXPORT poplar::Tensor groupedMultiSlice(poplar::Graph& graph, const poplar::Tensor& t, const poplar::Tensor& offsets,
                                               const std::vector<std::size_t>& dims, const std::vector<std::size_t>& sizes,
                                               poplar::program::Sequence& prog, const SlicePlan& plan, const poplar::OptionFlags& options,
                                               const poplar::DebugContext& debugContext = {});
/// Offsets that are known now: a new tensor of the shape of `t` with offsets.size() in `dim`. Throws poplibs_error for an offset
/// outside `dim`.
POPLAR_EXPORT poplar::Tensor multiSlice(poplar::Graph& graph, const poplar::Tensor& t, poplar::ArrayRef<unsigned> offsets, std::size_t dim,
                                        poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {},
                                        const poplar::OptionFlags& optionFlags = {});

/// Writes slice s[i] into `t` at offsets[i], in the order of i. `s` has the shape that multiSlice returns.
POPLAR_EXPORT void multiUpdate(poplar::Graph& graph, const poplar::Tensor& t, const poplar::Tensor& s, const poplar::Tensor& offsets,
                               const std::vector<std::size_t>& dims, const std::vector<std::size_t>& sizes, poplar::program::Sequence& prog,
                               const SlicePlan& plan, const poplar::OptionFlags& options, const poplar::DebugContext& debugContext = {});
POPLAR_EXPORT void groupedMultiUpdate(poplar::Graph& graph, const poplar::Tensor& t, const poplar::Tensor& s, const poplar::Tensor& offsets,
                                      const std::vector<std::size_t>& dims, const std::vector<std::size_t>& sizes,
                                      poplar::program::Sequence& prog, const SlicePlan& plan, const poplar::OptionFlags& options,
                                      const poplar::DebugContext& debugContext = {});

/// Adds scale * s[i] to the slice of `t` at offsets[i], in the order of i. FLOAT, HALF and integers, as in the functions below. `scale` has
/// one element, of the type of `t`, or FLOAT for a HALF `t`. Half sums are computed in float and rounded after each slice.
POPLAR_EXPORT void multiUpdateAdd(poplar::Graph& graph, const poplar::Tensor& t, const poplar::Tensor& s, const poplar::Tensor& offsets,
                                  const poplar::Tensor& scale, const std::vector<std::size_t>& dims, const std::vector<std::size_t>& sizes,
                                  poplar::program::Sequence& prog, const SlicePlan& plan, const poplar::OptionFlags& options,
                                  const poplar::DebugContext& debugContext = {});
POPLAR_EXPORT void groupedMultiUpdateAdd(poplar::Graph& graph, const poplar::Tensor& t, const poplar::Tensor& s,
                                         const poplar::Tensor& offsets, const poplar::Tensor& scale, const std::vector<std::size_t>& dims,
                                         const std::vector<std::size_t>& sizes, poplar::program::Sequence& prog, const SlicePlan& plan,
                                         const poplar::OptionFlags& options, const poplar::DebugContext& debugContext = {});
/// Offsets that are known now; `s` has the shape of `t` with offsets.size() in `dim`.
POPLAR_EXPORT void multiUpdateAdd(poplar::Graph& graph, const poplar::Tensor& t, const poplar::Tensor& s,
                                  poplar::ArrayRef<unsigned> offsets, const poplar::Tensor& scale, std::size_t dim,
                                  poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {},
                                  const poplar::OptionFlags& optionFlags = {});

/// The larger of the slice of `t` at offsets[i] and s[i], element by element; a NaN, if one is a NaN. multiUpdateMin: the smaller one.
POPLAR_EXPORT void multiUpdateMax(poplar::Graph& graph, const poplar::Tensor& t, const poplar::Tensor& s, const poplar::Tensor& offsets,
                                  const std::vector<std::size_t>& dims, const std::vector<std::size_t>& sizes,
                                  poplar::program::Sequence& prog, const SlicePlan& plan, const poplar::OptionFlags& options,
                                  const poplar::DebugContext& debugContext = {});
POPLAR_EXPORT void groupedMultiUpdateMax(poplar::Graph& graph, const poplar::Tensor& t, const poplar::Tensor& s,
                                         const poplar::Tensor& offsets, const std::vector<std::size_t>& dims,
                                         const std::vector<std::size_t>& sizes, poplar::program::Sequence& prog, const SlicePlan& plan,
                                         const poplar::OptionFlags& options, const poplar::DebugContext& debugContext = {});

POPLAR_EXPORT void multiUpdateMin(poplar::Graph& graph, const poplar::Tensor& t, const poplar::Tensor& s, const poplar::Tensor& offsets,
                                  const std::vector<std::size_t>& dims, const std::vector<std::size_t>& sizes,
                                  poplar::program::Sequence& prog, const SlicePlan& plan, const poplar::OptionFlags& options,
                                  const poplar::DebugContext& debugContext = {});
POPLAR_EXPORT void groupedMultiUpdateMin(poplar::Graph& graph, const poplar::Tensor& t, const poplar::Tensor& s,
                                         const poplar::Tensor& offsets, const std::vector<std::size_t>& dims,
                                         const std::vector<std::size_t>& sizes, poplar::program::Sequence& prog, const SlicePlan& plan,
                                         const poplar::OptionFlags& options, const poplar::DebugContext& debugContext = {});

/// Multiplies the slice of `t` at offsets[i] by s[i], in the order of i.
POPLAR_EXPORT void multiUpdateMul(poplar::Graph& graph, const poplar::Tensor& t, const poplar::Tensor& s, const poplar::Tensor& offsets,
                                  const std::vector<std::size_t>& dims, const std::vector<std::size_t>& sizes,
                                  poplar::program::Sequence& prog, const SlicePlan& plan, const poplar::OptionFlags& options,
                                  const poplar::DebugContext& debugContext = {});
POPLAR_EXPORT void groupedMultiUpdateMul(poplar::Graph& graph, const poplar::Tensor& t, const poplar::Tensor& s,
                                         const poplar::Tensor& offsets, const std::vector<std::size_t>& dims,
                                         const std::vector<std::size_t>& sizes, poplar::program::Sequence& prog, const SlicePlan& plan,
                                         const poplar::OptionFlags& options, const poplar::DebugContext& debugContext = {});

namespace embedding {

/// A plan for a table of numEntries rows of outputSize elements and the given numbers of lookups (the largest counts). Options:
///   usedForSlice, usedForUpdate (true, false)        what the plan is for [both true]
///   availableMemoryProportion                       share of a tile's memory for indices and slices; more lookups go in rounds [0.6]
///   operationForUpdate (none, add, max, mul) [add]; pando.planObjective (cycles, hostTime): what the plan spares [cycles]
///   indicesAreSorted, paddingIndexUsed (true, false), indicesDistribution (uniform, onePoint), partialType (half, float)
///                                                   are read and have no effect: all cases are handled alike
///   remapOutOfBoundIndices (true, false)            multiSlice takes an offset outside as 0 [false]
///   validateIndices (true, false)                   an offset outside stops the program [false]
/// Throws invalid_option for other options or values.
POPLAR_EXPORT SlicePlan plan(const poplar::Graph& graph, const poplar::Type& dataType, const std::size_t numEntries,
                             const std::size_t outputSize, const std::vector<std::size_t>& numLookups, const poplar::OptionFlags& options);
POPLAR_EXPORT SlicePlan plan(const poplar::Graph& graph, const poplar::Type& dataType, const std::size_t groupSize,
                             const std::size_t numEntries, const std::size_t outputSize, const std::vector<std::size_t>& numLookups,
                             const poplar::OptionFlags& options);

/// The arguments of plan.
struct SlicePlanningParameters {
  const poplar::Graph& graph;
  const poplar::Type dataType;
  const std::size_t groupSize = 1;
  const std::size_t numEntries;
  const std::size_t outputSize;
  const std::vector<std::size_t> numLookups;
  const poplar::OptionFlags optionFlags;
  SlicePlanningParameters(const poplar::Graph& graph_, const poplar::Type& dataType_, const std::size_t groupSize_,
                          const std::size_t numEntries_, const std::size_t outputSize_, const std::vector<std::size_t>& numLookups_,
                          const poplar::OptionFlags& optionFlags_)
      : graph(graph_),
        dataType(dataType_),
        groupSize(groupSize_),
        numEntries(numEntries_),
        outputSize(outputSize_),
        numLookups(numLookups_),
        optionFlags(optionFlags_) {}
  SlicePlanningParameters(const poplar::Graph& graph_, const poplar::Type& dataType_, const std::size_t numEntries_,
                          const std::size_t outputSize_, const std::vector<std::size_t>& numLookups_,
                          const poplar::OptionFlags& optionFlags_)
      : graph(graph_),
        dataType(dataType_),
        numEntries(numEntries_),
        outputSize(outputSize_),
        numLookups(numLookups_),
        optionFlags(optionFlags_) {}
};

/// One plan per element.
POPLAR_EXPORT std::vector<SlicePlan> planMultiple(const std::vector<SlicePlanningParameters>& spds);

}  // namespace embedding
}  // namespace popops

namespace poputil {
/// The text of the plan.
template <> POPLAR_EXPORT poplar::ProfileValue toProfileValue(const popops::SlicePlan& p);
}  // namespace poputil

#endif
