// Who works with whom, and the exchanges that all collectives between replicas are made of.
#pragma once

#include <gcl/Collectives.hpp>

#include <map>
#include <vector>

namespace gcl::internal {

// The groups of a replicated graph: of each replica its group's members, in order, and its own place among them.
class Groups {
 public:
  // Throws poplibs_error if the replicas cannot be shared out to groups of that size.
  Groups(const poplar::Graph& graph, const CommGroup& group, const char* where);

  unsigned size() const { return size_; }
  unsigned replicas() const { return replicas_; }
  unsigned place(unsigned replica) const;
  // Each replica sends to the member that is `shift` places after it.
  std::map<unsigned, unsigned> shifted(unsigned shift) const;

 private:
  unsigned member(unsigned replica, unsigned place) const;
  unsigned replicas_ = 1, size_ = 1, stride_ = 1;
};

// Rejects a tensor of another graph, also where nothing is done with it.
void check_owner(const poplar::Graph& graph, const poplar::Tensor& t);

// {g, ...}: element m comes from member m of the group. `data` has the shape {...}.
poplar::Tensor gathered(poplar::Graph& graph, const Groups& groups, const poplar::Tensor& data, poplar::program::Sequence& prog,
                        const poplar::DebugContext& debug);
// {g, ...}: element m is the row of member m's data, {g, ...}, that has this member's place.
poplar::Tensor exchanged(poplar::Graph& graph, const Groups& groups, const poplar::Tensor& data, poplar::program::Sequence& prog,
                         const poplar::DebugContext& debug);

// parts {n, ...} combined over dimension 0 into `out`.
void combine(poplar::Graph& graph, const poplar::Tensor& parts, const poplar::Tensor& out, CollectiveOperator op,
             poplar::program::Sequence& prog, const poplar::DebugContext& debug);

}  // namespace gcl::internal
