#ifndef poplar_GraphElements_hpp
#define poplar_GraphElements_hpp

#include <poplar/StringRef.hpp>

#include <cstddef>
#include <string>

namespace poplar {

typedef unsigned vertex_id;

namespace pando_detail {
/// A number that names one thing of a graph; ~0 names nothing.
template <class Tag> class Handle {
public:
  Handle() : id_(~0u) {}
  explicit Handle(unsigned id) : id_(id) {}
  unsigned getId() const { return id_; }
  friend bool operator==(const Handle &a, const Handle &b) { return a.id_ == b.id_; }
  friend bool operator!=(const Handle &a, const Handle &b) { return a.id_ != b.id_; }
  friend bool operator<(const Handle &a, const Handle &b) { return a.id_ < b.id_; }

protected:
  unsigned id_;
};
} // namespace pando_detail

/// A set of vertices that run at the same time.
class ComputeSet : public pando_detail::Handle<ComputeSet> {
public:
  ComputeSet() = default;
  explicit ComputeSet(unsigned id) : Handle(id) {}
};

class VertexRef;

/// A field of a vertex, or one sub-vector of a two-dimensional field: `v["in"]`, `v["in"][5]`.
class FieldRef {
public:
  FieldRef() : vertex_(~0u), name_(), index_(0), indexed_(false) {}
  FieldRef(vertex_id vertex, StringRef name) : vertex_(vertex), name_(name.cloneAsString()), index_(0), indexed_(false) {}
  FieldRef operator[](std::size_t index) const {
    FieldRef f(*this);
    f.index_ = index;
    f.indexed_ = true;
    return f;
  }
  vertex_id getVertexId() const { return vertex_; }
  const std::string &getName() const { return name_; }
  bool isIndexed() const { return indexed_; }
  std::size_t getIndex() const { return index_; }

private:
  vertex_id vertex_;
  std::string name_;
  std::size_t index_;
  bool indexed_;
};

/// A vertex of a graph.
class VertexRef : public pando_detail::Handle<VertexRef> {
public:
  VertexRef() = default;
  explicit VertexRef(vertex_id id) : Handle(id) {}
  FieldRef operator[](StringRef fieldName) const { return FieldRef(id_, fieldName); }
};

/// A part of the program that can be called from several places (Graph::addFunction).
class Function : public pando_detail::Handle<Function> {
public:
  Function() = default;
  explicit Function(unsigned id) : Handle(id) {}
};
/// A place from which a function's code is loaded (Graph::addFunctionBuffer).
class FunctionBuffer : public pando_detail::Handle<FunctionBuffer> {
public:
  FunctionBuffer() = default;
  explicit FunctionBuffer(unsigned id) : Handle(id) {}
};
/// A function of the host that the program calls (Graph::addHostFunction).
class HostFunction : public pando_detail::Handle<HostFunction> {
public:
  HostFunction() = default;
  explicit HostFunction(unsigned id) : Handle(id) {}
};

} // namespace poplar

#endif
