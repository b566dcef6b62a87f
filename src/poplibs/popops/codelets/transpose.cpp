// out[m] = the transpose of in[m], matrices of rows x columns elements in row-major order. Elements are bits.
#ifdef __POPC__
#include <poplar/Vertex.hpp>

namespace popops {

// Vectors of N elements; a block of N of them is transposed by interleaving its halves log2(N) times.
template <class T, unsigned N>
struct Lanes {
  typedef T Vector __attribute__((ext_vector_type(N), aligned(sizeof(T))));
};

template <class T>
static void transpose_block(const T* in, unsigned in_stride, T* out, unsigned out_stride) {
  using Vector = typename Lanes<T, 8>::Vector;
  Vector a[8], b[8];
  for (unsigned i = 0; i < 8; ++i) a[i] = *reinterpret_cast<const Vector*>(in + i * static_cast<std::size_t>(in_stride));
  const auto interleave = [](const Vector* from, Vector* to) {
    for (unsigned i = 0; i < 4; ++i) {
      to[2 * i] = __builtin_shufflevector(from[i], from[i + 4], 0, 8, 1, 9, 2, 10, 3, 11);
      to[2 * i + 1] = __builtin_shufflevector(from[i], from[i + 4], 4, 12, 5, 13, 6, 14, 7, 15);
    }
  };
  interleave(a, b);
  interleave(b, a);
  interleave(a, b);
  for (unsigned i = 0; i < 8; ++i) *reinterpret_cast<Vector*>(out + i * static_cast<std::size_t>(out_stride)) = b[i];
}

template <class T>
static void transpose(const T* in, T* out, unsigned rows, unsigned columns) {
  const unsigned whole_rows = rows / 8 * 8, whole_columns = columns / 8 * 8;
  for (unsigned c = 0; c < whole_columns; c += 8)
    for (unsigned r = 0; r < whole_rows; r += 8)
      transpose_block<T>(in + static_cast<std::size_t>(r) * columns + c, columns, out + static_cast<std::size_t>(c) * rows + r, rows);
  for (unsigned r = 0; r < rows; ++r)
    for (unsigned c = r < whole_rows ? whole_columns : 0; c < columns; ++c)
      out[static_cast<std::size_t>(c) * rows + r] = in[static_cast<std::size_t>(r) * columns + c];
}

template <class T>
class Transpose : public poplar::Vertex {
 public:
  Transpose();
  poplar::Vector<poplar::Input<poplar::Vector<T>>> in;
  poplar::Vector<poplar::Output<poplar::Vector<T>>> out;
  const unsigned int rows;
  const unsigned int columns;

  bool compute() {
    for (unsigned m = 0; m < out.size(); ++m) transpose<T>(&in[m][0], &out[m][0], rows, columns);
    return true;
  }
};

template class Transpose<unsigned char>;
template class Transpose<unsigned short>;
template class Transpose<unsigned int>;
template class Transpose<unsigned long long>;

}  // namespace popops
#else
#include "poplibs/popops/data/estimate.h"

namespace popops {

// A 64-bit load and a 64-bit store in a cycle where blocks fit; else an element at a time.
Estimates estimates_transpose() {
  Estimates out;
  for (const std::size_t bytes : {1, 2, 4, 8})
    out.push_back({"popops::Transpose<" + internal::bits_type(bytes).toString() + ">",
                   [bytes](const VertexIntrospector& vertex, const Target& target) {
                     const std::size_t block = 8 / bytes;
                     const bool fast = vertex.getFieldInfo("rows").getInitialValue<unsigned>(target) % block == 0 &&
                                       vertex.getFieldInfo("columns").getInitialValue<unsigned>(target) % block == 0;
                     return internal::loop_cost("out", {.cycles_per_element = fast ? static_cast<double>(bytes) / 4 : 2, .overhead = 25})(
                         vertex, target);
                   }});
  return out;
}

}  // namespace popops
#endif
