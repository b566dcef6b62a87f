#include "poplibs/poplin/conv/arrangement.h"

#include <algorithm>

namespace poplin::conv {
namespace {

using poplar::Interval;
using poplar::Tensor;

// Pieces of memory may be that short on average before another order is tried.
constexpr std::size_t kShortPiece = 8;

// The first `sizes[d]` elements of every dimension d.
Tensor corner(const Tensor& t, const std::vector<std::size_t>& sizes) { return t.slice(std::vector<std::size_t>(sizes.size(), 0), sizes); }

bool is_contiguous(const Tensor& t) {
  const std::size_t pieces = t.flatten().getContiguousRegions().size();
  return pieces <= 1 || pieces * kShortPiece <= t.numElements();
}

std::vector<std::int64_t> bounds_of(const Tensor& channels) {
  std::vector<std::int64_t> bounds;
  for (const Interval& i : channels.flatten().getContiguousRegions()) bounds.push_back(static_cast<std::int64_t>(i.begin()));
  bounds.push_back(static_cast<std::int64_t>(channels.numElements()));
  return bounds;
}

}  // namespace

Arrangement arrangement_of_activations(const Tensor& view) {
  const std::size_t channels = view.dim(static_cast<unsigned>(view.rank() - 1));
  Arrangement a{kChannelsLast, {0, static_cast<std::int64_t>(channels)}};
  if (view.numElements() == 0) return a;
  std::vector<std::size_t> sizes(view.rank(), 1);
  sizes.back() = channels;
  const Tensor pixel = corner(view, sizes);
  if (is_contiguous(pixel)) {
    a.bounds = bounds_of(pixel);
    return a;
  }
  sizes.back() = 1;
  const std::size_t last = view.rank() - 2;
  sizes[last] = view.dim(static_cast<unsigned>(last));
  if (is_contiguous(corner(view, sizes))) a.order = kChannelsFirst;
  return a;
}

Arrangement arrangement_of_weights(const Tensor& view) {
  const std::size_t rank = view.rank(), in = view.dim(static_cast<unsigned>(rank - 2)), out = view.dim(static_cast<unsigned>(rank - 1));
  Arrangement a{kChannelsLast, {0, static_cast<std::int64_t>(in)}};
  if (view.numElements() == 0) return a;
  std::vector<std::size_t> sizes(rank, 1);
  sizes[rank - 1] = out;
  if (is_contiguous(corner(view, sizes))) return a;
  sizes[rank - 1] = 1;
  sizes[rank - 2] = in;
  const Tensor ins = corner(view, sizes);
  if (in > 1 && is_contiguous(ins)) {
    a.order = kTransposed;
    a.bounds = bounds_of(ins);
    return a;
  }
  sizes = view.shape();
  sizes[0] = 1;
  sizes[rank - 1] = 1;
  sizes[rank - 2] = 1;
  const Tensor taps = corner(view, sizes);
  if (!is_contiguous(taps)) return a;
  if (in == 1) {
    a.order = kChannelsFirst;
    return a;
  }
  // {taps..., 2} in the order in, taps: contiguous if input channels are the next slower dimension.
  sizes[rank - 2] = 2;
  const Tensor pair = corner(view, sizes).dimRoll(static_cast<unsigned>(rank - 2));
  a.order =
      pair.flatten().getContiguousRegions().size() == taps.flatten().getContiguousRegions().size() ? kTransposedFirst : kChannelsFirst;
  return a;
}

std::vector<Range> pieces_of(const Arrangement& a, Range range) {
  std::vector<Range> pieces;
  for (std::size_t i = 0; i + 1 < a.bounds.size(); ++i) {
    const Range piece{std::max(range.begin, a.bounds[i]), std::min(range.end, a.bounds[i + 1])};
    if (!piece.empty()) pieces.push_back(piece);
  }
  if (pieces.size() > kConvPieces) return {range};
  return pieces;
}

}  // namespace poplin::conv
