#include "ir/op_row.h"

namespace pando::ir {

namespace {

// start and stop for each axis, as Python's slices clip them; step 1 or -1.
struct Range {
  std::int64_t start = 0, step = 1, count = 0;
};

std::vector<Range> ranges_of(const Shape& shape, const Attributes& a) {
  std::vector<Range> all;
  for (std::int64_t d : shape) all.push_back({0, 1, d});
  const Ints &axes = a.ints("axis"), &start = a.ints("start"), &stop = a.ints("stop"), &step = a.ints("step");
  for (std::size_t i = 0; i < axes.size(); ++i) {
    Range& r = all[static_cast<std::size_t>(axes[i])];
    const std::int64_t extent = r.count;
    const auto clip = [&](std::int64_t v, std::int64_t low, std::int64_t high) {
      if (v < 0) v += extent;
      return std::min(std::max(v, low), high);
    };
    r.step = step[i];
    if (r.step > 0) {
      r.start = clip(start[i], 0, extent);
      r.count = std::max<std::int64_t>(0, clip(stop[i], 0, extent) - r.start);
    } else {
      r.start = clip(start[i], -1, extent - 1);
      // A stop before the first element is spelled as a very small number.
      const std::int64_t end = stop[i] < -extent ? -1 : clip(stop[i], -1, extent - 1);
      r.count = std::max<std::int64_t>(0, r.start - end);
    }
  }
  return all;
}

// Row-major position in `shape` of element `i` of the slice.
std::int64_t source_of(const Shape& shape, const std::vector<Range>& ranges, std::int64_t i) {
  std::int64_t index = 0, stride = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    const std::int64_t at = ranges[d].start + ranges[d].step * (i % ranges[d].count);
    i /= ranges[d].count;
    index += at * stride;
    stride *= shape[d];
  }
  return index;
}

}  // namespace

extern const OpRow op_slice;
constexpr OpRow op_slice = checked({
    .name = "slice",
    .doc = "Elements start to stop (exclusive) of the given axes, with steps of 1 or -1. Negative positions count from the end; what lies beyond it is "
           "clipped, as in Python.",
    .operands = {{{"t"}}},
    .attributes = {{{"start", AttributeKind::ints}, {"stop", AttributeKind::ints}, {"step", AttributeKind::ints}, {"axis", AttributeKind::ints}}},
    .infer = [](Inference& in) {
      const Attributes& a = in.attributes();
      const std::size_t n = a.ints("axis").size();
      if (a.ints("start").size() != n || a.ints("stop").size() != n || a.ints("step").size() != n) in.refuse("slice-lengths", "lists of different lengths");
      const Ints axes = in.axes(a.ints("axis"));
      if (axes != a.ints("axis")) in.refuse("slice-axes", "axes must be counted from the front");
      for (std::int64_t s : a.ints("step")) {
        if (s != 1 && s != -1) in.refuse("slice-step", "a step of {}; 1 and -1 are possible (subsample takes others)", s);
      }
      Shape shape;
      for (const Range& r : ranges_of(in.shape(0), a)) shape.push_back(r.count);
      in.result(in.dtype(0), shape);
    },
    .reference = [](Evaluation& e) {
      HostTensor out = e.fresh();
      const HostTensor& x = e.operand(0);
      const std::vector<Range> ranges = ranges_of(x.shape(), e.attributes());
      const std::size_t size = size_of(x.dtype());
      std::byte* to = out.writable();
      for (std::int64_t i = 0; i < out.elements(); ++i) {
        std::copy_n(x.data() + static_cast<std::size_t>(source_of(x.shape(), ranges, i)) * size, size, to + static_cast<std::size_t>(i) * size);
      }
      e.result(std::move(out));
    },
    .differentiable = Differentiable::by_gradient,
    .gradient = [](Gradient& g) {
      const Shape& shape = g.operand_type(0).shape;
      const ValueId zeros = g.op("init", {}, {{"shape", Ints(shape)}, {"dtype", g.operand_type(0).dtype}, {"init_type", std::string("zero")}});
      g.give(0, g.op("slice_assign", {zeros, g.grad()}, g.attributes()));
    },
    .samples = [] {
      Sample s;
      s.operands = {{DType::float32, {4, 6}, -2, 2, {}}};
      s.attributes = {{"start", Ints{1, 5}}, {"stop", Ints{3, 0}}, {"step", Ints{1, -1}}, {"axis", Ints{0, 1}}};
      return std::vector{s};
    },
    .view = View::of_first_operand,
    .put = [](Expansion& x) { x.result(x.op("slice_assign", {x.operand(0), x.operand(1)}, x.attributes())); },
    .has_in_place = true,
    .popart_type = "Slice",
    .popart_in_place_type = "SliceInplace",
});

}  // namespace pando::ir
