// Typed ids: a dense 32- or 64-bit index that says what it indexes. Two ids of different kinds do not mix, so "passed the
// tile where the IPU was meant" does not compile. Ids are dense from zero, so side tables are plain vectors (DenseMap).
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

namespace pando {

template <class Tag, class Rep = std::uint32_t>
struct Id {
  using rep = Rep;
  static constexpr Rep kNone = std::numeric_limits<Rep>::max();
  Rep value = kNone;

  constexpr Id() = default;
  constexpr explicit Id(Rep v) : value(v) {}
  constexpr bool valid() const { return value != kNone; }
  constexpr std::size_t index() const { return static_cast<std::size_t>(value); }
  friend constexpr auto operator<=>(const Id&, const Id&) = default;
};

using IpuId = Id<struct IpuTag>;
// A tile of one replica's machine, counted over all its IPUs: tile t is on IPU t / tiles_per_ipu.
using TileId = Id<struct TileTag>;
using ReplicaId = Id<struct ReplicaTag>;
using VariableId = Id<struct VariableTag>;
using VertexId = Id<struct VertexTag>;
using ComputeSetId = Id<struct ComputeSetTag>;
// A codelet of a codelet library, across all loaded modules.
using CodeletId = Id<struct CodeletTag>;
// One loaded .gp.
using ModuleId = Id<struct ModuleTag>;
using FunctionId = Id<struct FunctionTag>;
// A host FIFO declared by the program ("data stream" in Poplar); not an instruction stream.
using FifoId = Id<struct FifoTag>;
using RemoteBufferId = Id<struct RemoteBufferTag>;
using HostFunctionId = Id<struct HostFunctionTag>;
// An instruction stream: one per IPU and tile group.
using StreamId = Id<struct StreamTag>;
// A leaf step of the lowered program, numbered in program order.
using StepId = Id<struct StepTag>;
// A byte offset into one tile's memory. 64 bits: the CPU device has more than 4 GiB.
using TileOffset = Id<struct TileOffsetTag, std::uint64_t>;

// A side table over a dense id. Grows on `at_or_add`; reading past the end is a broken invariant.
template <class I, class T>
class DenseMap {
 public:
  DenseMap() = default;
  explicit DenseMap(std::size_t n, const T& v = T()) : items_(n, v) {}
  T& operator[](I i) { return items_[i.index()]; }
  const T& operator[](I i) const { return items_[i.index()]; }
  T& at_or_add(I i) {
    if (i.index() >= items_.size()) items_.resize(i.index() + 1);
    return items_[i.index()];
  }
  I push(T v) {
    items_.push_back(std::move(v));
    return I(static_cast<typename I::rep>(items_.size() - 1));
  }
  std::size_t size() const { return items_.size(); }
  bool empty() const { return items_.empty(); }
  auto begin() { return items_.begin(); }
  auto end() { return items_.end(); }
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }
  std::vector<T>& raw() { return items_; }
  const std::vector<T>& raw() const { return items_; }

 private:
  std::vector<T> items_;
};

}  // namespace pando

template <class Tag, class Rep>
struct std::hash<pando::Id<Tag, Rep>> {
  std::size_t operator()(const pando::Id<Tag, Rep>& i) const { return std::hash<Rep>()(i.value); }
};
