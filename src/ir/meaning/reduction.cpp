#include "ir/meaning/reduction.h"

#include "ir/meaning/elements.h"
#include "ir/meaning/formula.h"

#include <algorithm>
#include <limits>

namespace pando::ir {

Shape reduced_shape(const Shape& shape, const Ints& axes, bool keepdims) {
  Shape out;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const bool reduced = std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(d)) != axes.end();
    if (!reduced) out.push_back(shape[d]);
    if (reduced && keepdims) out.push_back(1);
  }
  return out;
}

void infer_reduction(Inference& in) { in.result(in.dtype(0), reduced_shape(in.shape(0), axes_of(in), in.attributes().flag("keepdims"))); }

void check_elements(const Inference& in, const Ints& axes) {
  for (std::int64_t a : axes) {
    if (in.shape(0)[static_cast<std::size_t>(a)] == 0) in.reject("reduction-empty", "axis {} has no elements", a);
  }
}

void infer_choice(Inference& in) {
  infer_reduction(in);
  check_elements(in, in.attributes().ints("axis"));
}

Cost reduction_cost(const Inference& in) {
  const auto bytes = [](const Type& t) { return static_cast<double>(elements_of(t.shape)) * static_cast<double>(size_of(t.dtype)); };
  Cost cost;
  cost.operations = static_cast<double>(elements_of(in.shape(0)));
  cost.bytes_read = bytes(in.operand(0));
  for (const Type& t : in.results()) cost.bytes_written += bytes(t);
  return cost;
}

std::vector<std::int64_t> groups_of(const Shape& shape, const Ints& axes) {
  const Shape kept = reduced_shape(shape, axes, true);
  const Shape strides = strides_of(kept);
  std::vector<std::int64_t> groups(static_cast<std::size_t>(elements_of(shape)));
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const Shape at = coordinates_of(shape, static_cast<std::int64_t>(i));
    for (std::size_t d = 0; d < shape.size(); ++d) groups[i] += kept[d] == 1 ? 0 : at[d] * strides[d];
  }
  return groups;
}

void reduce_groups(Evaluation& e, const std::function<double(std::span<const double>)>& f,
                   const std::function<std::int64_t(std::span<const std::int64_t>)>& g) {
  const HostTensor& x = e.operand(0);
  HostTensor out = e.fresh();
  const std::vector<std::int64_t> groups = groups_of(x.shape(), e.attributes().ints("axis"));
  const auto run = [&]<class T>(const std::function<T(std::span<const T>)>& reduce, auto read, auto write) {
    std::vector<std::vector<T>> members(static_cast<std::size_t>(out.elements()));
    for (std::size_t i = 0; i < groups.size(); ++i) {
      members[static_cast<std::size_t>(groups[i])].push_back(read(static_cast<std::int64_t>(i)));
    }
    for (std::size_t o = 0; o < members.size(); ++o) write(static_cast<std::int64_t>(o), reduce(members[o]));
  };
  if (g && !is_floating(x.dtype())) {
    run(g, [&](std::int64_t i) { return x.integer(i); }, [&](std::int64_t o, std::int64_t v) { out.set_integer(o, v); });
  } else {
    run(f, [&](std::int64_t i) { return x.number(i); }, [&](std::int64_t o, double v) { out.set(o, v); });
  }
  e.result(std::move(out));
}

ValueId spread(Gradient& g, ValueId reduced) {
  const Shape& shape = g.operand_type(0).shape;
  const Shape kept = reduced_shape(shape, g.attributes().ints("axis"), true);
  ValueId v = reduced;
  if (g.type_of(v).shape != kept) v = g.op("reshape", {v}, {{"shape", Ints(kept)}});
  return kept == shape ? v : g.op("expand", {v}, {{"shape", Ints(shape)}});
}

void give_where_equal(Gradient& g) {
  const ValueId dy = spread(g, g.grad());
  const ValueId same = g.op("equal", {g.operand(0), spread(g, g.result())});
  g.give(0, select(g, same, dy, g.scalar(g.operand_type(0).dtype, 0)));
}

std::vector<Sample> number_reduction_samples() {
  std::vector<Sample> all = reduction_samples();
  Sample s;
  s.operands = {{DType::int32, {3, 4}, -20, 20, {}}};
  s.attributes = {{"axis", Ints{1}}, {"keepdims", true}};
  all.push_back(s);
  return all;
}

std::vector<Sample> distinct_reduction_samples() {
  std::vector<Sample> all = number_reduction_samples();
  for (Sample& s : all) s.smooth = false;
  Sample s;
  s.operands = {{DType::float32, {2, 5}, 0, 0, {0.5, -1, 2, 0.25, 1, -3, 4, 1.5, 0.75, -0.5}}};
  s.attributes = {{"axis", Ints{1}}, {"keepdims", false}};
  all.push_back(s);
  s.attributes = {{"axis", Ints{0, 1}}, {"keepdims", true}};
  all.push_back(s);
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  s.smooth = false;
  s.operands[0].values = {kNan, -1, 2, kNan, 1, kNan, kNan, kNan, 1.5, kNan};
  s.attributes = {{"axis", Ints{1}}, {"keepdims", false}};
  all.push_back(s);
  return all;
}

std::vector<Sample> along_dim_samples() {
  std::vector<Sample> all;
  for (DType t : {DType::float32, DType::float16, DType::int32}) {
    for (std::int64_t dim : {0, 1, 2}) {
      Sample s;
      s.operands = {{t, {3, 4, 2}, -20, 20, {}}};
      s.attributes = {{"dim", dim}, {"keepdim", dim == 1}};
      all.push_back(s);
    }
  }
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  Sample special;
  special.operands = {{DType::float32, {2, 5}, 0, 0, {kNan, 2, kNan, 5, kNan, kNan, kNan, kNan, kNan, kNan}}};
  special.attributes = {{"dim", std::int64_t{1}}, {"keepdim", false}};
  special.smooth = false;
  all.push_back(special);
  return all;
}

void infer_position(Inference& in) {
  const Ints axes{axis_of(in, "dim")};
  check_elements(in, axes);
  in.result(DType::int32, reduced_shape(in.shape(0), axes, in.attributes().flag("keepdim")));
}

void find_position(Evaluation& e, bool of_largest) {
  const HostTensor& x = e.operand(0);
  HostTensor out = e.fresh();
  const AxisView view(x.shape(), e.attributes().integer("dim"));
  for (std::int64_t o = 0; o < view.outer; ++o) {
    for (std::int64_t i = 0; i < view.inner; ++i) {
      std::int64_t best = 0;
      for (std::int64_t a = 1; a < view.extent; ++a) {
        if (stands_before(x.number(view.position(o, a, i)), x.number(view.position(o, best, i)), of_largest)) best = a;
      }
      out.set_integer(o * view.inner + i, best);
    }
  }
  e.result(std::move(out));
}

}  // namespace pando::ir
