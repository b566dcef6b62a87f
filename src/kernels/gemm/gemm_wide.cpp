#include "kernels/gemm/gemm_wide.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gemm/gemm_wide.cpp"
#include "kernels/vector_targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pando::kernels {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr unsigned kRowsAhead = 16;  // are asked for early: they lie on other pages than their neighbours, which no hardware does in time

HWY_ATTR void copy_panels(const float* from, std::size_t stride, unsigned rows, unsigned columns, float* to) {
  const hn::CappedTag<float, 16> d;
  const unsigned lanes = static_cast<unsigned>(hn::Lanes(d));
  for (unsigned r = 0; r < rows; ++r, from += stride, to += kWide) {
    for (unsigned j = 0; j < columns; j += kWide) {
      const float* const row = from + j;
      float* const place = to + std::size_t{j} * rows;
      if (r + kRowsAhead < rows)
        for (unsigned i = 0; i < kWide; i += 16) __builtin_prefetch(row + kRowsAhead * stride + i, 0, 2);
      for (unsigned i = 0; i < kWide; i += lanes) hn::StoreU(hn::LoadU(d, row + i), d, place + i);
    }
  }
}

#if HWY_TARGET == HWY_AVX3

// Rows of a strip: with 32 registers, sums of 6 rows of 4 vectors, a row of B and an element of A.
constexpr unsigned kStripRows = 6, kVectors = 4;
constexpr unsigned kStepsPerLine = 16;  // of products, between two lines of C that are asked for

// Of rows i and on, and the columns from j on. Lines of `next`, the part of C that comes next, are asked for one by one: many at once would
// hold up those of B.
template <unsigned kRows>
HWY_ATTR HWY_INLINE void strip(const WideProduct& p, const float* a, std::size_t row, std::size_t column, const float* b, float* c,
                               const float* next) {
  const hn::CappedTag<float, 16> d;
  using V = hn::Vec<decltype(d)>;
  V sums[kRows][kVectors];
  for (unsigned i = 0; i < kRows; ++i)
    for (unsigned v = 0; v < kVectors; ++v) sums[i][v] = p.accumulate ? hn::LoadU(d, c + i * p.ldc + 16 * v) : hn::Zero(d);
  const std::size_t ldb = p.ldb;
  const float* from = a;
  const auto add_products = [&](unsigned n) HWY_ATTR __attribute__((always_inline)) {
#pragma clang loop unroll_count(4)
    for (unsigned l = 0; l < n; ++l, from += column, b += ldb) {
      V of_b[kVectors];
      for (unsigned v = 0; v < kVectors; ++v) of_b[v] = hn::LoadU(d, b + 16 * v);
      for (unsigned i = 0; i < kRows; ++i) {
        const V of_a = hn::Set(d, from[i * row]);
        for (unsigned v = 0; v < kVectors; ++v) sums[i][v] = hn::MulAdd(of_a, of_b[v], sums[i][v]);
      }
    }
  };
  unsigned done = 0;
  if (next != nullptr) {
    for (unsigned i = 0; i < kRows; ++i)
      for (unsigned v = 0; v < kVectors; ++v, done += kStepsPerLine) {
        __builtin_prefetch(next + i * p.ldc + 16 * v, 1);
        add_products(kStepsPerLine);
      }
  }
  add_products(p.k - done);
  for (unsigned s = 1; s < p.parts; ++s) {
    from = a + s * p.part;
    add_products(p.k);
  }
  for (unsigned i = 0; i < kRows; ++i)
    for (unsigned v = 0; v < kVectors; ++v) hn::StoreU(sums[i][v], d, c + i * p.ldc + 16 * v);
}

// All columns of rows i and on.
template <unsigned kRows>
HWY_ATTR void strips_of(const WideProduct& p, unsigned i) {
  const float *a = p.a + i * p.row, *b = p.b;
  float* c = p.c + i * p.ldc;
  const bool is_long = p.k >= kRows * kVectors * kStepsPerLine;  // else C is near, as tiles have it
  const float* const below = i + 2 * kRows <= p.m ? c + kRows * p.ldc : nullptr;
  for (unsigned j = 0; j < p.n; j += kWide, b += p.panel, c += kWide) {
    const float* const next = !is_long ? nullptr : j + kWide < p.n ? c + kWide : below;
    if (p.column == 1)
      strip<kRows>(p, a, p.row, 1, b, c, next);
    else
      strip<kRows>(p, a, 1, p.column, b, c, next);
  }
}

HWY_ATTR bool multiply(const WideProduct& p) {
  constexpr decltype(&strips_of<1>) kStrips[] = {strips_of<1>, strips_of<2>, strips_of<3>, strips_of<4>, strips_of<5>, strips_of<6>};
  const unsigned strips = (p.m + kStripRows - 1) / kStripRows;
  for (unsigned s = 0, i = 0; s < strips; ++s) {
    const unsigned rows = (p.m - i + strips - s - 1) / (strips - s);  // all strips are as high as each other, or one row higher
    kStrips[rows - 1](p, i);
    i += rows;
  }
  return true;
}

#else

bool multiply(const WideProduct&) { return false; }

#endif

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace pando::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pando::kernels {

HWY_EXPORT(multiply);
HWY_EXPORT(copy_panels);

void copy_to_panels(const float* from, std::size_t stride, unsigned rows, unsigned columns, float* to) {
  HWY_DYNAMIC_DISPATCH(copy_panels)(from, stride, rows, columns, to);
}

bool multiply_wide(const WideProduct& product) { return HWY_DYNAMIC_DISPATCH(multiply)(product); }

}  // namespace pando::kernels
#endif
