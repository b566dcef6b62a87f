// How replicas are divided into groups.
//
//     4 replicas, stride 1, size 2: groups 0 0 1 1        stride 2, size 2: 0 1 0 1
//
// Replicas are cut into blocks of stride x size; in each block, replica r belongs to group block * stride + r mod stride.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace pando::ir {

class ReplicaGrouping {
 public:
  // All replicas in one group.
  explicit ReplicaGrouping(std::int64_t replicas = 1);
  // Rejects (value): a stride or size out of range, or that does not divide.
  ReplicaGrouping(std::int64_t replicas, std::int64_t stride, std::int64_t size);
  // The group of each replica. Rejects (value): groups of different sizes, numbers that are not consecutive from 0 in order of appearance.
  static ReplicaGrouping of_assignment(std::vector<std::int64_t> assignment);

  std::int64_t replicas() const { return static_cast<std::int64_t>(assignment_.size()); }
  std::int64_t groups() const { return replicas() / size_; }
  std::int64_t size() const { return size_; }
  // Whether a stride and a size say it all.
  bool is_constant() const { return stride_ > 0; }
  // Rejects (not_implemented) where is_constant() is false.
  std::int64_t stride() const;
  const std::vector<std::int64_t>& assignment() const { return assignment_; }
  std::int64_t group_of(std::int64_t replica) const { return assignment_[static_cast<std::size_t>(replica)]; }
  // The replicas of a group, ascending.
  std::vector<std::int64_t> members(std::int64_t group) const;
  // Groups and members change places.
  ReplicaGrouping transposed() const;

  friend bool operator==(const ReplicaGrouping& a, const ReplicaGrouping& b) { return a.assignment_ == b.assignment_; }

 private:
  std::int64_t stride_ = 1, size_ = 1;  // stride 0: not constant
  std::vector<std::int64_t> assignment_;
};

}  // namespace pando::ir
