// How a value lies on the devices of a mesh. The mesh has axes; on each, a value is the same everywhere (replicated), cut along a
// dimension (sharded), or a sum whose terms lie on the devices (partial). Microbatches are an axis, too: that of time.
#pragma once

#include <array>
#include <cstdint>

namespace pando::transform {

enum Axis : std::uint8_t { kData, kExpert, kContext, kTensor, kTime };
inline constexpr std::size_t kAxes = 5;

struct Spec {
  enum Kind : std::uint8_t { replicated, sharded, partial };
  Kind kind = replicated;
  std::int8_t dim = 0;
  // The dimension is seen as (outer, rest), and the rest is cut: what a reshape makes of a cut dimension that goes behind another.
  std::int64_t outer = 1;

  static Spec along(std::int64_t dim, std::int64_t outer = 1) { return {sharded, static_cast<std::int8_t>(dim), outer}; }
  static Spec sum() { return {partial, 0, 1}; }
  bool is_sharded() const { return kind == sharded; }
  bool is_partial() const { return kind == partial; }
  bool is_replicated() const { return kind == replicated; }
  friend bool operator==(const Spec&, const Spec&) = default;
};

using Specs = std::array<Spec, kAxes>;

}  // namespace pando::transform
