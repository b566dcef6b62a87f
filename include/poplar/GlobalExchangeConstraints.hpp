#ifndef poplar_GlobalExchangeConstraints_hpp
#define poplar_GlobalExchangeConstraints_hpp

#include <utility>
#include <vector>

namespace poplar {

/// Data that flow from one IPU to another.
struct GlobalExchangeFlow {
  unsigned src, dst;
  GlobalExchangeFlow(unsigned srcIpu, unsigned dstIpu) : src(srcIpu), dst(dstIpu) {}
};
inline bool operator==(const GlobalExchangeFlow& a, const GlobalExchangeFlow& b) { return a.src == b.src && a.dst == b.dst; }
inline bool operator<(const GlobalExchangeFlow& a, const GlobalExchangeFlow& b) {
  return a.src < b.src || (a.src == b.src && a.dst < b.dst);
}

/// These flows together have at most `bandwidth` bits per second.
struct GlobalExchangeConstraint {
  double bandwidth;
  std::vector<GlobalExchangeFlow> flows;
  GlobalExchangeConstraint(double bitsPerSecond, std::vector<GlobalExchangeFlow> f) : bandwidth(bitsPerSecond), flows(std::move(f)) {}
};
inline bool operator==(const GlobalExchangeConstraint& a, const GlobalExchangeConstraint& b) {
  return !(a.bandwidth < b.bandwidth) && !(b.bandwidth < a.bandwidth) && a.flows == b.flows;
}
inline bool operator<(const GlobalExchangeConstraint& a, const GlobalExchangeConstraint& b) {
  return a.bandwidth < b.bandwidth || (!(b.bandwidth < a.bandwidth) && a.flows < b.flows);
}

}  // namespace poplar

#endif
