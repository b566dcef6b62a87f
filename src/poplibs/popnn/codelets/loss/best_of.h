// The k greatest of some numbers, for codelets: the least of the k best so far is the root of a heap.
#pragma once

#include <poplar/HalfFloat.hpp>

namespace popnn {

// Is (a, i) worse than (b, j)? Of equals the later column is; NaN is worse than all numbers.
template <class T>
inline bool worse(T a, unsigned i, T b, unsigned j) {
  if (a != a || b != b) return a != a && (b == b || i > j);
  return a < b || (a == b && i > j);
}

template <class T>
inline void swap_at(T* values, unsigned* indices, unsigned a, unsigned b) {
  const T value = values[a];
  const unsigned index = indices[a];
  values[a] = values[b];
  indices[a] = indices[b];
  values[b] = value;
  indices[b] = index;
}

// Moves the element at `at` down until no child is worse.
template <class T>
inline void sift(T* values, unsigned* indices, unsigned at, unsigned n) {
  for (unsigned child = 2 * at + 1; child < n; child = 2 * at + 1) {
    if (child + 1 < n && worse(values[child + 1], indices[child + 1], values[child], indices[child])) ++child;
    if (!worse(values[child], indices[child], values[at], indices[at])) return;
    swap_at(values, indices, child, at);
    at = child;
  }
}

// index_of(i) is the column of in[i].
template <class T, class Index>
inline void select(unsigned n, const T* in, Index index_of, unsigned k, T* values, unsigned* indices) {
  for (unsigned i = 0; i < k; ++i) {
    values[i] = in[i];
    indices[i] = index_of(i);
  }
  for (unsigned i = k / 2; i-- > 0;) sift(values, indices, i, k);
  for (unsigned i = k; i < n; ++i) {
    if (in[i] < values[0] || !worse(values[0], indices[0], in[i], index_of(i))) continue;
    values[0] = in[i];
    indices[0] = index_of(i);
    sift(values, indices, 0, k);
  }
  for (unsigned last = k; last-- > 1;) {
    swap_at(values, indices, 0, last);
    sift(values, indices, 0, last);
  }
}

}  // namespace popnn
