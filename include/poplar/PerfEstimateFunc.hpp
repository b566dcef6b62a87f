#ifndef poplar_PerfEstimateFunc_hpp
#define poplar_PerfEstimateFunc_hpp

#include <cstdint>
#include <functional>

namespace poplar {

class Target;
class VertexIntrospector;

/// What one run of a vertex costs: cycles, and the floating-point operations it does in them.
struct VertexPerfEstimate {
  std::uint64_t cycles;
  std::uint64_t flops;
  VertexPerfEstimate() : cycles(0), flops(0) {}
  VertexPerfEstimate(std::uint64_t c) : cycles(c), flops(0) {}
  VertexPerfEstimate(std::uint64_t c, std::uint64_t f) : cycles(c), flops(f) {}
  VertexPerfEstimate& operator+=(const VertexPerfEstimate& o) {
    cycles += o.cycles;
    flops += o.flops;
    return *this;
  }
  VertexPerfEstimate& operator*=(std::uint64_t n) {
    cycles *= n;
    flops *= n;
    return *this;
  }
};
inline VertexPerfEstimate operator+(VertexPerfEstimate a, const VertexPerfEstimate& b) { return a += b; }
inline VertexPerfEstimate operator*(VertexPerfEstimate a, std::uint64_t n) { return a *= n; }
inline VertexPerfEstimate operator*(std::uint64_t n, VertexPerfEstimate a) { return a *= n; }
inline bool operator==(const VertexPerfEstimate& a, const VertexPerfEstimate& b) { return a.cycles == b.cycles && a.flops == b.flops; }

/// Estimates a vertex's cost from its fields. Cycles are of a worker; for a MultiVertex and a supervisor vertex, of the tile.
using PerfEstimateFunc = std::function<VertexPerfEstimate(const VertexIntrospector& vertex, const Target& target)>;
/// The old name's form, without floating-point operations.
using CycleEstimateFunc = std::function<std::uint64_t(const VertexIntrospector& vertex, const Target& target)>;

}  // namespace poplar

#endif
