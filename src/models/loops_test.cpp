// Loops of the main graph: written out, cut over devices, their trips on the stages of a pipeline.
#include "ir/construction/builder.h"
#include "ir/op_row.h"
#include "ir/semantics/infer.h"
#include "ir/semantics/interpreter.h"
#include "ir/text/parse.h"
#include "ir/text/print.h"
#include "models/testing.h"
#include "pando/model_error.hpp"
#include "schedule/generate.h"
#include "transform/distribute/annotate.h"
#include "transform/gradient/autodiff.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

namespace pando::models {
namespace {

using namespace transform;
using testing::count;
using testing::difference;
using testing::farthest;

constexpr double kRounding = 1e-11;

// A network whose layers are a loop, and the loop of its gradient; the layers' weights are one tensor.
struct Loop {
  std::int64_t trips = 4, batch = 12, width = 4;
  const char* activation = "tanh";
  double learning_rate = 0.1;
};
ir::Module looped(const Loop& loop = {}) {
  ir::Builder b;
  ir::Module& m = b.module();
  const ir::GraphId main = m.main_graph(), body = b.create_graph("block");
  const auto input = [&](ir::GraphId g, const char* name, ir::Shape shape) {
    const ir::ValueId v = m.add_input(g, ir::tensor_type(ir::DType::float64, std::move(shape)), name);
    b.tensor_for(v);
    return v;
  };
  const auto op = [&](ir::GraphId g, const char* name, const std::vector<ir::ValueId>& operands, const ir::Attributes& a = {},
                      const std::vector<ir::GraphId>& graphs = {}) {
    const auto results = m.results(ir::infer_and_add(m, g, name, operands, a, graphs));
    return std::vector<ir::ValueId>(results.begin(), results.end());
  };
  std::vector<ir::ValueId> inputs;
  for (const auto& [name, rows] : {std::pair{"x", loop.batch}, {"w", loop.width}, {"v", loop.width}}) {
    inputs.push_back(input(main, name, {rows, loop.width}));
    ir::State s;
    s.name = name;
    s.type = m.value(inputs.back()).type;
    s.input = m.value(inputs.back()).index;
    m.add_state(std::move(s));
  }
  const ir::ValueId x = inputs[0], w = inputs[1], v = inputs[2];
  const ir::ValueId in = input(body, "x", {loop.batch, loop.width}), weight = input(body, "w", {loop.width, loop.width});
  b.add_output(body, b.tensor_for(op(body, loop.activation, op(body, "matmul", {in, weight}))[0]));
  const ir::ValueId y = op(main, "repeat", {op(main, "matmul", {x, v})[0], w}, {{"count", loop.trips}}, {body})[0];
  const ir::ValueId loss = op(main, "sum", op(main, "mul", {y, y}), {{"axis", ir::Ints{0, 1}}})[0];
  b.add_output(main, b.tensor_for(loss));
  AutodiffOptions options;
  options.provided = std::vector{loss};
  options.required = std::vector{w, v};
  const GradientInfo info = autodiff(b, main, options);
  std::vector<ir::ValueId> operands;
  for (const Connection& c : info.inputs) {
    const ir::BlobId one = m.add_blob(ir::HostTensor::filled(ir::DType::float64, {}, 1));
    operands.push_back(c.kind == ConnectionKind::fwd_grad ? op(main, "constant", {}, {{"data", one}})[0] : c.value);
  }
  const std::vector<ir::ValueId> gradients = op(main, "call", operands, {}, {info.gradient});
  const std::vector<ir::ValueId> updated = op(main, "sgd", {w, v, gradients[0], gradients[1]}, {{"lr", loop.learning_rate}});
  m.graph(main).updated_inputs[1] = updated[0];
  m.graph(main).updated_inputs[2] = updated[1];
  m.graph(main).outputs = {loss};
  return std::move(m);
}

TEST(Loops, LoopsOfTheMainGraphAreCut) {
  const ir::Module whole = looped();
  ASSERT_EQ(count(whole, "repeat"), 1);
  const Program p = annotate(ir::Module(whole), {{{"x", 0}}, {}, {}, {}});
  // Nothing of the loops is left: no trip runs twice, nothing is stacked.
  for (const char* gone : {"repeat", "call", "dynamic_slice", "dynamic_update"}) EXPECT_EQ(count(p.module, gone), 0) << gone;
  EXPECT_EQ(count(p.module, "tanh"), 4);
  std::vector<ir::HostValue> inputs;
  for (const ir::HostTensor& t : testing::data_for(p, 3, true)) inputs.push_back({t, {}});
  EXPECT_LT(farthest(ir::Interpreter(whole).run_graph(whole.main_graph(), inputs),
                     ir::Interpreter(p.module).run_graph(p.module.main_graph(), inputs)),
            1e-13);
  for (const Strategy& s : {Strategy{.data = 2}, {.tensor = 2}}) EXPECT_EQ(difference(p, s, kRounding, 3, true), "");
}

// The first seed whose data change the weight that input 1 is.
std::uint64_t seed_that_learns(const Program& p) {
  const ir::Graph& main = p.module.graph(p.module.main_graph());
  for (std::uint64_t seed = 1; seed < 100; ++seed) {
    std::vector<ir::HostValue> inputs;
    for (const ir::HostTensor& t : testing::data_for(p, seed)) inputs.push_back({t, {}});
    const ir::HostTensor before = inputs[1].tensor;
    if (ir::Interpreter(p.module).run_graph(p.module.main_graph(), inputs)[main.outputs.size() + 1].tensor != before) return seed;
  }
  ADD_FAILURE() << "no data change the weight";
  return 0;
}

// The trips of a loop on several stages: each stage adds up the gradient of the weight that they share, and the sums are brought together
// once, where the weight lies. With small integers the bits are the same.
TEST(Loops, TripsThatShareAWeightStandOnStages) {
  const Program smooth = annotate(looped({.trips = 9, .batch = 16}), {{{"x", 0}}, {}, {}, {}});
  const Program whole =
      annotate(looped({.trips = 9, .batch = 16, .width = 2, .activation = "relu", .learning_rate = 0.5}), {{{"x", 0}}, {}, {}, {}});
  const std::uint64_t seed = seed_that_learns(whole);
  for (const std::string& name : schedule::names()) {
    for (const std::int32_t ranks : {2, 4}) {
      Strategy s{.pipeline = ranks, .microbatches = 8, .schedule = name};
      s.stages_per_rank = std::max(1, schedule::stages_per_rank_of(name) > 0 ? schedule::stages_per_rank_of(name) : 2);
      SCOPED_TRACE(fmt::format("{} on {} ranks, {} stages each", name, ranks, s.stages_per_rank));
      EXPECT_EQ(difference(smooth, s, kRounding, 3, true), "");
      EXPECT_EQ(difference(whole, s, 0, seed), "");
    }
  }
}

TEST(Loops, GradientsOfASharedWeightAreSentOnce) {
  const Program p = annotate(looped({.trips = 8, .batch = 16, .width = 4}), {{{"x", 0}}, {}, {}, {}});
  const Strategy pipe{.pipeline = 4, .microbatches = 8};
  const ir::Module m = parallelise(p, pipe).module;
  std::map<std::pair<std::int32_t, std::int32_t>, int> of_weights;
  for (ir::OpId o : m.graph(m.main_graph()).ops) {
    if (m.row(o).name != "send" || m.type_of(m.result(o)).shape != ir::Shape{4, 4}) continue;
    ++of_weights[{m.type_of(m.operand(o, 0)).place.device.value, m.type_of(m.result(o)).place.device.value}];
  }
  // The weight goes to the other stages, which see its transpose in it; the gradient comes back from stage to stage.
  for (const std::int32_t to : {2, 3, 4}) {
    EXPECT_EQ((of_weights[{1, to}]), 1) << to;
    EXPECT_EQ((of_weights[{to, to - 1}]), 1) << to;
  }
  // With several devices to a stage, they add up what their stages have: two weights, the loss.
  for (const Strategy& s : {Strategy{.data = 2}, {.data = 2, .microbatches = 4}, {.data = 2, .pipeline = 4, .microbatches = 4}}) {
    EXPECT_EQ(count(parallelise(p, s).module, "all_reduce_across"), 3);
    EXPECT_EQ(difference(p, s, kRounding, 3, true), "");
  }
  for (const std::int32_t zero : {1, 2, 3})
    EXPECT_EQ(difference(p, {.data = 2, .tensor = 2, .pipeline = 2, .microbatches = 4, .zero = zero}, kRounding, 3, true), "") << zero;
  for (Recompute r : {Recompute::selective, Recompute::full})
    EXPECT_EQ(difference(p, {.pipeline = 4, .microbatches = 4, .schedule = "ZB-H1", .recompute = r}, kRounding, 3, true), "");
  Strategy off = pipe;
  off.offload_weights = off.offload_activations = true;
  EXPECT_EQ(difference(p, off, kRounding, 3, true), "");
}

// Each stage computes the gradients of its own trips: as many products for the weight and for what came in as it has forward.
TEST(Loops, GradientsOfTripsAreComputedWhereTheTripsAre) {
  const Program p = annotate(looped({.trips = 7, .batch = 16, .width = 4}), {{{"x", 0}}, {}, {}, {}});
  const ir::Module m = parallelise(p, {.pipeline = 4, .layers_per_stage = {2, 2, 2, 2}}).module;
  std::map<std::int32_t, int> products, halves;
  for (ir::OpId o : m.graph(m.main_graph()).ops) {
    const std::int32_t device = m.type_of(m.result(o)).place.device.value;
    products[device] += m.row(o).name == "matmul";
    halves[device] += m.row(o).name == "tanh_grad";
  }
  // The first product's operand is a sample, which has no gradient.
  EXPECT_EQ(products, (std::map<std::int32_t, int>{{1, 5}, {2, 6}, {3, 6}, {4, 6}}));
  EXPECT_EQ(halves, (std::map<std::int32_t, int>{{1, 1}, {2, 2}, {3, 2}, {4, 2}}));
  EXPECT_EQ(difference(p, {.pipeline = 4, .microbatches = 8, .layers_per_stage = {2, 2, 2, 2}}, kRounding, 3, true), "");
}

TEST(Loops, ALoopThatIsTooLongIsNamed) {
  std::string text = ir::print(looped());
  const std::string four = "count=4";
  for (std::size_t at = text.find(four); at != std::string::npos; at = text.find(four)) text.replace(at, four.size(), "count=1000000");
  try {
    annotate(ir::parse(text), {{{"x", 0}}, {}, {}, {}});
    ADD_FAILURE() << "written out";
  } catch (const ModelError& e) {
    EXPECT_EQ(e.id(), "loop-too-long");
    EXPECT_NE(std::string(e.what()).find("of graph 'block' makes 1000000 trips"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace pando::models
