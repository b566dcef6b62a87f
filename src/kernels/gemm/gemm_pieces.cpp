// Products with a transposed operand, on matrices in pieces: pieces are joined, and widened, into buffers first; a transposed left operand
// is multiplied as it lies, a transposed right one is turned.
#include "kernels/gemm/gemm.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>

#include "kernels/half_vectors.h"
#include "kernels/transpose.h"

namespace pando::kernels {
namespace {

constexpr unsigned kStrip = 16;

using Buffer = std::unique_ptr<float[]>;
Buffer buffer(std::size_t n) { return Buffer(new float[n]); }

const void* at(const PandoPiece& piece, std::size_t i, bool half) { return static_cast<const char*>(piece.data) + i * (half ? 2 : 4); }

void copy(const void* from, float* to, std::size_t n, bool half) {
  if (half)
    widen(from, to, n);
  else
    std::memcpy(to, from, n * sizeof(float));
}

// Pieces of whole rows as one matrix; where it is, if it is one of floats.
const float* joined(const PandoPiece* pieces, unsigned count, bool half, Buffer& keep) {
  if (count == 1 && !half) return static_cast<const float*>(pieces[0].data);
  std::size_t total = 0, begin = 0;
  for (unsigned p = 0; p < count; ++p) total += pieces[p].count;
  keep = buffer(total);
  for (unsigned p = 0; p < count; begin += pieces[p++].count) copy(pieces[p].data, keep.get() + begin, pieces[p].count, half);
  return keep.get();
}

// to[j * stride + i] = piece[i][j], piece of rows x columns.
void transpose_piece(const PandoPiece& piece, unsigned rows, unsigned columns, bool half, float* to, unsigned stride) {
  if (!half) return transpose(static_cast<const float*>(piece.data), columns, rows, columns, to, stride);
  float run[kStrip][kStrip];
  for (unsigned i = 0; i < rows; i += kStrip)
    for (unsigned j = 0; j < columns; j += kStrip) {
      const unsigned height = std::min(kStrip, rows - i), width = std::min(kStrip, columns - j);
      for (unsigned r = 0; r < height; ++r) copy(at(piece, std::size_t{i + r} * columns + j, half), run[r], width, half);
      for (unsigned c = 0; c < width; ++c)
        for (unsigned r = 0; r < height; ++r) to[std::size_t{j + c} * stride + i + r] = run[r][c];
    }
}

// piece (+)= sums
void store(const float* sums, const PandoPiece& piece, bool accumulate) {
  float old[512];
  auto* const to = static_cast<std::uint16_t*>(piece.data);
  for (std::size_t i = 0; i < piece.count; i += 512) {
    const std::size_t n = std::min<std::size_t>(512, piece.count - i);
    if (!accumulate) {
      narrow(sums + i, to + i, n);
      continue;
    }
    widen(to + i, old, n);
    for (std::size_t e = 0; e < n; ++e) old[e] += sums[i + e];
    narrow(old, to + i, n);
  }
}

struct Left {
  const float* data;
  unsigned stride;
  bool turned;
};

// piece[m x n] (+)= A[m x k] * B[k x n]
void multiply(unsigned m, unsigned n, unsigned k, const Left& a, const float* b, unsigned ldb, const PandoPiece& piece, bool accumulate,
              bool half) {
  const auto product = a.turned ? pando_gemm_turned_f32 : pando_gemm_f32;
  if (!half) return product(m, n, k, a.data, a.stride, b, ldb, static_cast<float*>(piece.data), n, accumulate);
  const Buffer sums = buffer(piece.count);
  product(m, n, k, a.data, a.stride, b, ldb, sums.get(), n, false);
  store(sums.get(), piece, accumulate);
}

}  // namespace
}  // namespace pando::kernels

void pando_gemm_backward(unsigned n, unsigned k, const PandoPiece* y, unsigned y_pieces, const PandoPiece* w, unsigned w_pieces,
                         const PandoPiece* x, unsigned x_pieces, bool half_operands, bool half_result) {
  using namespace pando::kernels;
  Buffer keep;
  const float* rows = joined(y, y_pieces, half_operands, keep);
  const Buffer turned = buffer(std::size_t{n} * k);
  unsigned column = 0;
  for (unsigned p = 0; p < w_pieces; ++p) {
    const auto width = static_cast<unsigned>(w[p].count / k);
    transpose_piece(w[p], k, width, half_operands, turned.get() + std::size_t{column} * k, k);
    column += width;
  }
  unsigned row = 0;
  for (unsigned p = 0; p < x_pieces; ++p) {
    const auto height = static_cast<unsigned>(x[p].count / k);
    multiply(height, k, n, {rows + std::size_t{row} * n, n, false}, turned.get(), k, x[p], false, half_result);
    row += height;
  }
}

void pando_gemm_update(unsigned m, unsigned n, unsigned k, const PandoPiece* x, unsigned x_pieces, const PandoPiece* y, unsigned y_pieces,
                       const PandoPiece* w, unsigned w_pieces, float scale, bool accumulate, bool half_operands, bool half_result) {
  using namespace pando::kernels;
  Buffer keep;
  const float* rows = joined(y, y_pieces, half_operands, keep);
  Buffer keep_left;
  const float* left = joined(x, x_pieces, half_operands, keep_left);
  if (scale != 1) {
    const std::size_t count = std::size_t{m} * k;
    if (keep_left == nullptr) keep_left = buffer(count);
    for (std::size_t i = 0; i < count; ++i) keep_left[i] = scale * left[i];
    left = keep_left.get();
  }
  unsigned column = 0;
  for (unsigned p = 0; p < w_pieces; ++p) {
    const auto width = static_cast<unsigned>(w[p].count / k);
    multiply(k, width, m, {left, k, true}, rows + column, n, w[p], accumulate, half_result);
    column += width;
  }
}
