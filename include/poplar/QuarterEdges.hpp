// Edges of quarters: as those of other types (InOutTypes.hpp), and they know the metadata of the tensor that is connected to them. One
// metadata serves a whole field: all rows of a field with two dimensions have the same one.
//
// In memory the pointer to the metadata follows what an edge of another type consists of; popc describes it as an input of its own.
#ifndef POPLAR_QUARTER_EDGES_HPP
#define POPLAR_QUARTER_EDGES_HPP

#ifdef __POPC__

#include <poplar/InOutTypes.hpp>

namespace poplar {

class quarter;
typedef unsigned char MetadataType;

class QuarterEdge {
 public:
  MetadataType* getMetadata() const { return metadata_; }

 private:
  MetadataType* metadata_;
};

// One quarter of a tensor; Q is const for inputs.
template <class Q>
class QuarterElement {
 public:
  const QuarterElement& operator=(const quarter& value) const { return *pointer_ = value, *this; }
  const QuarterElement& operator=(const QuarterElement& from) const { return *pointer_ = *from.pointer_, *this; }
  operator Q&() const { return *pointer_; }
  Q& operator*() const { return *pointer_; }
  Q* operator->() const { return pointer_; }

 private:
  Q* pointer_;
};

template <VectorLayout L, unsigned A, bool I>
class QuarterInputRow : public VectorView<const quarter> {
 public:
  const quarter& operator[](size_t i) const { return VectorView<const quarter>::operator[](i); }
  quarter& operator[](size_t i) { return const_cast<quarter&>(VectorView<const quarter>::operator[](i)); }
  const VectorView<const quarter>* operator->() const { return this; }
  const VectorView<const quarter>& operator*() const { return *this; }
  operator const Vector<quarter, L, A, I>&() const { return *reinterpret_cast<const Vector<quarter, L, A, I>*>(this); }
};

template <VectorLayout L, unsigned A, bool I>
class QuarterOutputRow : public Vector<quarter, L, A, I> {
 public:
  const VectorView<quarter>* operator->() const { return this; }
  const VectorView<quarter>& operator*() const { return *this; }
};

template <>
class Input<quarter> : public QuarterElement<const quarter>, public QuarterEdge {};
template <>
class Output<quarter> : public QuarterElement<quarter>, public QuarterEdge {
 public:
  using QuarterElement<quarter>::operator=;
  const Output& operator=(const Output& from) const { return QuarterElement<quarter>::operator=(from), *this; }
};
template <>
class InOut<quarter> : public QuarterElement<quarter>, public QuarterEdge {
 public:
  using QuarterElement<quarter>::operator=;
  const InOut& operator=(const InOut& from) const { return QuarterElement<quarter>::operator=(from), *this; }
};

template <VectorLayout L, unsigned A, bool I>
class Input<Vector<quarter, L, A, I>> : public QuarterInputRow<L, A, I>, public QuarterEdge {};
template <VectorLayout L, unsigned A, bool I>
class Output<Vector<quarter, L, A, I>> : public QuarterOutputRow<L, A, I>, public QuarterEdge {};
template <VectorLayout L, unsigned A, bool I>
class InOut<Vector<quarter, L, A, I>> : public QuarterOutputRow<L, A, I>, public QuarterEdge {};

template <VectorListLayout L, unsigned A, bool I>
class Input<VectorList<quarter, L, A, I>> : public VectorView<const VectorView<const quarter>>, public QuarterEdge {
 public:
  const Input* operator->() const { return this; }
};
template <VectorListLayout L, unsigned A, bool I>
class Output<VectorList<quarter, L, A, I>> : public VectorView<const VectorView<quarter>>, public QuarterEdge {
 public:
  const Output* operator->() const { return this; }
};
template <VectorListLayout L, unsigned A, bool I>
class InOut<VectorList<quarter, L, A, I>> : public VectorView<const VectorView<quarter>>, public QuarterEdge {
 public:
  const InOut* operator->() const { return this; }
};

template <VectorLayout L, unsigned A, bool I>
class Vector<Input<quarter>, L, A, I> : public ScalarEdges<QuarterElement<const quarter>>, public QuarterEdge {};
template <VectorLayout L, unsigned A, bool I>
class Vector<Output<quarter>, L, A, I> : public ScalarEdges<QuarterElement<quarter>>, public QuarterEdge {};
template <VectorLayout L, unsigned A, bool I>
class Vector<InOut<quarter>, L, A, I> : public ScalarEdges<QuarterElement<quarter>>, public QuarterEdge {};

template <VectorLayout L2, unsigned A2, bool I2, VectorLayout L, unsigned A, bool I>
class Vector<Input<Vector<quarter, L2, A2, I2>>, L, A, I> : public VectorView<const QuarterInputRow<L2, A2, I2>>, public QuarterEdge {};
template <VectorLayout L2, unsigned A2, bool I2, VectorLayout L, unsigned A, bool I>
class Vector<Output<Vector<quarter, L2, A2, I2>>, L, A, I> : public VectorView<QuarterOutputRow<L2, A2, I2>>, public QuarterEdge {};
template <VectorLayout L2, unsigned A2, bool I2, VectorLayout L, unsigned A, bool I>
class Vector<InOut<Vector<quarter, L2, A2, I2>>, L, A, I> : public VectorView<QuarterOutputRow<L2, A2, I2>>, public QuarterEdge {};

}  // namespace poplar

#endif  // __POPC__
#endif
