// The gradient of an op whose row has one.
#include "transform/gradient/gradient_graph.h"

#include "base/check.h"
#include "ir/rows/gradient.h"

namespace pando::transform {

using namespace ir;

namespace {

class RowGradient : public Gradient {
 public:
  RowGradient(GradientGraph& g, OpId op) : g_(g), op_(op) {}

  const Module& module() const override { return g_.module(); }
  OpId forward() const override { return op_; }
  const Attributes& attributes() const override { return module().attributes(op_); }
  std::size_t operands() const override { return module().operands(op_).size(); }
  ValueId operand(std::size_t i) override { return g_.forward_value(module().operand(op_, i)); }
  ValueId result(std::size_t i) override { return g_.forward_value(module().result(op_, i)); }
  const Type& operand_type(std::size_t i) const override { return module().type_of(module().operand(op_, i)); }
  const Type& result_type(std::size_t i) const override { return module().type_of(module().result(op_, i)); }
  ValueId grad(std::size_t i) override { return g_.gradient(module().result(op_, i)); }
  bool wants(std::size_t i) const override {
    const Type& t = operand_type(i);
    // Integers only among integers: an exponent or an index of a float has none.
    const bool has_some = is_differentiable(t.dtype) || (is_integer(t.dtype) && result_type(0).dtype == t.dtype);
    return t.is_tensor() && has_some && g_.wants(module().operand(op_, i));
  }
  void give(std::size_t i, ValueId gradient) override {
    if (wants(i)) g_.give(module().operand(op_, i), gradient);
  }
  ValueId op(std::string_view name, std::initializer_list<ValueId> operands, const Attributes& attributes) override {
    return ops(name, std::span(operands.begin(), operands.size()), attributes, {})[0];
  }
  std::vector<ValueId> ops(std::string_view name, std::span<const ValueId> operands, const Attributes& attributes,
                           std::span<const GraphId> graphs) override {
    return g_.emit(name, operands, attributes, graphs);
  }
  ValueId scalar(DType dtype, double value) override { return g_.scalar(dtype, value); }
  const Type& type_of(ValueId v) const override { return module().type_of(v); }

 private:
  const Module& module() { return g_.module(); }
  GradientGraph& g_;
  OpId op_;
};

}  // namespace

void gradient_of_row(GradientGraph& g, OpId op) {
  RowGradient gradient(g, op);
  g.module().row(op).gradient(gradient);
}

}  // namespace pando::transform
