#include "ir/shared/windows/pooling.h"

#include <algorithm>

namespace pando::ir {

extern const OpRow op_average_pool_grad;
constexpr OpRow op_average_pool_grad = checked({
    .name = "average_pool_grad",
    .doc = "The gradient of average_pool for its operand, which had shape `shape`: each window's gradient, divided by its elements, to "
           "each of them.",
    .operands = {{{"dy", any_floating}}},
    .attributes = {{{"kernel_size", AttributeKind::ints},
                    {"stride", AttributeKind::ints, false},
                    {"padding", AttributeKind::ints, false},
                    {"out_pads", AttributeKind::ints, false},
                    {"dilation", AttributeKind::ints, false},
                    {"in_dilations", AttributeKind::ints, false},
                    {"auto_pad", AttributeKind::text, false},
                    {"ceil_mode", AttributeKind::flag, false},
                    {"shape", AttributeKind::ints}}},
    .infer =
        [](Inference& in) {
          const Shape shape = in.attributes().ints("shape");
          check_pooled(in, 0, pooled_shape(in, shape));
          in.result(in.dtype(0), shape);
        },
    .reference =
        [](Evaluation& e) {
          const Pooling p = pooling_of(e.attributes(), e.attributes().ints("shape"));
          std::vector<double> count(static_cast<std::size_t>(p.outs)), dx(static_cast<std::size_t>(p.images * p.ins));
          for_each_cell(p.windows, [&](std::int64_t o, std::int64_t, std::int64_t) { count[static_cast<std::size_t>(o)] += 1; });
          for (std::int64_t image = 0; image < p.images; ++image) {
            for_each_cell(p.windows, [&](std::int64_t o, std::int64_t, std::int64_t i) {
              dx[static_cast<std::size_t>(image * p.ins + i)] +=
                  e.operand(0).number(image * p.outs + o) / count[static_cast<std::size_t>(o)];
            });
          }
          e.result(HostTensor::of_floats(e.result_type().dtype, e.result_type().shape, dx));
        },
    .samples =
        [] {
          std::vector<Sample> all = pooling_samples();
          for (Sample& s : all) {
            s.attributes.set("shape", Ints(s.operands[0].shape));
            s.operands[0].shape = pooled_shape(s.attributes, s.operands[0].shape);
          }
          return all;
        },
    .popart_type = "AveragePoolGrad",
    .subscripts = leading_two_subscripts,
    .phase = OpPhase::backward,
});

}  // namespace pando::ir
