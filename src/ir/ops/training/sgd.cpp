#include "ir/rows/define.h"

namespace pando::ir {

extern const OpRow op_sgd;
constexpr OpRow op_sgd = checked({
    .name = "sgd",
    .doc = "w - lr dw for each of several weights: the operands are the weights, then their gradients in the same order. The results are "
           "the weights' new "
           "versions.",
    .operands = {{{.name = "ts", .types = any_floating, .variadic = true}}},
    .attributes = {{{"lr", AttributeKind::number}}},
    .infer =
        [](Inference& in) {
          const std::size_t n = in.operands() / 2;
          if (n == 0 || in.operands() != 2 * n)
            in.reject("operand-count", "as many gradients as weights, {} operands were given", in.operands());
          for (std::size_t i = 0; i < n; ++i) {
            if (in.shape(i) != in.shape(n + i) || in.dtype(i) != in.dtype(n + i))
              in.reject("different-shapes", "weight {} and its gradient differ", i);
            in.result(in.dtype(i), in.shape(i));
          }
        },
    .reference =
        [](Evaluation& e) {
          const std::size_t n = e.operands() / 2;
          const double lr = e.attributes().number("lr");
          for (std::size_t i = 0; i < n; ++i) {
            HostTensor out = e.fresh(i);
            for (std::int64_t k = 0; k < out.elements(); ++k) out.set(k, e.operand(i).number(k) - lr * e.operand(n + i).number(k));
            e.result(std::move(out));
          }
        },
    .expand =
        [](Expansion& x) {
          const std::size_t n = x.operands() / 2;
          for (std::size_t i = 0; i < n; ++i) {
            const ValueId step = x.op("mul", {x.operand(n + i), x.scalar(x.type_of(x.operand(i)).dtype, x.attributes().number("lr"))});
            x.result(x.op("sub", {x.operand(i), step}));
          }
        },
    .in_program_only = true,
    .modifies_more =
        [](const Module& m, OpId o, std::vector<NewVersion>& all) {
          for (std::size_t i = 0; i < m.results(o).size(); ++i) all.push_back({i, i});
        },
    .whole = "each weight is updated as it lies",
    .phase = OpPhase::update,
    .bundles = true,
});

}  // namespace pando::ir
