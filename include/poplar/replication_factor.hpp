#ifndef poplar_replication_factor_hpp
#define poplar_replication_factor_hpp

namespace poplar {

/// How many replicas of a graph there are. A type of its own, so that a number is not taken for it.
class replication_factor {
 public:
  constexpr explicit replication_factor(unsigned value) : value_(value) {}
  constexpr operator unsigned() const { return value_; }
  constexpr unsigned value() const { return value_; }

 private:
  unsigned value_;
};

}  // namespace poplar

#endif
