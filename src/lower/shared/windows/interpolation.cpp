#include "lower/shared/windows/interpolation.h"

#include "ir/shared/windows/interpolation.h"
#include "lower/shared/expressions.h"
#include "lower/terms/element_types.h"
#include "lower/terms/moving.h"

#include <popops/Cast.hpp>
#include <popops/ElementWise.hpp>
#include <popops/Reduce.hpp>
#include <poputil/TileMapping.hpp>

#include <algorithm>
#include <functional>
#include <numeric>

namespace pando::lower {

using poplar::Tensor;

namespace {

// More are laid out side by side. Not a product with a matrix of zeros: an infinity or NaN anywhere in a row would make all of its results
// NaN.
constexpr std::size_t kMostTaps = 24, kTapsOfPass = 4;

// How one dimension is made: for each element of the result, what it gets of which elements.
struct Dimension {
  std::int64_t in = 0, out = 0;
  std::vector<double> weights;  // row-major (out, in)
  std::vector<std::vector<std::int64_t>> taps;
  std::size_t most = 1;

  Dimension(OpLowering& o, std::int64_t from, std::int64_t to, double scale, bool transposed)
      : in(transposed ? to : from), out(transposed ? from : to), taps(out) {
    const std::vector<double> forward = ir::interpolation_matrix(from, to, scale, o.attributes());
    weights.resize(forward.size());
    for (std::int64_t r = 0; r < out; ++r) {
      for (std::int64_t i = 0; i < in; ++i) {
        const double w = forward[static_cast<std::size_t>(transposed ? i * from + r : r * from + i)];
        weights[static_cast<std::size_t>(r * in + i)] = w;
        if (w != 0) taps[static_cast<std::size_t>(r)].push_back(i);
      }
      most = std::max(most, taps[static_cast<std::size_t>(r)].size());
    }
  }
  double weight(std::int64_t r, std::int64_t i) const { return weights[static_cast<std::size_t>(r * in + i)]; }
};

// To be multiplied with {outer, out, inner}: a weight for each of the second dimension, or more for what lies there side by side.
Tensor constant(OpLowering& o, const ir::HostTensor& data) {
  const Tensor t = add_constant(o.graph(), data, o.name() + "/weights").expand({data.shape().size()});
  poputil::mapTensorLinearly(o.graph(), t);
  return t;
}

// Of each result the range of elements that has all it gets, side by side, each times its weight; then their sums.
Tensor as_windows(OpLowering& o, const Tensor& t, const Dimension& d) {
  std::int64_t width = 1;
  for (const auto& mine : d.taps) width = std::max(width, mine.empty() ? 1 : mine.back() - mine.front() + 1);
  ir::HostTensor weights(ir::DType::float32, {d.out, width});
  std::vector<Tensor> windows;
  for (std::int64_t r = 0; r < d.out; ++r) {
    const auto& mine = d.taps[static_cast<std::size_t>(r)];
    const std::int64_t begin = std::min(mine.empty() ? 0 : mine.front(), d.in - width);
    for (std::int64_t i : mine) weights.set(r * width + i - begin, d.weight(r, i));
    windows.push_back(t.slice(static_cast<std::size_t>(begin), static_cast<std::size_t>(begin + width), 1).expand({1}));
  }
  const Any x = pe::Cast(pe::_1, poplar::FLOAT);
  const Any weighted = pe::Select(pe::Mul(x, pe::_2), pe::Const(0.0f), pe::NotEqual(pe::_2, pe::Const(0.0f)));
  const Tensor all = popops::map(o.graph(), weighted, {poplar::concat(windows, 1), constant(o, weights)}, o.program(), o.name());
  const Tensor sums = popops::reduce(o.graph(), all, poplar::FLOAT, {2}, popops::Operation::ADD, o.program(), o.name());
  return t.elementType() == poplar::FLOAT ? sums : popops::cast(o.graph(), sums, t.elementType(), o.program(), o.name());
}

// Of each result, element `tap` of what it gets; results with fewer see another element of theirs.
Tensor tapped(const Tensor& t, const Dimension& d, std::size_t tap, ir::HostTensor& weights) {
  std::vector<Tensor> pieces;
  std::int64_t begin = 0, end = 0;
  const auto close = [&] {
    if (end > begin) pieces.push_back(t.slice(static_cast<std::size_t>(begin), static_cast<std::size_t>(end), 1));
  };
  for (std::int64_t r = 0; r < d.out; ++r) {
    const auto& mine = d.taps[static_cast<std::size_t>(r)];
    const std::int64_t at = tap < mine.size() ? mine[tap] : mine.empty() ? 0 : mine[0];
    weights.set(r, tap < mine.size() ? d.weight(r, at) : 0);
    if (at != end || end == begin) {
      close();
      begin = at;
    }
    end = at + 1;
  }
  close();
  return poplar::concat(pieces, 1);
}

// A few elements at a time, each times its weight.
Tensor as_sum(OpLowering& o, const Tensor& t, const Dimension& d) {
  Tensor sum;
  for (std::size_t first = 0; first < d.most; first += kTapsOfPass) {
    std::vector<Tensor> operands;
    std::vector<Any> terms;
    for (std::size_t tap = first; tap < std::min(d.most, first + kTapsOfPass); ++tap) {
      ir::HostTensor weights(ir::DType::float32, {d.out});
      operands.push_back(tapped(t, d, tap, weights));
      operands.push_back(constant(o, weights));
      const Any x = pe::Cast(pe::PlaceHolder(static_cast<unsigned>(operands.size()) - 1), poplar::FLOAT),
                w = pe::PlaceHolder(static_cast<unsigned>(operands.size()));
      // Where there is no such element, whatever was read counts for nothing.
      terms.push_back(pe::Select(pe::Mul(x, w), pe::Const(0.0f), pe::NotEqual(w, pe::Const(0.0f))));
    }
    if (sum.valid()) {
      operands.push_back(sum);
      terms.push_back(pe::PlaceHolder(static_cast<unsigned>(operands.size())));
    }
    Any all = terms[0];
    for (std::size_t i = 1; i < terms.size(); ++i) all = pe::Add(all, terms[i]);
    if (first + kTapsOfPass >= d.most && t.elementType() != poplar::FLOAT) all = pe::Cast(all, t.elementType());
    sum = popops::map(o.graph(), all, operands, o.program(), o.name());
  }
  return sum;
}

// Elements as they are.
bool is_view(const Dimension& d) {
  for (std::int64_t r = 0; r < d.out; ++r) {
    const auto& mine = d.taps[static_cast<std::size_t>(r)];
    if (mine.size() != 1 || d.weight(r, mine[0]) != 1) return false;
  }
  return true;
}

// How often each element stands in the result, one after the other; 0 if the result is something else.
std::int64_t repeats(const Dimension& d) {
  if (d.in == 0 || d.out % d.in != 0 || !is_view(d)) return 0;
  const std::int64_t times = d.out / d.in;
  for (std::int64_t r = 0; r < d.out; ++r)
    if (d.taps[static_cast<std::size_t>(r)][0] != r / times) return 0;
  return times;
}

// {outer, in, inner} as {outer, out, inner}, each element where it lies.
Tensor repeated(OpLowering& o, const Tensor& t, std::size_t times) {
  const Tensor ones = o.graph().addConstant(t.elementType(), {times, 1}, 1.0f, o.name() + "/ones");
  poputil::mapTensorLinearly(o.graph(), ones);
  return popops::map(o.graph(), pe::Mul(pe::_1, pe::_2), {t.expand({2}), ones}, o.program(), o.name())
      .reshape({t.dim(0), t.dim(1) * times, t.dim(2)});
}

Tensor copy_of(OpLowering& o, const Tensor& t) {
  const Tensor copy = o.graph().addVariable(t.elementType(), t.shape(), o.name());
  poputil::mapTensorLinearly(o.graph(), copy);
  o.program().add(poplar::program::Copy(t, copy, false, o.name()));
  return copy;
}

// {outer, in, inner} as {outer, out, inner}.
Tensor interpolated(OpLowering& o, const Tensor& t, const Dimension& d) {
  if (!is_view(d)) return d.most <= kMostTaps ? as_sum(o, t, d) : as_windows(o, t, d);
  ir::HostTensor ones(ir::DType::float32, {d.out});
  return tapped(t, d, 0, ones);
}

}  // namespace

void interpolate_dimensions(OpLowering& o, const ir::Shape& from, const ir::Shape& to, bool transposed) {
  o.need(Library::popops);
  const ir::Floats& scale = o.attributes().floats("scale_factor");
  Tensor t = o.operand(0);
  bool computed = false;
  for (unsigned d = 0; d < from.size(); ++d) {
    if (from[d] == to[d] && scale[d] == 1) continue;
    const Dimension dimension(o, from[d], to[d], scale[d], transposed);
    auto shape = t.shape();
    const std::size_t in = shape[d], outer = std::accumulate(shape.begin(), shape.begin() + d, std::size_t{1}, std::multiplies<>()),
                      inner = std::accumulate(shape.begin() + d + 1, shape.end(), std::size_t{1}, std::multiplies<>());
    shape[d] = static_cast<std::size_t>(dimension.out);
    const bool apart = inner < kMovedTogether && outer * inner >= kMovedTogether && t.numElements() > 0;
    computed = computed || apart || !is_view(dimension);
    if (const std::int64_t times = apart ? repeats(dimension) : 0; times > 0) {
      t = repeated(o, t.reshape({outer, in, inner}), static_cast<std::size_t>(times)).reshape(shape);
    } else if (apart) {
      // Single elements are picked from here and there: once all of a place lie together, they are rows.
      const Tensor rows = copy_of(o, t.reshape({outer, in, inner}).dimShuffle({1, 0, 2}));
      const Tensor made = interpolated(o, rows.reshape({1, in, outer * inner}), dimension);
      t = copy_of(o, made.reshape({shape[d], outer, inner})).dimShuffle({1, 0, 2}).reshape(shape);
    } else {
      t = interpolated(o, t.reshape({outer, in, inner}), dimension).reshape(shape);
    }
  }
  if (computed) return o.result(0, t);
  o.result_view(0, t);
}

}  // namespace pando::lower
