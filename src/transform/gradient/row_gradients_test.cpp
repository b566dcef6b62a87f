// The gradient of every row of the op table, against differences of its meaning.
#include "ir/error.h"
#include "ir/op_table.h"
#include "ir/text/print.h"
#include "transform/gradient/autodiff.h"
#include "transform/gradient/numeric_gradient.h"
#include "transform/testing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>

namespace pando::transform::testing {

using namespace ir;

namespace {

// Operands of a floating type that have no gradient, as documented. Everything else that a row takes must have one.
struct NoGradient {
  std::string_view row, operand, why;
};
constexpr std::array kNoGradient{
    NoGradient{"fmod", "rhs", "PopXL differentiates the dividend alone"},
    NoGradient{"roi_align", "rois", "where the regions lie is not learned"},
};

// Rows whose gradient is not that of their meaning: it holds where operands, or gradients, are the same on all devices.
constexpr std::array<std::string_view, 2> kUnderAssumptions{"all_reduce_identical_inputs", "all_reduce_identical_grad_inputs"};

// Further results, which only the row's own gradient reads.
bool is_side_result(const OpRow& row, std::size_t result) { return row.name == "group_norm" && result > 0; }

bool has_no_gradient(const OpRow& row, std::size_t operand) {
  const auto rules =
      std::find_if(row.operands.begin(), row.operands.end(), [](const OperandRule& r) { return r.name.empty(); }) - row.operands.begin();
  const std::string_view name = row.operands[std::min<std::size_t>(operand, static_cast<std::size_t>(rules) - 1)].name;
  return std::any_of(kNoGradient.begin(), kNoGradient.end(), [&](const NoGradient& n) { return n.row == row.name && n.operand == name; });
}

// The sample in float64, where the row takes that; otherwise as it is.
std::vector<Sample> cases_of(const OpRow& row) {
  std::vector<Sample> all;
  for (Sample s : row.samples()) {
    if (!s.smooth) continue;
    const bool half = std::any_of(s.operands.begin(), s.operands.end(), [](const auto& o) { return o.dtype == DType::float16; });
    const bool floating = std::any_of(s.operands.begin(), s.operands.end(), [](const auto& o) { return is_differentiable(o.dtype); });
    if (half || !floating) continue;
    s.in_place = false;
    all.push_back(std::move(s));
  }
  return all;
}

struct Graph {
  Builder b;
  GraphId graph;
  std::vector<TensorId> inputs;
};

std::unique_ptr<Graph> graph_of(const OpRow& row, const Sample& s, bool in_double) {
  auto g = std::make_unique<Graph>();
  g->graph = g->b.create_graph("f");
  for (const Sample::Operand& o : s.operands) {
    const DType dtype = in_double && o.dtype == DType::float32 ? DType::float64 : o.dtype;
    g->inputs.push_back(g->b.add_input(g->graph, tensor_type(dtype, o.shape, {Device::numbered(0), TileSet::compute}), "x"));
  }
  try {
    for (TensorId t : g->b.op(g->graph, row.name, g->inputs, s.attributes)) g->b.add_output(g->graph, t);
  } catch (const ModelError&) { return nullptr; }
  return g;
}

// Which floating operands autodiff gives a gradient for; an error that is not about a missing one is an answer too.
std::string check(const OpRow& row, const Sample& s) {
  std::unique_ptr<Graph> g = graph_of(row, s, true);
  const bool in_double = g != nullptr;
  if (!g) g = graph_of(row, s, false);
  if (!g) return "\n  the sample does not fit the row";
  const Module& m = g->b.module();
  AutodiffOptions o;
  o.provided.emplace();
  const std::vector<ValueId> outputs = m.graph(g->graph).outputs;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (is_differentiable(m.type_of(outputs[i]).dtype) && !is_side_result(row, i)) o.provided->push_back(outputs[i]);
  }
  if (o.provided->empty()) return {};
  o.required.emplace();
  for (std::size_t i = 0; i < g->inputs.size(); ++i) {
    if (is_differentiable(m.type_of(value(g->b, g->inputs[i])).dtype) && !has_no_gradient(row, i))
      o.required->push_back(value(g->b, g->inputs[i]));
  }
  const GradientInfo info = autodiff(g->b, g->graph, o);
  std::vector<HostTensor> inputs;
  for (std::size_t i = 0; i < s.operands.size(); ++i) {
    inputs.push_back(sample_data(s.operands[i], m.type_of(value(g->b, g->inputs[i])).dtype, 1 + i));
  }
  std::string wrong = in_double ? wrong_gradients(m, info, inputs, {1e-5, 2e-5, 1e-6}) : "in float32";
  // Meanings that round to a smaller type inside need a larger step.
  if (!wrong.empty()) wrong = wrong_gradients(m, info, inputs, {6e-2, 3e-2, 3e-2});
  return wrong.empty() ? wrong : wrong + "\n" + print(m);
}

class RowGradient : public ::testing::TestWithParam<std::string> {};

TEST_P(RowGradient, is_the_difference) {
  const OpRow& row = row_of(op_kind(GetParam()));
  const std::vector<Sample> cases = cases_of(row);
  ASSERT_FALSE(cases.empty()) << "no sample of '" << row.name << "' tries its gradient";
  std::size_t checked = 0;
  for (const Sample& s : cases) {
    try {
      EXPECT_EQ(check(row, s), "");
      ++checked;
    } catch (const ModelError& e) {
      // Some attributes have no gradient (a maximum over replicas); others must.
      EXPECT_EQ(e.id(), "no-gradient") << e.what();
    }
  }
  EXPECT_GT(checked, 0u);
}

std::vector<std::string> differentiable_rows() {
  std::vector<std::string> all;
  for (const OpRow* row : op_table()) {
    const bool assumes = std::find(kUnderAssumptions.begin(), kUnderAssumptions.end(), row->name) != kUnderAssumptions.end();
    if (row->differentiable == Differentiable::by_gradient && row->samples && !assumes) all.emplace_back(row->name);
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(rows, RowGradient, ::testing::ValuesIn(differentiable_rows()), [](const auto& p) { return p.param; });

}  // namespace

}  // namespace pando::transform::testing
