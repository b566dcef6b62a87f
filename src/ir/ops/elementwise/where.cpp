#include "ir/meaning/elements.h"
#include "ir/rows/define.h"

namespace pando::ir {

extern const OpRow op_where;
constexpr OpRow op_where = checked({
    .name = "where",
    .doc = "lhs where the condition is true, else rhs. With NumPy's broadcasting; lhs and rhs have one element type, the condition "
           "is bool.",
    .signature = "where(condition: Tensor, lhs: Tensor, rhs: Tensor) -> Tensor",
    .operands = {{{"condition", only_bool}, {"lhs"}, {"rhs"}}},
    .infer = [](Inference& in) {
      if (in.dtype(1) != in.dtype(2)) in.reject("different-types", "operands of {} and {}; cast one of them", name_of(in.dtype(1)),
                                                name_of(in.dtype(2)));
      in.result(in.dtype(1), broadcast_shape(in, broadcast_shape(in, in.shape(0), in.shape(1)), in.shape(2)));
      in.results()[0].meta_shape = in.operand(1).meta_shape;
    },
    .reference = [](Evaluation& e) {
      HostTensor out = e.fresh();
      const HostTensor& condition = e.operand(0);
      const auto choose = [&](std::size_t operand, bool wanted) {
        const HostTensor& x = e.operand(operand);
        move_elements(out, x, [&](std::int64_t i) {
          const bool holds = condition.integer(broadcast_index(condition.shape(), out.shape(), i)) != 0;
          return holds == wanted ? broadcast_index(x.shape(), out.shape(), i) : std::int64_t{-1};
        });
      };
      choose(1, true);
      choose(2, false);
      e.result(std::move(out));
    },
    .differentiable = Differentiable::by_gradient,
    .gradient = [](Gradient& g) {
      const ValueId zero = g.scalar(g.operand_type(1).dtype, 0);
      if (g.wants(1)) g.give(1, g.reduced_to(g.op("where", {g.operand(0), g.grad(), zero}), g.operand_type(1).shape));
      if (g.wants(2)) g.give(2, g.reduced_to(g.op("where", {g.operand(0), zero, g.grad()}), g.operand_type(2).shape));
    },
    .samples = [] {
      std::vector<Sample> all;
      for (DType t : {DType::float32, DType::float16, DType::int32}) {
        Sample s;
        s.operands = {{DType::boolean, {3, 4}, -1, 1, {}}, {t, {3, 4}, -2, 2, {}}, {t, {3, 4}, -2, 2, {}}};
        all.push_back(s);
        s.operands = {{DType::boolean, {3, 1}, -1, 1, {}}, {t, {4}, -2, 2, {}}, {t, {}, -2, 2, {}}};
        all.push_back(s);
      }
      return all;
    },
    .elementwise = true,
    .popart_type = "Where",
});

}  // namespace pando::ir
