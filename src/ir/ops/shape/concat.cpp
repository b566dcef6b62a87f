#include "ir/meaning/elements.h"
#include "ir/rows/define.h"

namespace pando::ir {

namespace {

void infer_concat(Inference& in) {
  if (in.operands() == 0) in.reject("operand-count", "it takes one operand or more");
  const auto axis = static_cast<std::size_t>(axis_of(in));
  Shape shape = in.shape(0);
  for (std::size_t i = 1; i < in.operands(); ++i) {
    if (in.dtype(i) != in.dtype(0)) in.reject("different-types", "operands of {} and {}; cast one of them", name_of(in.dtype(0)),
                                              name_of(in.dtype(i)));
    Shape other = in.shape(i);
    if (other.size() == shape.size()) {
      shape[axis] += other[axis];
      other[axis] = shape[axis];
    }
    if (other != shape) in.reject("concat-shapes", "shape {} does not go behind {} along axis {}", to_string(in.shape(i)),
                                  to_string(in.shape(0)), axis);
  }
  in.result(in.dtype(0), shape);
}

// The slice of the whole that an operand is; moves `start` behind it.
Attributes piece_of(const Attributes& concat, const Shape& operand, std::int64_t& start) {
  const std::int64_t axis = concat.integer("axis"), stop = start + operand[static_cast<std::size_t>(axis)];
  const Attributes piece{{"start", Ints{start}}, {"stop", Ints{stop}}, {"step", Ints{1}}, {"axis", Ints{axis}}};
  start = stop;
  return piece;
}

}  // namespace

extern const OpRow op_concat;
constexpr OpRow op_concat = checked({
    .name = "concat",
    .doc = "The operands one after the other along an axis. They have one element type and agree in all other dimensions.",
    .signature = "concat(ts: Iterable[Tensor], axis: int = 0) -> Tensor",
    .operands = {{{.name = "ts", .variadic = true}}},
    .attributes = {{{"axis", AttributeKind::integer}}},
    .infer = infer_concat,
    .reference = [](Evaluation& e) {
      HostTensor out = e.fresh();
      const AxisView whole(out.shape(), e.attributes().integer("axis"));
      std::int64_t start = 0;
      for (std::size_t o = 0; o < e.operands(); ++o) {
        const HostTensor& x = e.operand(o);
        const AxisView part(x.shape(), e.attributes().integer("axis"));
        move_elements(out, x, [&](std::int64_t i) {
          const std::int64_t inner = i % whole.inner, at = i / whole.inner % whole.extent - start, outer = i / whole.inner / whole.extent;
          return at < 0 || at >= part.extent ? -1 : part.position(outer, at, inner);
        });
        start += part.extent;
      }
      e.result(std::move(out));
    },
    .differentiable = Differentiable::by_gradient,
    .gradient = [](Gradient& g) {
      std::int64_t start = 0;
      for (std::size_t i = 0; i < g.operands(); ++i) {
        const Attributes piece = piece_of(g.attributes(), g.operand_type(i).shape, start);
        if (g.wants(i)) g.give(i, g.op("slice", {g.grad()}, piece));
      }
    },
    .cost = movement_cost,
    .samples = [] {
      std::vector<Sample> all;
      Sample s;
      s.operands = {{DType::float32, {2, 3}, -2, 2, {}}, {DType::float32, {2, 1}, -2, 2, {}}, {DType::float32, {2, 2}, -2, 2, {}}};
      s.attributes = {{"axis", std::int64_t{1}}};
      all.push_back(s);
      s.operands = {{DType::float16, {2, 3}, -2, 2, {}}, {DType::float16, {4, 3}, -2, 2, {}}};
      s.attributes = {{"axis", std::int64_t{0}}};
      all.push_back(s);
      return all;
    },
    .view = View::of_all_operands,
    .put = [](Expansion& x) {
      std::int64_t start = 0;
      for (std::size_t i = 1; i < x.operands(); ++i) {
        x.result(x.op("slice", {x.operand(0)}, piece_of(x.attributes(), x.type_of(x.operand(i)).shape, start)));
      }
    },
    .has_in_place = true,
    .popart_type = "Concat",
    .popart_in_place_type = "ConcatInplace",
    .subscripts = pieces_subscripts,
});

}  // namespace pando::ir
