#ifndef poplar_GraphElements_hpp
#define poplar_GraphElements_hpp

#include <poplar/StringRef.hpp>

#include <cstddef>
#include <string>

namespace poplar {

typedef unsigned vertex_id;

namespace pando_detail {
/// A number that names one thing of a graph; ~0 names nothing. What a graph hands out also knows which graph that was: another
/// one rejects it. A handle made of a bare number belongs to no graph.
template <class Tag> class Handle {
 public:
  Handle() : id_(~0u), graph_(0) {}
  explicit Handle(unsigned id, unsigned graph = 0) : id_(id), graph_(graph) {}
  unsigned getId() const { return id_; }
  unsigned graph() const { return graph_; }
  friend bool operator==(const Handle& a, const Handle& b) { return a.id_ == b.id_ && a.graph_ == b.graph_; }
  friend bool operator!=(const Handle& a, const Handle& b) { return !(a == b); }
  friend bool operator<(const Handle& a, const Handle& b) { return a.graph_ != b.graph_ ? a.graph_ < b.graph_ : a.id_ < b.id_; }

 protected:
  unsigned id_, graph_;
};
}  // namespace pando_detail

/// A set of vertices that run at the same time.
class ComputeSet : public pando_detail::Handle<ComputeSet> {
 public:
  ComputeSet() = default;
  explicit ComputeSet(unsigned id, unsigned graph = 0) : Handle(id, graph) {}
};

class VertexRef;

/// A field of a vertex, or one sub-vector of a two-dimensional field: `v["in"]`, `v["in"][5]`.
class FieldRef {
 public:
  FieldRef() : vertex_(~0u), graph_(0), name_(), index_(0), indexed_(false) {}
  FieldRef(vertex_id vertex, StringRef name, unsigned graph = 0)
      : vertex_(vertex), graph_(graph), name_(name.cloneAsString()), index_(0), indexed_(false) {}
  FieldRef operator[](std::size_t index) const {
    FieldRef f(*this);
    f.index_ = index;
    f.indexed_ = true;
    return f;
  }
  vertex_id getVertexId() const { return vertex_; }
  unsigned graph() const { return graph_; }
  const std::string& getName() const { return name_; }
  bool isIndexed() const { return indexed_; }
  std::size_t getIndex() const { return index_; }

 private:
  vertex_id vertex_;
  unsigned graph_;
  std::string name_;
  std::size_t index_;
  bool indexed_;
};

/// A vertex of a graph.
class VertexRef : public pando_detail::Handle<VertexRef> {
 public:
  VertexRef() = default;
  explicit VertexRef(vertex_id id, unsigned graph = 0) : Handle(id, graph) {}
  FieldRef operator[](StringRef fieldName) const { return FieldRef(id_, fieldName, graph_); }
};

/// A part of the program that can be called from several places (Graph::addFunction).
class Function : public pando_detail::Handle<Function> {
 public:
  Function() = default;
  explicit Function(unsigned id, unsigned graph = 0) : Handle(id, graph) {}
};
/// A place from which a function's code is loaded (Graph::addFunctionBuffer).
class FunctionBuffer : public pando_detail::Handle<FunctionBuffer> {
 public:
  FunctionBuffer() = default;
  explicit FunctionBuffer(unsigned id, unsigned graph = 0) : Handle(id, graph) {}
};
/// A function of the host that the program calls (Graph::addHostFunction).
class HostFunction : public pando_detail::Handle<HostFunction> {
 public:
  HostFunction() = default;
  explicit HostFunction(unsigned id, unsigned graph = 0) : Handle(id, graph) {}
};

}  // namespace poplar

#endif
