#include "ir/rows/define.h"

namespace pando::ir {

namespace {

Sample sample_of(DType dtype, std::size_t operands, Shape shape) {
  Sample s;
  for (std::size_t i = 0; i < operands; ++i) s.operands.push_back({dtype, shape, -2, 2, {}});
  return s;
}

}  // namespace

extern const OpRow op_add_n;
constexpr OpRow op_add_n = checked({
    .name = "add_n",
    .doc = "The sum of one tensor or more of one type and shape, added from the first to the last, each partial sum rounded to the type. "
           "Autodiff sums with "
           "it what reaches a tensor from several consumers.",
    .operands = {{{.name = "ts", .types = any_numeric, .variadic = true}}},
    .infer =
        [](Inference& in) {
          if (in.operands() == 0) in.reject("operand-count", "it takes one operand or more");
          for (std::size_t i = 1; i < in.operands(); ++i) {
            if (in.dtype(i) == in.dtype(0) && in.shape(i) == in.shape(0) && in.operand(i).meta_shape == in.operand(0).meta_shape) continue;
            in.reject("different-types", "operand {} differs from operand 0 in type or shape", i);
          }
          same_as_first(in);
        },
    .reference =
        [](Evaluation& e) {
          HostTensor out = e.operand(0);
          for (std::size_t i = 1; i < e.operands(); ++i) {
            const HostTensor& x = e.operand(i);
            for (std::int64_t k = 0; k < out.elements(); ++k) {
              if (is_floating(out.dtype())) {
                out.set(k, out.number(k) + x.number(k));
              } else {
                out.set_integer(
                    k, static_cast<std::int64_t>(static_cast<std::uint64_t>(out.integer(k)) + static_cast<std::uint64_t>(x.integer(k))));
              }
            }
          }
          e.result(std::move(out));
        },
    .differentiable = Differentiable::by_gradient,
    .gradient =
        [](Gradient& g) {
          for (std::size_t i = 0; i < g.operands(); ++i) {
            if (g.wants(i)) g.give(i, g.grad());
          }
        },
    .expand =
        [](Expansion& x) {
          ValueId sum = x.operand(0);
          for (std::size_t i = 1; i < x.operands(); ++i) sum = x.op("add", {sum, x.operand(i)});
          x.result(x.operands() == 1 ? x.op("identity", {sum}) : sum);
        },
    .samples =
        [] {
          return std::vector{sample_of(DType::float32, 1, {3}), sample_of(DType::float32, 3, {2, 3}), sample_of(DType::float16, 4, {5}),
                             sample_of(DType::int32, 2, {4})};
        },
    .elementwise = true,
    .popart_type = "Sum",
    .subscripts = adding_subscripts,
    .adds = Adds::operands,
});

}  // namespace pando::ir
