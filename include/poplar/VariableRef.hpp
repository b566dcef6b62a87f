#ifndef poplar_VariableRef_hpp
#define poplar_VariableRef_hpp

#include <poplar/Interval.hpp>

#include <functional>

namespace poplar {

/// Names one variable of a graph.
class VariableRef {
 public:
  VariableRef() : id_(~0u), graph_(0) {}
  /// `graph`: of which graph; 0: nobody knows.
  explicit VariableRef(unsigned id, unsigned graph = 0) : id_(id), graph_(graph) {}
  unsigned id() const { return id_; }
  unsigned graph() const { return graph_; }
  friend bool operator==(const VariableRef& a, const VariableRef& b) { return a.id_ == b.id_ && a.graph_ == b.graph_; }
  friend bool operator!=(const VariableRef& a, const VariableRef& b) { return !(a == b); }
  friend bool operator<(const VariableRef& a, const VariableRef& b) { return a.graph_ != b.graph_ ? a.graph_ < b.graph_ : a.id_ < b.id_; }

 private:
  unsigned id_, graph_;
};

/// A contiguous region of one variable, in elements.
struct VariableInterval {
  VariableRef var;
  Interval interval;
  VariableInterval() : var(), interval() {}
  VariableInterval(VariableRef v, Interval i) : var(v), interval(i) {}
};
inline bool operator==(const VariableInterval& a, const VariableInterval& b) { return a.var == b.var && a.interval == b.interval; }
inline bool operator!=(const VariableInterval& a, const VariableInterval& b) { return !(a == b); }
inline bool operator<(const VariableInterval& a, const VariableInterval& b) {
  return a.var < b.var || (a.var == b.var && a.interval < b.interval);
}

}  // namespace poplar

namespace std {
template <> struct hash<poplar::VariableRef> {
  size_t operator()(const poplar::VariableRef& v) const { return hash<unsigned>()(v.id()); }
};
}  // namespace std

#endif
