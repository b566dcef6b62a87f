// Collectives between replicas. What is different on each replica is chosen by its number; what moves is the same on all.
#include <popops/Zero.hpp>
#include <poputil/exceptions.hpp>

#include <algorithm>
#include <iterator>

#include "groups.h"
#include "poplibs/poputil/reject.h"

namespace gcl {

using namespace poplar;
using internal::Groups;
using poputil::poplibs_error;

namespace {

constexpr const char* kNames[] = {"ADD", "MEAN", "MUL", "MIN", "MAX", "LOGICAL_AND", "LOGICAL_OR", "SQUARE_ADD", "LOCAL"};

// `out` may be `data`.
void reduce_to(Graph& graph, const Tensor& data, const Tensor& out, CollectiveOperator op, program::Sequence& prog, const CommGroup& group,
               const DebugContext& debug) {
  if (out.shape() != data.shape() || out.elementType() != data.elementType())
    poputil::reject("destination", "{}",
                    "gcl::allReduce: the destination is " + out.getDebugStr() + ", the data are " + data.getDebugStr());
  const Groups groups(graph, group, "allReduce");
  internal::check_owner(graph, data);
  if (op == CollectiveOperator::LOCAL) return data == out ? void() : prog.add(program::Copy(data, out, false, debug));
  if (data.numElements() == 0) return;
  internal::combine(graph, internal::gathered(graph, groups, data, prog, debug), out, op, prog, debug);
}

// Flat, with zeros up to a multiple of n.
Tensor padded(Graph& graph, const Tensor& data, std::size_t n, const DebugContext& debug) {
  const Tensor flat = data.flatten();
  const std::size_t rest = (n - flat.numElements() % n) % n;
  if (rest == 0) return flat;
  const Tensor zeros = graph.addConstant(data.elementType(), {rest}, 0, {debug, "zeros"});
  graph.setTileMapping(zeros, graph.getTarget().getNumTiles() - 1);
  return concat(flat, zeros);
}

}  // namespace

std::ostream& operator<<(std::ostream& out, CollectiveOperator op) {
  const unsigned number = static_cast<unsigned>(op);
  return number < std::size(kNames) ? out << kNames[number] : out << "CollectiveOperator(" << number << ")";
}

std::istream& operator>>(std::istream& in, CollectiveOperator& op) {
  std::string name;
  if (in >> name) op = operatorFromString(name);
  return in;
}

CollectiveOperator operatorFromString(const std::string& name) {
  const auto found = std::find(std::begin(kNames), std::end(kNames), name);
  if (found == std::end(kNames)) poputil::reject("no-such-operator", "{}", "gcl: there is no collective operator '" + name + "'");
  return static_cast<CollectiveOperator>(found - std::begin(kNames));
}

CollectiveOperator toCollectiveOperator(popops::Operation op) {
  switch (op) {
    case popops::Operation::ADD: return CollectiveOperator::ADD;
    case popops::Operation::MUL: return CollectiveOperator::MUL;
    case popops::Operation::MIN: return CollectiveOperator::MIN;
    case popops::Operation::MAX: return CollectiveOperator::MAX;
    case popops::Operation::LOGICAL_AND: return CollectiveOperator::LOGICAL_AND;
    case popops::Operation::LOGICAL_OR: return CollectiveOperator::LOGICAL_OR;
    case popops::Operation::SQUARE_ADD: return CollectiveOperator::SQUARE_ADD;
    default: poputil::reject("operator", "gcl: this popops::Operation is no collective operator");
  }
}

Tensor allReduceCrossReplica(Graph& graph, const Tensor& data, CollectiveOperator op, program::Sequence& prog, const CommGroup& group,
                             const DebugContext& debugContext, const OptionFlags&) {
  const Tensor out = graph.clone(data, {debugContext, "allReduce"});
  reduce_to(graph, data, out, op, prog, group, {debugContext, "allReduce"});
  return out;
}
Tensor allReduceCrossReplica(Graph& graph, const Tensor& data, CollectiveOperator op, program::Sequence& prog,
                             const DebugContext& debugContext, const OptionFlags& options) {
  return allReduceCrossReplica(graph, data, op, prog, CommGroup(), debugContext, options);
}
std::vector<Tensor> allReduceCrossReplica(Graph& graph, const std::vector<Tensor>& datas, CollectiveOperator op, program::Sequence& prog,
                                          const CommGroup& group, const DebugContext& debugContext, const OptionFlags& options) {
  std::vector<Tensor> out;
  for (const Tensor& t : datas) out.push_back(allReduceCrossReplica(graph, t, op, prog, group, debugContext, options));
  return out;
}
std::vector<Tensor> allReduceCrossReplica(Graph& graph, const std::vector<Tensor>& datas, CollectiveOperator op, program::Sequence& prog,
                                          const DebugContext& debugContext, const OptionFlags& options) {
  return allReduceCrossReplica(graph, datas, op, prog, CommGroup(), debugContext, options);
}

void allReduceInPlaceCrossReplica(Graph& graph, Tensor& data, CollectiveOperator op, program::Sequence& prog, const CommGroup& group,
                                  const DebugContext& debugContext, const OptionFlags&) {
  reduce_to(graph, data, data, op, prog, group, {debugContext, "allReduceInPlace"});
}
void allReduceInPlaceCrossReplica(Graph& graph, std::vector<Tensor>& datas, CollectiveOperator op, program::Sequence& prog,
                                  const CommGroup& group, const DebugContext& debugContext, const OptionFlags& options) {
  for (Tensor& t : datas) allReduceInPlaceCrossReplica(graph, t, op, prog, group, debugContext, options);
}
void allReduceToDestinationCrossReplica(Graph& graph, const Tensor& data, Tensor& destination, CollectiveOperator op,
                                        program::Sequence& prog, const CommGroup& group, const DebugContext& debugContext,
                                        const OptionFlags&) {
  reduce_to(graph, data, destination, op, prog, group, {debugContext, "allReduceToDestination"});
}
Tensor allReduce(Graph& graph, const Tensor& data, popops::Operation op, program::Sequence& prog, const DebugContext& debugContext,
                 const OptionFlags& options) {
  return allReduceCrossReplica(graph, data, toCollectiveOperator(op), prog, CommGroup(), debugContext, options);
}

Tensor reduceScatterCrossReplica(Graph& graph, const Tensor& data, CollectiveOperator op, program::Sequence& prog, const CommGroup& group,
                                 const DebugContext& debugContext, const OptionFlags&) {
  const DebugContext debug(debugContext, "reduceScatter");
  const Groups groups(graph, group, "reduceScatter");
  const Tensor flat = padded(graph, data, groups.size(), debug);
  const Tensor rows = flat.reshape({groups.size(), flat.numElements() / groups.size()});
  const Tensor parts = internal::exchanged(graph, groups, rows, prog, debug);
  const Tensor out = graph.clone(parts[0], {debug, "part"});
  if (out.numElements() == 0) return out;
  if (op != CollectiveOperator::LOCAL) {
    internal::combine(graph, parts, out, op, prog, debug);
    return out;
  }
  // Each keeps what it has itself of its part: the row that it sent to itself.
  const Tensor index = graph.addReplicationIndexConstant({debug, "replica"});
  graph.setTileMapping(index, 0);
  program::Switch choose(index, debug);
  for (unsigned r = 0; r < groups.replicas(); ++r)
    choose.add(static_cast<int>(r), program::Copy(parts[groups.place(r)], out, false, debug));
  prog.add(choose);
  return out;
}
Tensor reduceScatterCrossReplica(Graph& graph, const Tensor& data, CollectiveOperator op, program::Sequence& prog,
                                 const DebugContext& debugContext, const OptionFlags& options) {
  return reduceScatterCrossReplica(graph, data, op, prog, CommGroup(), debugContext, options);
}

Tensor allGatherCrossReplica(Graph& graph, const Tensor& data, program::Sequence& prog, const CommGroup& group,
                             const DebugContext& debugContext, const OptionFlags&) {
  return internal::gathered(graph, Groups(graph, group, "allGather"), data, prog, {debugContext, "allGather"});
}
Tensor allGatherCrossReplica(Graph& graph, const Tensor& data, program::Sequence& prog, const DebugContext& debugContext,
                             const OptionFlags& options) {
  return allGatherCrossReplica(graph, data, prog, CommGroup(), debugContext, options);
}

Tensor allToAllCrossReplica(Graph& graph, const Tensor& data, program::Sequence& prog, const CommGroup& group,
                            const DebugContext& debugContext, const OptionFlags&) {
  const Groups groups(graph, group, "allToAll");
  if (data.rank() == 0 || data.dim(0) != groups.size())
    poputil::reject("rows-of-groups", "{}",
                    "gcl::allToAll: data of shape " + data.shapeToString() + " in groups of " + std::to_string(groups.size()) +
                        "; expected a row for each");
  return internal::exchanged(graph, groups, data, prog, {debugContext, "allToAll"});
}
Tensor allToAllCrossReplica(Graph& graph, const Tensor& data, program::Sequence& prog, const DebugContext& debugContext,
                            const OptionFlags& options) {
  return allToAllCrossReplica(graph, data, prog, CommGroup(), debugContext, options);
}

Tensor broadcastCrossReplica(Graph& graph, const Tensor& data, program::Sequence& prog, const CommGroup& group,
                             const DebugContext& debugContext, unsigned root, const OptionFlags&) {
  const Groups groups(graph, group, "broadcast");
  if (root >= groups.size())
    poputil::reject("no-such-member", "{}",
                    "gcl::broadcast: there is no member " + std::to_string(root) + " in groups of " + std::to_string(groups.size()));
  const Tensor all = internal::gathered(graph, groups, data, prog, {debugContext, "broadcast"});
  const Tensor out = graph.clone(data, {debugContext, "broadcast"});
  prog.add(program::Copy(all[root], out, false, {debugContext, "broadcast"}));
  return out;
}

}  // namespace gcl
