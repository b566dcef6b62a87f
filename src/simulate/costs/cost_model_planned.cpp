#include "simulate/costs/cost_model_planned.h"

#include <algorithm>

#include "ir/shared/windows/convolution.h"
#include "planning/convolution.h"
#include "planning/product.h"

namespace pando::simulate {
namespace {

std::optional<ElementType> element_type(ir::DType type) {
  if (type == ir::DType::float16) return ElementType::half;
  if (type == ir::DType::float32) return ElementType::float_;
  return std::nullopt;
}

struct Types {
  ElementType input, result;
};

// Nothing for types that are not planned for, and for tensors without elements.
std::optional<Types> types_of(const ir::Module& module, ir::OpId op) {
  const ir::Type &a = module.type_of(module.operand(op, 0)), &b = module.type_of(module.operand(op, 1)),
                 &out = module.type_of(module.result(op));
  const auto input = element_type(a.dtype), result = element_type(out.dtype);
  if (!input || !result || ir::elements_of(a.shape) == 0 || ir::elements_of(b.shape) == 0) return std::nullopt;
  return Types{*input, *result};
}

// Batches of a left operand that meet one matrix are rows of one product, as in the lowering.
planning::Product product_of(ir::Shape a, ir::Shape b, const Types& types) {
  if (a.size() == 1) a.insert(a.begin(), 1);
  if (b.size() == 1) b.push_back(1);
  planning::Product p;
  p.input = types.input, p.output = types.result;
  p.m = static_cast<std::size_t>(a[a.size() - 2]), p.k = static_cast<std::size_t>(b[b.size() - 2]),
  p.n = static_cast<std::size_t>(b.back());
  const auto matrices = [](const ir::Shape& s) { return static_cast<std::size_t>(ir::elements_of(s) / (s.back() * s[s.size() - 2])); };
  if (b.size() == 2)
    p.m *= matrices(a);
  else
    p.groups = std::max(matrices(a), matrices(b));
  return p;
}

planning::Convolution convolution_of(const ir::Convolution& c, const Types& types) {
  planning::Convolution out;
  out.in_type = types.input, out.out_type = types.result;
  out.groups = c.groups, out.batch = c.batch, out.in_channels = c.in_channels / c.groups, out.out_channels = c.out_channels / c.groups;
  for (const ir::WindowAxis& w : c.windows) {
    planning::Line line;
    line.in = w.in, line.out = w.out, line.taps = w.kernel;
    line.stride = w.stride, line.dilation = w.in_dilation, line.step = w.dilation, line.offset = -w.before;
    out.lines.push_back(line);
  }
  return out;
}

// Cycles, or nothing for what is neither.
std::optional<double> planned_cycles(const ir::Module& module, ir::OpId op, const Machine& machine) {
  const ir::OpRow& row = module.row(op);
  if (!ir::multiplies_by_weight(row)) return std::nullopt;
  const auto types = types_of(module, op);
  if (!types) return std::nullopt;
  const ir::Shape &a = module.type_of(module.operand(op, 0)).shape, &b = module.type_of(module.operand(op, 1)).shape;
  if (row.product == ir::Product::matrices) return plan_product(product_of(a, b, *types), machine).cost();
  const planning::Convolution c = convolution_of(ir::convolution_of(module.attributes(op), a, b), *types);
  const auto plan = plan_convolution(c, planning::ConvolutionKind::forward, {}, machine);
  return plan ? std::optional(plan->cost.total()) : std::nullopt;
}

}  // namespace

double PlannedCostModel::seconds(const ir::Module& module, ir::OpId op) const {
  const auto cycles = planned_cycles(module, op, machine_);
  return cycles ? *cycles / machine_.clock_hz : otherwise_.seconds(module, op);
}

}  // namespace pando::simulate
