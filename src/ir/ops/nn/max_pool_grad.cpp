#include "ir/shared/windows/pooling.h"

#include <algorithm>
#include <functional>

namespace pando::ir {

namespace {

// Each element one more than the one before: every window's largest is its last. In one more case each value comes twice in a row.
std::vector<Sample> max_pool_gradient_samples() {
  std::vector<Sample> all = pooling_samples();
  all.push_back(all[0]);
  for (Sample& s : all) {
    Sample::Operand x = s.operands[0], y = x;
    const std::int64_t times = &s == &all.back() ? 2 : 1;
    for (std::int64_t i = 0; i < elements_of(x.shape); ++i) x.values.push_back(static_cast<double>(i / times));
    y.shape = pooled_shape(s.attributes, x.shape);
    const Pooling p = pooling_of(s.attributes, x.shape);
    y.values.assign(static_cast<std::size_t>(p.images * p.outs), 0.0);
    for (std::int64_t image = 0; image < p.images; ++image) {
      for_each_cell(p.windows, [&](std::int64_t o, std::int64_t, std::int64_t i) {
        double& largest = y.values[static_cast<std::size_t>(image * p.outs + o)];
        largest = std::max(largest, static_cast<double>((image * p.ins + i) / times));
      });
    }
    Sample::Operand dy = y;
    dy.values.clear();
    s.operands = {x, y, dy};
  }
  // A gradient of another type than the data.
  all.push_back(all[0]);
  for (std::size_t i : {0u, 1u}) all.back().operands[i].dtype = DType::float16;
  return all;
}

}  // namespace

extern const OpRow op_max_pool_grad;
constexpr OpRow op_max_pool_grad = checked({
    .name = "max_pool_grad",
    .doc = "The gradient of max_pool from its operand `x`, its result `y` and its result's gradient: all elements of a window that are its "
           "largest share its "
           "gradient equally.",
    .operands = {{{"x", any_floating}, {"y", any_floating}, {"dy", any_floating}}},
    .attributes = {{{"kernel_size", AttributeKind::ints},
                    {"stride", AttributeKind::ints, false},
                    {"padding", AttributeKind::ints, false},
                    {"out_pads", AttributeKind::ints, false},
                    {"dilation", AttributeKind::ints, false},
                    {"in_dilations", AttributeKind::ints, false},
                    {"auto_pad", AttributeKind::text, false},
                    {"ceil_mode", AttributeKind::flag, false},
                    {"storage_order", AttributeKind::text, false}}},
    .infer =
        [](Inference& in) {
          const Shape y = pooled_shape(in, in.shape(0));
          check_pooled(in, 1, y);
          check_pooled(in, 2, y);
          same_as_first(in);
        },
    .reference =
        [](Evaluation& e) {
          const Pooling p = pooling_of(e.attributes(), e.operand(0).shape());
          std::vector<double> dx(static_cast<std::size_t>(p.images * p.ins));
          for (std::int64_t image = 0; image < p.images; ++image) {
            std::vector<double> sharing(static_cast<std::size_t>(p.outs));
            const auto for_each_largest = [&](const std::function<void(std::int64_t o, std::int64_t i)>& f) {
              for_each_cell(p.windows, [&](std::int64_t o, std::int64_t, std::int64_t i) {
                if (e.operand(0).number(image * p.ins + i) == e.operand(1).number(image * p.outs + o)) f(o, i);
              });
            };
            for_each_largest([&](std::int64_t o, std::int64_t) { sharing[static_cast<std::size_t>(o)] += 1; });
            for_each_largest([&](std::int64_t o, std::int64_t i) {
              dx[static_cast<std::size_t>(image * p.ins + i)] +=
                  e.operand(2).number(image * p.outs + o) / sharing[static_cast<std::size_t>(o)];
            });
          }
          e.result(HostTensor::of_floats(e.result_type().dtype, e.result_type().shape, dx));
        },
    .samples = max_pool_gradient_samples,
    .popart_type = "MaxPoolGrad",
    .subscripts = leading_two_subscripts,
    .phase = OpPhase::backward,
});

}  // namespace pando::ir
