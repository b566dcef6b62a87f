#include "groups.h"
#include "poplibs/poputil/reject.h"

#include <popops/Reduce.hpp>
#include <popops/codelets.hpp>
#include <poputil/exceptions.hpp>

namespace gcl::internal {

using namespace poplar;
using poputil::poplibs_error;

Groups::Groups(const Graph& graph, const CommGroup& group, const char* where) : replicas_(graph.getReplicationFactor()) {
  const bool all = group.type() == CommGroupType::ALL || group.replicaGroupSize() == 0;
  size_ = all ? replicas_ : group.replicaGroupSize();
  if (replicas_ % size_ != 0)
    poputil::reject("group-size", "{}",
                    std::string("gcl::") + where + ": " + std::to_string(replicas_) + " replicas cannot be shared out to groups of " +
                        std::to_string(size_));
  stride_ = !all && group.type() == CommGroupType::ORTHOGONAL ? replicas_ / size_ : 1;
}

unsigned Groups::place(unsigned replica) const { return replica / stride_ % size_; }

unsigned Groups::member(unsigned replica, unsigned place) const { return replica + (place - this->place(replica)) * stride_; }

std::map<unsigned, unsigned> Groups::shifted(unsigned shift) const {
  std::map<unsigned, unsigned> to;
  for (unsigned r = 0; r < replicas_; ++r) to[r] = member(r, (place(r) + shift) % size_);
  return to;
}

void check_owner(const Graph& graph, const Tensor& t) {
  if (t.numElements() > 0) static_cast<void>(graph.getTileMapping(t.flatten()[0], false));
}

namespace {

// Copies rows of `from` to the rows of `to`: row i gets row order(place, i), where `place` is this replica's in its group.
template <class Order>
void add_rows_in_order(Graph& graph, const Groups& groups, const Tensor& from, const Tensor& to, Order order, program::Sequence& prog,
                       const DebugContext& debug) {
  const Tensor index = graph.addReplicationIndexConstant({debug, "replica"});
  graph.setTileMapping(index, 0);
  program::Switch choose(index, {debug, "order"});
  for (unsigned r = 0; r < groups.replicas(); ++r) {
    std::vector<Tensor> rows;
    for (unsigned i = 0; i < groups.size(); ++i) rows.push_back(from[order(groups.place(r), i)].expand({0}));
    choose.add(static_cast<int>(r), program::Copy(concat(rows), to, false, {debug, "order"}));
  }
  prog.add(choose);
}

// As many tensors like `data`, in a new dimension 0.
Tensor rows_like(Graph& graph, const Tensor& data, unsigned n, const DebugContext& debug) {
  return graph.cloneN(data, n, {debug, "parts"});
}

}  // namespace

Tensor gathered(Graph& graph, const Groups& groups, const Tensor& data, program::Sequence& prog, const DebugContext& debug) {
  const unsigned g = groups.size();
  const Tensor received = rows_like(graph, data, g, debug), ordered = rows_like(graph, data, g, debug);
  prog.add(program::Copy(data, received[0], false, {debug, "own"}));
  for (unsigned s = 1; s < g; ++s) prog.add(program::CrossReplicaCopy(data, received[s], groups.shifted(s), {debug, "shift"}));
  if (g == 1) return received;
  add_rows_in_order(graph, groups, received, ordered, [g](unsigned place, unsigned m) { return (place + g - m) % g; }, prog, debug);
  return ordered;
}

Tensor exchanged(Graph& graph, const Groups& groups, const Tensor& data, program::Sequence& prog, const DebugContext& debug) {
  const unsigned g = groups.size();
  const Tensor sent = graph.clone(data, {debug, "sent"}), received = graph.clone(data, {debug, "received"}),
               ordered = graph.clone(data, {debug, "ordered"});
  if (g == 1) {
    prog.add(program::Copy(data, ordered, false, {debug, "own"}));
    return ordered;
  }
  add_rows_in_order(graph, groups, data, sent, [g](unsigned place, unsigned s) { return (place + s) % g; }, prog, debug);
  prog.add(program::Copy(sent[0], received[0], false, {debug, "own"}));
  for (unsigned s = 1; s < g; ++s) prog.add(program::CrossReplicaCopy(sent[s], received[s], groups.shifted(s), {debug, "shift"}));
  add_rows_in_order(graph, groups, received, ordered, [g](unsigned place, unsigned m) { return (place + g - m) % g; }, prog, debug);
  return ordered;
}

void combine(Graph& graph, const Tensor& parts, const Tensor& out, CollectiveOperator op, program::Sequence& prog,
             const DebugContext& debug) {
  static const std::map<CollectiveOperator, popops::Operation> kOperations = {
      {CollectiveOperator::ADD, popops::Operation::ADD},
      {CollectiveOperator::MEAN, popops::Operation::ADD},
      {CollectiveOperator::MUL, popops::Operation::MUL},
      {CollectiveOperator::MIN, popops::Operation::MIN},
      {CollectiveOperator::MAX, popops::Operation::MAX},
      {CollectiveOperator::LOGICAL_AND, popops::Operation::LOGICAL_AND},
      {CollectiveOperator::LOGICAL_OR, popops::Operation::LOGICAL_OR},
      {CollectiveOperator::SQUARE_ADD, popops::Operation::SQUARE_ADD}};
  const auto operation = kOperations.find(op);
  if (operation == kOperations.end()) poputil::reject("operator", "gcl: there is no collective operator {}", static_cast<int>(op));
  popops::addCodelets(graph);
  popops::ReduceParams params(operation->second);
  if (op == CollectiveOperator::MEAN) {
    const Tensor scale = graph.addConstant<float>(FLOAT, {}, 1.0f / static_cast<float>(parts.dim(0)), {debug, "scale"});
    graph.setTileMapping(scale, 0);
    params = popops::ReduceParams(popops::Operation::ADD, false, scale);
  }
  popops::reduceWithOutput(graph, parts, out, {0}, params, prog, {debug, "combine"});
}

}  // namespace gcl::internal
