#include "kernels/transpose.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/transpose.cpp"
#include "kernels/vector_targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pando::kernels {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Four floats of each of the rows 0, 4, 8 ... of as many rows as a vector has lanes: a block of 128 bits from each.
template <class D>
HWY_ATTR HWY_INLINE hn::Vec<D> every_fourth_row(D d, const float* from, std::size_t stride) {
  if constexpr (hn::MaxLanes(D()) <= 4) {
    return hn::LoadU(d, from);
  } else {
    const hn::Half<D> half;
    return hn::Combine(d, every_fourth_row(half, from + hn::MaxLanes(half) * stride, stride), every_fourth_row(half, from, stride));
  }
}

// As many rows as a vector has lanes, four columns: four by four within each block of 128 bits.
template <class D>
HWY_ATTR HWY_INLINE void four_columns(D d, const float* from, std::size_t stride, float* to, std::size_t to_stride) {
  const hn::RepartitionToWide<D> wide;
  const auto v0 = every_fourth_row(d, from, stride), v1 = every_fourth_row(d, from + stride, stride);
  const auto v2 = every_fourth_row(d, from + 2 * stride, stride), v3 = every_fourth_row(d, from + 3 * stride, stride);
  const auto low01 = hn::BitCast(wide, hn::InterleaveLower(d, v0, v1)), low23 = hn::BitCast(wide, hn::InterleaveLower(d, v2, v3));
  const auto high01 = hn::BitCast(wide, hn::InterleaveUpper(d, v0, v1)), high23 = hn::BitCast(wide, hn::InterleaveUpper(d, v2, v3));
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(wide, low01, low23)), d, to);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(wide, low01, low23)), d, to + to_stride);
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(wide, high01, high23)), d, to + 2 * to_stride);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(wide, high01, high23)), d, to + 3 * to_stride);
}

// Rows this short end before hardware asks for what comes next.
constexpr std::size_t kFewColumns = 256;

void ask_for_rows(const float* from, std::size_t stride, std::size_t rows, std::size_t columns) {
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < columns; c += 16) __builtin_prefetch(from + r * stride + c, 0, 2);
}

HWY_ATTR void turn(const float* from, std::size_t stride, std::size_t rows, std::size_t columns, float* to, std::size_t to_stride) {
  const hn::CappedTag<float, 16> d;
  constexpr std::size_t kLanes = hn::MaxLanes(hn::CappedTag<float, 16>());
  std::size_t r = 0;
  if (hn::Lanes(d) == kLanes && kLanes >= 4) {
    for (; r + kLanes <= rows; r += kLanes) {
      if (columns <= kFewColumns && r + 2 * kLanes <= rows) ask_for_rows(from + (r + kLanes) * stride, stride, kLanes, columns);
      std::size_t c = 0;
      for (; c + 4 <= columns; c += 4) four_columns(d, from + r * stride + c, stride, to + c * to_stride + r, to_stride);
      for (; c < columns; ++c)
        for (std::size_t i = r; i < r + kLanes; ++i) to[c * to_stride + i] = from[i * stride + c];
    }
  }
  for (; r < rows; ++r)
    for (std::size_t c = 0; c < columns; ++c) to[c * to_stride + r] = from[r * stride + c];
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace pando::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pando::kernels {

HWY_EXPORT(turn);

void transpose(const float* from, std::size_t from_stride, std::size_t rows, std::size_t columns, float* to, std::size_t to_stride) {
  HWY_DYNAMIC_DISPATCH(turn)(from, from_stride, rows, columns, to, to_stride);
}

}  // namespace pando::kernels

void pando_transpose_f32(const float* from, std::size_t from_stride, std::size_t rows, std::size_t columns, float* to,
                         std::size_t to_stride) {
  pando::kernels::transpose(from, from_stride, rows, columns, to, to_stride);
}
#endif
