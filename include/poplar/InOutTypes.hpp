// The fields of a vertex: Input, Output, InOut, Vector and VectorList.
//
// A vertex is never constructed: the runtime fills its members, which have one of these forms in host memory, whatever the
// declared layout is (the layout decides what the machine model accounts for):
//   Input<T>, Output<T>, InOut<T>             T*                       8 bytes
//   Input<Vector<T>> ..., Vector<T>           {T* data; size}         16 bytes
//   Vector<Input<Vector<T>>> ..., VectorList  {{T*, size}* rows; size} 16 bytes
#ifndef POPLAR_IN_OUT_TYPES_HPP
#define POPLAR_IN_OUT_TYPES_HPP

#ifdef __POPC__

#include <stddef.h>

#include <poplar/VectorLayout.hpp>

namespace poplar {

template <class T, VectorLayout L = VectorLayout::SPAN, unsigned MinAlign = alignof(T), bool Interleaved = false>
class Vector;
template <class T, VectorListLayout L, unsigned MinAlign = alignof(T), bool Interleaved = false>
class VectorList;

// Elements in a row in tile memory.
template <class T>
class VectorView {
 public:
  using value_type = T;
  using iterator = T*;

  T& operator[](size_t i) const { return data_[i]; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() const { return data_; }
  T* begin() const { return data_; }
  T* end() const { return data_ + size_; }
  T& front() const { return data_[0]; }
  T& back() const { return data_[size_ - 1]; }

 private:
  T* data_;
  size_t size_;
};

// A scalar edge. Reads convert: `*sum = x + y` with Input<float> x, y. Assignment writes the element, never the edge itself:
// `sum = x` and `*sum = x` are the same.
template <class T>
class Input {
 public:
  operator const T&() const { return *pointer_; }
  const T& operator*() const { return *pointer_; }
  const T* operator->() const { return pointer_; }

 private:
  const T* pointer_;
};

template <class T>
class Output {
 public:
  const Output& operator=(const T& value) const { return *pointer_ = value, *this; }
  const Output& operator=(const Output& from) const { return *pointer_ = *from.pointer_, *this; }
  operator T&() const { return *pointer_; }
  T& operator*() const { return *pointer_; }
  T* operator->() const { return pointer_; }

 private:
  T* pointer_;
};

template <class T>
class InOut {
 public:
  const InOut& operator=(const T& value) const { return *pointer_ = value, *this; }
  const InOut& operator=(const InOut& from) const { return *pointer_ = *from.pointer_, *this; }
  operator T&() const { return *pointer_; }
  T& operator*() const { return *pointer_; }
  T* operator->() const { return pointer_; }

 private:
  T* pointer_;
};

// A vector of values (state), or of vector edges.
template <class T, VectorLayout L, unsigned MinAlign, bool Interleaved>
class Vector : public VectorView<T> {
 public:
  const Vector* operator->() const { return this; }
};

// Vector edges. `->` forwards to the vector itself: x->size(). Outputs are vectors: a function may take one as `Vector<T> &`. So may an
// input be taken, by functions that only read it.
//
// An input's elements are const to iterators and through a const input, and so are those of a vector of inputs. A plain `x[0]` is not:
// codelets everywhere write `reinterpret_cast<float2 *>(&x[0])` to read by short vectors.
template <class T, VectorLayout L, unsigned A, bool I>
class Input<Vector<T, L, A, I>> : public VectorView<const T> {
 public:
  const T& operator[](size_t i) const { return VectorView<const T>::operator[](i); }
  T& operator[](size_t i) { return const_cast<T&>(VectorView<const T>::operator[](i)); }
  const VectorView<const T>* operator->() const { return this; }
  const VectorView<const T>& operator*() const { return *this; }
  operator const Vector<T, L, A, I>&() const { return *reinterpret_cast<const Vector<T, L, A, I>*>(this); }
  operator Vector<T, L, A, I>&() { return *reinterpret_cast<Vector<T, L, A, I>*>(this); }
};

template <class T, VectorLayout L, unsigned A, bool I>
class Output<Vector<T, L, A, I>> : public Vector<T, L, A, I> {
 public:
  const VectorView<T>* operator->() const { return this; }
  const VectorView<T>& operator*() const { return *this; }
};

template <class T, VectorLayout L, unsigned A, bool I>
class InOut<Vector<T, L, A, I>> : public Vector<T, L, A, I> {
 public:
  const VectorView<T>* operator->() const { return this; }
  const VectorView<T>& operator*() const { return *this; }
};

// A list of vectors: l[i] is a vector with its own size.
template <class T, VectorListLayout L, unsigned A, bool I>
class Input<VectorList<T, L, A, I>> : public VectorView<const VectorView<const T>> {
 public:
  const Input* operator->() const { return this; }
};

template <class T, VectorListLayout L, unsigned A, bool I>
class Output<VectorList<T, L, A, I>> : public VectorView<const VectorView<T>> {
 public:
  const Output* operator->() const { return this; }
};

template <class T, VectorListLayout L, unsigned A, bool I>
class InOut<VectorList<T, L, A, I>> : public VectorView<const VectorView<T>> {
 public:
  const InOut* operator->() const { return this; }
};

// A vector of scalar edges: its rows have room for a vector's size, so that both kinds of rows look the same to the runtime.
template <class Edge>
class ScalarEdges {
 public:
  struct Row {
    Edge edge;
    size_t size;
  };
  class iterator {
   public:
    explicit iterator(Row* row) : row_(row) {}
    Edge& operator*() const { return row_->edge; }
    iterator& operator++() {
      ++row_;
      return *this;
    }
    bool operator==(const iterator& o) const { return row_ == o.row_; }
    bool operator!=(const iterator& o) const { return row_ != o.row_; }

   private:
    Row* row_;
  };

  Edge& operator[](size_t i) const { return rows_[i].edge; }
  size_t size() const { return size_; }
  iterator begin() const { return iterator(rows_); }
  iterator end() const { return iterator(rows_ + size_); }

 private:
  Row* rows_;
  size_t size_;
};

template <class T, VectorLayout L, unsigned A, bool I>
class Vector<Input<T>, L, A, I> : public ScalarEdges<Input<T>> {};
template <class T, VectorLayout L, unsigned A, bool I>
class Vector<Output<T>, L, A, I> : public ScalarEdges<Output<T>> {};
template <class T, VectorLayout L, unsigned A, bool I>
class Vector<InOut<T>, L, A, I> : public ScalarEdges<InOut<T>> {};

template <class T, VectorLayout L2, unsigned A2, bool I2, VectorLayout L, unsigned A, bool I>
class Vector<Input<Vector<T, L2, A2, I2>>, L, A, I> : public VectorView<const Input<Vector<T, L2, A2, I2>>> {};
template <class T, VectorLayout L2, unsigned A2, bool I2, VectorLayout L, unsigned A, bool I>
class Vector<Output<Vector<T, L2, A2, I2>>, L, A, I> : public VectorView<Output<Vector<T, L2, A2, I2>>> {};
template <class T, VectorLayout L2, unsigned A2, bool I2, VectorLayout L, unsigned A, bool I>
class Vector<InOut<Vector<T, L2, A2, I2>>, L, A, I> : public VectorView<InOut<Vector<T, L2, A2, I2>>> {};

}  // namespace poplar

#endif  // __POPC__
#endif
