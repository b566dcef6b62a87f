#include "ir/replica_grouping.h"

#include "ir/error.h"

namespace pando::ir {

ReplicaGrouping::ReplicaGrouping(std::int64_t replicas) : ReplicaGrouping(replicas, 1, replicas) {}

ReplicaGrouping::ReplicaGrouping(std::int64_t replicas, std::int64_t stride, std::int64_t size) : stride_(stride), size_(size) {
  if (replicas < 1) reject(ErrorClass::value, "grouping-replicas", "{} replicas; at least one is needed", replicas);
  if (stride < 1 || stride > replicas || replicas % stride != 0) {
    reject(ErrorClass::value, "grouping-stride", "the stride {} is not a factor of {} replicas", stride, replicas);
  }
  if (size < 1 || size > replicas || replicas % size != 0 || replicas % (stride * size) != 0) {
    reject(ErrorClass::value, "grouping-size", "groups of {} with stride {} do not divide {} replicas", size, stride, replicas);
  }
  for (std::int64_t r = 0; r < replicas; ++r) assignment_.push_back(r / (stride * size) * stride + r % stride);
}

ReplicaGrouping ReplicaGrouping::of_assignment(std::vector<std::int64_t> assignment) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t g : assignment) {
    if (g < 0 || g > static_cast<std::int64_t>(sizes.size())) {
      reject(ErrorClass::value, "grouping-numbers",
             "group {} appears where groups 0 to {} are known; groups are numbered in order of appearance", g,
             static_cast<std::int64_t>(sizes.size()) - 1);
    }
    if (g == static_cast<std::int64_t>(sizes.size())) sizes.push_back(0);
    ++sizes[static_cast<std::size_t>(g)];
  }
  if (sizes.empty()) reject(ErrorClass::value, "grouping-replicas", "an assignment of no replicas");
  for (std::int64_t s : sizes) {
    if (s != sizes[0]) reject(ErrorClass::value, "grouping-size", "groups of {} and of {} replicas; all must be of one size", sizes[0], s);
  }
  const auto n = static_cast<std::int64_t>(assignment.size());
  const std::int64_t size = sizes[0];
  // The second member of group 0 tells the stride, if there is one.
  std::int64_t stride = 1;
  while (stride < n && assignment[static_cast<std::size_t>(stride)] != 0) ++stride;
  if (size == 1) stride = 1;
  if (n % (stride * size) == 0) {
    ReplicaGrouping constant(n, stride, size);
    if (constant.assignment_ == assignment) return constant;
  }
  ReplicaGrouping g;
  g.stride_ = 0;
  g.size_ = size;
  g.assignment_ = std::move(assignment);
  return g;
}

std::int64_t ReplicaGrouping::stride() const {
  if (!is_constant()) reject(ErrorClass::not_implemented, "grouping-no-stride", "this grouping has no constant stride");
  return stride_;
}

std::vector<std::int64_t> ReplicaGrouping::members(std::int64_t group) const {
  std::vector<std::int64_t> out;
  for (std::int64_t r = 0; r < replicas(); ++r) {
    if (group_of(r) == group) out.push_back(r);
  }
  return out;
}

ReplicaGrouping ReplicaGrouping::transposed() const {
  std::vector<std::int64_t> position(static_cast<std::size_t>(groups()), 0), out;
  for (std::int64_t g : assignment_) out.push_back(position[static_cast<std::size_t>(g)]++);
  // Numbered in order of first appearance.
  std::vector<std::int64_t> number(static_cast<std::size_t>(size_), -1);
  std::int64_t next = 0;
  for (std::int64_t& m : out) {
    if (number[static_cast<std::size_t>(m)] < 0) number[static_cast<std::size_t>(m)] = next++;
    m = number[static_cast<std::size_t>(m)];
  }
  return of_assignment(std::move(out));
}

}  // namespace pando::ir
