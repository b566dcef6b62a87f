#include "kernels/conv/conv_winograd.h"

#include <algorithm>

#include "kernels/conv/conv_image.h"
#include "kernels/gemm/gemm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/conv/conv_winograd.cpp"
#include "kernels/vector_targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pando::kernels {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::CappedTag<float, 16>;
using V = hn::Vec<D>;

// A line of kernel elements: of three, four.
template <class T, class Add, class Sub, class Halve>
HWY_ATTR HWY_INLINE void weights_of_line(T a, T b, T c, T* out, const Add& add, const Sub& sub, const Halve& halve) {
  const T sum = add(a, c);
  out[0] = a;
  out[1] = halve(add(sum, b));
  out[2] = halve(sub(sum, b));
  out[3] = c;
}

template <class T, class Load, class Store, class Add, class Sub, class Halve>
HWY_ATTR HWY_INLINE void weights_of(const Load& load, const Store& store, const Add& add, const Sub& sub, const Halve& halve) {
  T rows[3][4], columns[4];
  for (unsigned r = 0; r < 3; ++r) weights_of_line(load(3 * r), load(3 * r + 1), load(3 * r + 2), rows[r], add, sub, halve);
  for (unsigned c = 0; c < 4; ++c) {
    weights_of_line(rows[0][c], rows[1][c], rows[2][c], columns, add, sub, halve);
    for (unsigned r = 0; r < 4; ++r) store(4 * r + c, columns[r]);
  }
}

HWY_ATTR void weights(std::size_t n, std::size_t begin, std::size_t end, const float* in, float* const* out) {
  const D d;
  std::size_t i = begin;
  for (; i + hn::Lanes(d) <= end; i += hn::Lanes(d))
    weights_of<V>([&](unsigned t) HWY_ATTR { return hn::LoadU(d, in + t * n + i); },
                  [&](unsigned k, V v) HWY_ATTR { hn::StoreU(v, d, out[k] + i - begin); }, [](V a, V b) HWY_ATTR { return hn::Add(a, b); },
                  [](V a, V b) HWY_ATTR { return hn::Sub(a, b); }, [&](V a) HWY_ATTR { return hn::Mul(a, hn::Set(d, 0.5f)); });
  for (; i < end; ++i)
    weights_of<float>([&](unsigned t) { return in[t * n + i]; }, [&](unsigned k, float v) { out[k][i - begin] = v; },
                      [](float a, float b) { return a + b; }, [](float a, float b) { return a - b; }, [](float a) { return a * 0.5f; });
}

// Of four inputs of a line, what the products take.
HWY_ATTR HWY_INLINE void inputs_of_line(V a, V b, V c, V d, V* out) {
  out[0] = hn::Sub(a, c);
  out[1] = hn::Add(b, c);
  out[2] = hn::Sub(c, b);
  out[3] = hn::Sub(b, d);
}

// Four rows of an image, in tiles of 4 columns, 2 apart: element k of tile t's channels goes to to[k * between + t * channels].
HWY_ATTR void inputs(const float* from, std::size_t row, std::size_t channels, std::size_t count, std::size_t between, float* to) {
  const D d;
  for (std::size_t t = 0; t < count; ++t, from += 2 * channels, to += channels)
    for (std::size_t i = 0; i < channels; i += hn::Lanes(d)) {
      V columns[4][4], rows[4];
      for (unsigned c = 0; c < 4; ++c) {
        const float* at = from + c * channels + i;
        inputs_of_line(hn::LoadU(d, at), hn::LoadU(d, at + row), hn::LoadU(d, at + 2 * row), hn::LoadU(d, at + 3 * row), columns[c]);
      }
      for (unsigned r = 0; r < 4; ++r) {
        inputs_of_line(columns[0][r], columns[1][r], columns[2][r], columns[3][r], rows);
        for (unsigned c = 0; c < 4; ++c) hn::StoreU(rows[c], d, to + (4 * r + c) * between + i);
      }
    }
}

// The other way: two rows of the result from the products of their tiles.
HWY_ATTR void outputs(const float* from, std::size_t between, std::size_t channels, std::size_t count, float* to, std::size_t row,
                      std::size_t column) {
  const D d;
  for (std::size_t t = 0; t < count; ++t, from += channels, to += 2 * column)
    for (std::size_t i = 0; i < channels; i += hn::Lanes(d)) {
      V upper[4], lower[4];
      for (unsigned c = 0; c < 4; ++c) {
        const auto at = [&](unsigned r) HWY_ATTR { return hn::LoadU(d, from + (4 * r + c) * between + i); };
        const V b = at(1), e = at(2);
        upper[c] = hn::Add(at(0), hn::Add(b, e));
        lower[c] = hn::Sub(hn::Sub(b, e), at(3));
      }
      hn::StoreU(hn::Add(upper[0], hn::Add(upper[1], upper[2])), d, to + i);
      hn::StoreU(hn::Sub(hn::Sub(upper[1], upper[2]), upper[3]), d, to + column + i);
      hn::StoreU(hn::Add(lower[0], hn::Add(lower[1], lower[2])), d, to + row + i);
      hn::StoreU(hn::Sub(hn::Sub(lower[1], lower[2]), lower[3]), d, to + row + column + i);
    }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace pando::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pando::kernels {
namespace {

HWY_EXPORT(weights);
HWY_EXPORT(inputs);
HWY_EXPORT(outputs);

// Tiles at a time, for all of which the weights are read once: as many as buffers of this size hold, whole pairs of rows if they hold one.
constexpr std::size_t kBuffer = 128 << 10, kTiles = 56;

struct Group {
  int row;
  std::size_t first, count, pairs;  // tiles [first, first + count) of `pairs` pairs of rows
};

}  // namespace
}  // namespace pando::kernels

void pando_winograd_weights(unsigned long n, unsigned long begin, unsigned long end, const float* in, float* const* out) {
  using namespace pando::kernels;
  HWY_DYNAMIC_DISPATCH(weights)(n, begin, end, in, out);
}

void pando_conv_winograd(const PandoConvRows* conv, const float* in, const float* weights, float* out, const PandoEpilogue* epilogue) {
  using namespace pando::kernels;
  const PandoConvRows& c = *conv;
  if (c.row_begin >= c.row_end || c.out_columns <= 0 || c.out_channels <= 0) return;
  const auto in_channels = static_cast<std::size_t>(c.in_channels), out_channels = static_cast<std::size_t>(c.out_channels);
  const auto across = static_cast<std::size_t>(c.out_columns) / 2, out_row = static_cast<std::size_t>(c.out_columns) * c.out_column;
  const std::size_t most = kBuffer / (16 * std::max(in_channels, out_channels)),
                    pairs = std::max<std::size_t>(1, std::min(most, kTiles) / across);
  const std::size_t width = std::min(across, most);
  ImageRows rows(c, in, 2);
  alignas(64) float turned[kBuffer], products[kBuffer];
  const auto compute = [&](const Group& g) {
    const std::size_t tiles = g.count * g.pairs;
    for (std::size_t p = 0; p < g.pairs; ++p)
      HWY_DYNAMIC_DISPATCH(inputs)(rows.row(g.row + static_cast<int>(2 * p) + c.rows.offset) + 2 * g.first * in_channels, rows.row_size(),
                                   in_channels, g.count, tiles * in_channels, turned + p * g.count * in_channels);
    for (std::size_t k = 0; k < 16; ++k)
      pando_gemm_f32(static_cast<unsigned>(tiles), static_cast<unsigned>(out_channels), static_cast<unsigned>(in_channels),
                     turned + k * tiles * in_channels, static_cast<unsigned>(in_channels), weights + k * in_channels * out_channels,
                     static_cast<unsigned>(out_channels), products + k * tiles * out_channels, static_cast<unsigned>(out_channels), false);
    for (std::size_t p = 0; p < g.pairs; ++p) {
      const std::size_t row = static_cast<std::size_t>(g.row - c.row_begin) + 2 * p;
      HWY_DYNAMIC_DISPATCH(outputs)(products + p * g.count * out_channels, tiles * out_channels, out_channels, g.count,
                                    out + row * out_row + 2 * g.first * c.out_column, out_row, c.out_column);
      for (std::size_t r = row; epilogue != nullptr && r < row + 2; ++r)
        pando_finish(epilogue, 2 * (r * across + g.first), 2 * g.count, 0, out_channels);
    }
  };
  for (int brought = c.row_begin; brought < c.row_end; brought += rows.at_once()) {
    const int end = std::min(brought + rows.at_once(), c.row_end);
    rows.bring(brought, end);
    for (int row = brought; row < end; row += static_cast<int>(2 * pairs)) {
      const std::size_t here = std::min(pairs, static_cast<std::size_t>(end - row) / 2);
      for (std::size_t first = 0; first < across; first += width) compute({row, first, std::min(width, across - first), here});
    }
  }
}
#endif
