#ifndef gcl_Collectives_hpp
#define gcl_Collectives_hpp

#include <popops/Operation.hpp>

#include <poplar/DebugContext.hpp>
#include <poplar/Export.hpp>
#include <poplar/Graph.hpp>
#include <poplar/OptionFlags.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>

#include <istream>
#include <ostream>
#include <string>
#include <vector>

/// Collectives: between the replicas of a graph (CrossReplica), and between parts of a graph, one on each IPU (WithinReplica).
///
/// Results are the same bits on all replicas: each replica combines the values of its group in the order of their numbers, in float or
/// better, and rounds once. The options of the original are accepted and have no effect. All throw poputil::poplibs_error for operands that
/// do not fit.
namespace gcl {

/// LOCAL: each replica keeps its own value.
enum class CollectiveOperator { ADD, MEAN, MUL, MIN, MAX, LOGICAL_AND, LOGICAL_OR, SQUARE_ADD, LOCAL };
POPLAR_EXPORT std::ostream& operator<<(std::ostream& out, CollectiveOperator op);
POPLAR_EXPORT std::istream& operator>>(std::istream& in, CollectiveOperator& op);
/// The reverse of operator<<; throws poputil::poplibs_error.
POPLAR_EXPORT CollectiveOperator operatorFromString(const std::string& name);
POPLAR_EXPORT CollectiveOperator toCollectiveOperator(popops::Operation op);

/// Which replicas work together, of n: all; CONSECUTIVE, groups of `size` with consecutive numbers; ORTHOGONAL, groups of `size` with
/// numbers n / size apart.
enum class CommGroupType { ALL, CONSECUTIVE, ORTHOGONAL };
class CommGroup {
 public:
  CommGroup() = default;
  /// A size of 0 is all replicas.
  CommGroup(CommGroupType type, unsigned size) : type_(type), size_(size) {}
  CommGroupType type() const { return type_; }
  unsigned replicaGroupSize() const { return size_; }

 private:
  CommGroupType type_ = CommGroupType::ALL;
  unsigned size_ = 0;
};

/// Each replica's `data` combined over its group: a new tensor with the layout of `data`.
POPLAR_EXPORT poplar::Tensor allReduceCrossReplica(poplar::Graph& graph, const poplar::Tensor& data, CollectiveOperator op,
                                                   poplar::program::Sequence& prog, const CommGroup& group,
                                                   const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {});
POPLAR_EXPORT poplar::Tensor allReduceCrossReplica(poplar::Graph& graph, const poplar::Tensor& data, CollectiveOperator op,
                                                   poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {},
                                                   const poplar::OptionFlags& options = {});
POPLAR_EXPORT std::vector<poplar::Tensor> allReduceCrossReplica(poplar::Graph& graph, const std::vector<poplar::Tensor>& datas,
                                                                CollectiveOperator op, poplar::program::Sequence& prog,
                                                                const CommGroup& group, const poplar::DebugContext& debugContext = {},
                                                                const poplar::OptionFlags& options = {});
POPLAR_EXPORT std::vector<poplar::Tensor> allReduceCrossReplica(poplar::Graph& graph, const std::vector<poplar::Tensor>& datas,
                                                                CollectiveOperator op, poplar::program::Sequence& prog,
                                                                const poplar::DebugContext& debugContext = {},
                                                                const poplar::OptionFlags& options = {});
/// The same into `data` itself, or into another tensor of the same shape.
POPLAR_EXPORT void allReduceInPlaceCrossReplica(poplar::Graph& graph, poplar::Tensor& data, CollectiveOperator op,
                                                poplar::program::Sequence& prog, const CommGroup& group,
                                                const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {});
POPLAR_EXPORT void allReduceInPlaceCrossReplica(poplar::Graph& graph, std::vector<poplar::Tensor>& datas, CollectiveOperator op,
                                                poplar::program::Sequence& prog, const CommGroup& group,
                                                const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {});
POPLAR_EXPORT void allReduceToDestinationCrossReplica(poplar::Graph& graph, const poplar::Tensor& data, poplar::Tensor& destination,
                                                      CollectiveOperator op, poplar::program::Sequence& prog, const CommGroup& group,
                                                      const poplar::DebugContext& debugContext = {},
                                                      const poplar::OptionFlags& options = {});
/// Older name.
POPLAR_EXPORT poplar::Tensor allReduce(poplar::Graph& graph, const poplar::Tensor& data, popops::Operation op,
                                       poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {},
                                       const poplar::OptionFlags& options = {});

/// Member k of a group of g gets part k of the combined, flattened data: {ceil(n / g)}, with zeros after the end.
POPLAR_EXPORT poplar::Tensor reduceScatterCrossReplica(poplar::Graph& graph, const poplar::Tensor& data, CollectiveOperator op,
                                                       poplar::program::Sequence& prog, const CommGroup& group,
                                                       const poplar::DebugContext& debugContext = {},
                                                       const poplar::OptionFlags& options = {});
POPLAR_EXPORT poplar::Tensor reduceScatterCrossReplica(poplar::Graph& graph, const poplar::Tensor& data, CollectiveOperator op,
                                                       poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {},
                                                       const poplar::OptionFlags& options = {});
/// All members' data, in the order of their numbers: {g, shape of data ...}.
POPLAR_EXPORT poplar::Tensor allGatherCrossReplica(poplar::Graph& graph, const poplar::Tensor& data, poplar::program::Sequence& prog,
                                                   const CommGroup& group, const poplar::DebugContext& debugContext = {},
                                                   const poplar::OptionFlags& options = {});
POPLAR_EXPORT poplar::Tensor allGatherCrossReplica(poplar::Graph& graph, const poplar::Tensor& data, poplar::program::Sequence& prog,
                                                   const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {});
/// Row j of member i's data, {g, ...}, becomes row i of member j's result.
POPLAR_EXPORT poplar::Tensor allToAllCrossReplica(poplar::Graph& graph, const poplar::Tensor& data, poplar::program::Sequence& prog,
                                                  const CommGroup& group, const poplar::DebugContext& debugContext = {},
                                                  const poplar::OptionFlags& options = {});
POPLAR_EXPORT poplar::Tensor allToAllCrossReplica(poplar::Graph& graph, const poplar::Tensor& data, poplar::program::Sequence& prog,
                                                  const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {});
/// The data of member `root` on all of them.
POPLAR_EXPORT poplar::Tensor broadcastCrossReplica(poplar::Graph& graph, const poplar::Tensor& data, poplar::program::Sequence& prog,
                                                   const CommGroup& group = {}, const poplar::DebugContext& debugContext = {},
                                                   unsigned root = 0, const poplar::OptionFlags& options = {});

/// Part `index` of combined data, which begins at element `offset`.
struct Chunk {
  poplar::Tensor tensor;
  unsigned index = 0;
  unsigned offset = 0;
};
struct Chunks {
  std::vector<Chunk> chunks;
  poplar::Tensor originalInput;
};
/// The parts in order, one-dimensional.
POPLAR_EXPORT poplar::Tensor concatChunks(Chunks chunks);

/// toReduce[i], of {n, ...}, lies on an IPU of its own; more of them than there are tiles are rejected. All of them are combined, and each
/// of them gets the result: a tensor like toReduce.
POPLAR_EXPORT poplar::Tensor allReduceWithinReplica(poplar::Graph& graph, const poplar::Tensor& toReduce, CollectiveOperator op,
                                                    poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {},
                                                    const poplar::OptionFlags& options = {});
/// Part i of the result lies where toReduce[i] has these elements.
POPLAR_EXPORT Chunks reduceScatterWithinReplica(poplar::Graph& graph, const poplar::Tensor& toReduce, CollectiveOperator op,
                                                poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {},
                                                const poplar::OptionFlags& options = {});
/// {n, all elements}: each IPU that holds a part gets all parts.
POPLAR_EXPORT poplar::Tensor allGatherWithinReplica(poplar::Graph& graph, const Chunks& toGather, poplar::program::Sequence& prog,
                                                    const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {});

}  // namespace gcl

#endif
