#ifndef poplar_Tensor_hpp
#define poplar_Tensor_hpp

#include <poplar/ArrayRef.hpp>
#include <poplar/Export.hpp>
#include <poplar/Interval.hpp>
#include <poplar/StringRef.hpp>
#include <poplar/Type.hpp>
#include <poplar/VariableRef.hpp>

#include <cstddef>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

namespace poplar {

namespace core {
struct TensorState;
}

/// How Tensor::upsample fills the new elements.
enum class UpsampleMethod { REPEAT };
POPLAR_EXPORT std::ostream& operator<<(std::ostream& out, UpsampleMethod method);

/// An ordered list of elements of variables and constants of one graph, with a shape. A tensor is a view: making another one
/// (slice, reshape, concat ...) never moves data, and costs time in the number of regions, not of elements. Elements are in
/// row-major order. A default-constructed tensor is invalid. All members are const and may be called from several threads.
///
/// Errors: index_error for an index, dimension or interval out of range; tensor_creation_error for shapes that do not fit;
/// type_error for types that do not fit. The message shows the shape and the arguments.
class POPLAR_EXPORT Tensor {
 public:
  Tensor();
  ~Tensor();
  Tensor(const Tensor&);
  Tensor(Tensor&&) noexcept;
  Tensor& operator=(const Tensor&);
  Tensor& operator=(Tensor&&) noexcept;

  bool valid() const { return state_ != nullptr; }
  Type elementType() const;
  unsigned rank() const;
  std::size_t dim(unsigned i) const;
  std::vector<std::size_t> shape() const;
  std::size_t numElements() const;
  /// "{3,4}"
  std::string shapeToString() const;

  /// Sub-tensor i of dimension 0, which is dropped: {3,4}[1] has shape {4}.
  Tensor operator[](std::size_t i) const;
  /// indices[0] of dimension 0, then indices[1] of the next ...: {3,4,5}.index({1,2}) has shape {5}.
  Tensor index(ArrayRef<std::size_t> indices) const;
  /// Elements [begin, end) of dimension `dimension`.
  Tensor slice(std::size_t begin, std::size_t end, unsigned dimension = 0) const;
  Tensor slice(const Interval& region, unsigned dimension = 0) const;
  /// Elements [begins[d], ends[d]) of every dimension d.
  Tensor slice(ArrayRef<std::size_t> begins, ArrayRef<std::size_t> ends) const;
  /// One slice per interval.
  std::vector<Tensor> slices(ArrayRef<Interval> intervals, unsigned dimension = 0) const;
  /// One tensor per list: the concatenation, in that dimension, of the slices of the list.
  std::vector<Tensor> slices(const std::vector<std::vector<Interval>>& intervals, unsigned dimension = 0) const;
  /// One slice of size 1 per index.
  std::vector<Tensor> slices(ArrayRef<unsigned> indices, unsigned dimension = 0) const;

  /// The same elements in another shape of as many elements.
  Tensor reshape(ArrayRef<std::size_t> shape) const;
  /// Dimensions [beginDim, endDim) get the shape `shape`, the others stay.
  Tensor reshapePartial(unsigned beginDim, unsigned endDim, ArrayRef<std::size_t> shape) const;
  /// Shape {numElements()}.
  Tensor flatten() const;
  /// Dimensions [beginDim, endDim) become one.
  Tensor flatten(unsigned beginDim, unsigned endDim) const;
  /// Adds a dimension of size 1 before each of the given dimensions: {3,4}.expand({0,1,2}) has shape {1,3,1,4,1}.
  Tensor expand(ArrayRef<std::size_t> indices) const;
  /// Removes the given dimensions, which have size 1.
  Tensor squeeze(ArrayRef<std::size_t> indices) const;

  /// Dimension i of the result is dimension permutation[i] of this.
  Tensor dimShuffle(ArrayRef<unsigned> permutation) const;
  /// Dimension source[i] goes to position destination[i]; the others keep their order.
  Tensor dimShufflePartial(ArrayRef<unsigned> source, ArrayRef<unsigned> destination) const;
  /// Moves one dimension to position `newIndex`; the others keep their order.
  Tensor dimRoll(unsigned dimension, unsigned newIndex = 0) const;
  /// Swaps the two dimensions of a matrix.
  Tensor transpose() const;
  Tensor reverse(unsigned dimension) const;

  /// The tensor n times, one after the other in that dimension.
  Tensor broadcast(unsigned n, unsigned dimension) const;
  /// Every stride-th element of that dimension, from the first.
  Tensor subSample(unsigned stride, unsigned dimension) const;
  /// Each element of that dimension `scale` times.
  Tensor upsample(unsigned scale, unsigned dimension, UpsampleMethod method) const;
  /// The same bits as another type of the same size.
  Tensor reinterpret(const Type& type) const;

  /// Does an element occur twice?
  bool containsAliases() const;
  /// Is an element of a constant in it?
  bool containsConstant() const;
  /// May its elements be written at the same time: neither aliases nor constants?
  bool isParallelWriteable() const;
  /// Is it one contiguous region of one variable?
  bool isContiguous() const;
  /// Do the tensors share an element?
  bool intersectsWith(const Tensor& other) const;
  /// The value of a tensor that is one constant element; false if it is not.
  template <class T> bool getConstantValue(T* value) const { return constantValue(equivalent_device_type<T>().value, value); }

  /// Splits the tensor's flattened elements into intervals that are contiguous regions of variables.
  std::vector<Interval> getContiguousRegions() const;
  /// The regions of variables it is made of, in element order; neighbours are joined.
  std::vector<VariableInterval> getVarRegions() const;

  /// Has it a metadata tensor (QUARTER)?
  bool hasMetadata() const;
  /// Not valid if it has none; as metadata that counts as none.
  Tensor getMetadata() const;

  /// Type, shape and variables, for messages.
  std::string getDebugStr() const;
  /// Names of the variables, for messages.
  std::string getVarStr() const;
  /// Writes the regions to stderr, or to a stream.
  void dump() const;
  void outputRegions(std::ostream& out = std::cout) const;

 private:
  friend struct pando::facade::Access;
  bool constantValue(const Type& as, void* value) const;
  std::shared_ptr<const core::TensorState> state_;
};

/// Joins tensors of equal shape but for `dimension`.
POPLAR_EXPORT Tensor concat(ArrayRef<Tensor> tensors, unsigned dimension = 0);
POPLAR_EXPORT Tensor concat(const Tensor& first, const Tensor& second, unsigned dimension = 0);
/// Adds `second`, which has one dimension less, as the last element of dimension `dimension`.
POPLAR_EXPORT Tensor append(const Tensor& first, const Tensor& second, unsigned dimension);
POPLAR_EXPORT Tensor append(const Tensor& first, const Tensor& second);

/// The same elements in the same order, with the same shape and type?
POPLAR_EXPORT bool operator==(const Tensor& a, const Tensor& b);
inline bool operator!=(const Tensor& a, const Tensor& b) { return !(a == b); }
/// Writes getDebugStr().
POPLAR_EXPORT std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

}  // namespace poplar

#endif
