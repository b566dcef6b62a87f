#ifndef poplar_VertexIntrospector_hpp
#define poplar_VertexIntrospector_hpp

#include <poplar/Export.hpp>
#include <poplar/GraphElements.hpp>
#include <poplar/Target.hpp>
#include <poplar/Type.hpp>
#include <poplar/VectorLayout.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace poplar {

namespace core {
struct FieldState;
struct VertexState;
}  // namespace core

/// The size of one sub-vector of a two-dimensional field.
struct SubFieldSize {
  explicit SubFieldSize(std::size_t size) : size_(size) {}
  std::size_t size() const { return size_; }

 private:
  std::size_t size_;
};

/// What a vertex's field is connected to, as far as its cost can depend on it.
class POPLAR_EXPORT FieldData {
 public:
  ~FieldData();
  FieldData(const FieldData&);
  FieldData& operator=(const FieldData&);

  /// 0: scalar, 1: vector, 2: vector of vectors.
  unsigned rank() const;
  /// Elements of a vector, sub-vectors of a vector of vectors, 1 for a scalar.
  std::size_t size() const;
  /// Elements of sub-vector i; throws index_error.
  std::size_t getSizeAtIndex(std::size_t i) const;
  SubFieldSize operator[](std::size_t i) const { return SubFieldSize(getSizeAtIndex(i)); }
  /// Layout of the vector at that depth: 0 the outer one.
  layout::Vector getProfilerVectorLayout(unsigned nesting) const;
  layout::VectorList getProfilerVectorListLayout() const;

  /// The value of a scalar state field (or of one connected to a constant), converted to T.
  template <class T> T getInitialValue(const Target& target) const {
    static_cast<void>(target);
    T value = T();
    read(0, equivalent_device_type<T>().value, &value, 1);
    return value;
  }
  /// The values of a vector; T is std::vector<U> for a vector of vectors. Throws poplar_error if a value is not known.
  template <class T> std::vector<T> getInitialValues(const Target& target) const {
    std::vector<T> values;
    append(values, target);
    return values;
  }

 private:
  friend struct pando::facade::Access;
  explicit FieldData(std::shared_ptr<const core::FieldState> state);
  template <class T> void append(std::vector<T>& out, const Target&) const {
    out.resize(rank() == 2 ? getSizeAtIndex(0) : size());
    readAll(out, 0);
  }
  template <class U> void append(std::vector<std::vector<U>>& out, const Target&) const {
    out.resize(size());
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i].resize(getSizeAtIndex(i));
      readAll(out[i], i);
    }
  }
  template <class T> void readAll(std::vector<T>& out, std::size_t row) const {
    if (!out.empty()) read(row, equivalent_device_type<T>().value, out.data(), out.size());
  }
  void readAll(std::vector<bool>& out, std::size_t row) const {
    std::vector<char> bytes(out.size());
    if (!out.empty()) read(row, BOOL, bytes.data(), bytes.size());
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = bytes[i] != 0;
  }
  void read(std::size_t row, const Type& as, void* out, std::size_t n) const;
  std::shared_ptr<const core::FieldState> state_;
};

/// A vertex as its cycle estimator sees it. Lives as long as the call.
class POPLAR_EXPORT VertexIntrospector {
 public:
  /// Throws unknown_field.
  FieldData getFieldInfo(const std::string& name) const;
  /// The name of the vertex type.
  std::string getVertexName() const;
  ComputeSet getComputeSet() const;

 private:
  friend struct pando::facade::Access;
  explicit VertexIntrospector(const core::VertexState& state) : state_(&state) {}
  const core::VertexState* state_;
};

}  // namespace poplar

#endif
