// What the transforms leave in a program: collectives where they are known to be, memory that gets less, errors that name what does not
// fit.
#include "ir/checks/verify.h"
#include "ir/op_row.h"
#include "ir/semantics/interpreter.h"
#include "ir/text/parse.h"
#include "ir/text/print.h"
#include "models/gpt.h"
#include "models/mlp.h"
#include "models/testing.h"
#include "pando/model_error.hpp"
#include "schedule/generate.h"
#include "transform/distribute/annotate.h"
#include "transform/distribute/parts.h"
#include "transform/expand.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <span>

namespace pando::models {
namespace {

using namespace transform;
using testing::count;
using testing::difference;
using testing::farthest;
using testing::histogram;

constexpr double kRounding = 1e-11;

Gpt small() {
  Gpt g;
  g.layers = 4;
  g.heads = 4;
  g.width = 8;
  g.vocabulary = 12;
  g.sequence = 6;
  g.batch = 12;
  g.dtype = ir::DType::float64;
  return g;
}

// Bytes that the main graph holds at most on any device, in the order of its ops.
std::int64_t peak(const ir::Module& m) {
  const ir::Graph& main = m.graph(m.main_graph());
  std::vector<std::size_t> last(m.value_count(), 0);
  std::size_t at = 0;
  for (ir::OpId o : main.ops) {
    ++at;
    for (ir::ValueId v : m.operands(o)) last[v.index()] = at;
  }
  std::map<std::int32_t, std::int64_t> now, most;
  const auto device = [&](ir::ValueId v) { return m.type_of(v).place.device.value; };
  at = 0;
  for (ir::OpId o : main.ops) {
    ++at;
    for (ir::ValueId v : m.results(o)) {
      if (!m.type_of(v).is_tensor()) continue;
      now[device(v)] += m.types().bytes_of(m.value(v).type);
      most[device(v)] = std::max(most[device(v)], now[device(v)]);
    }
    std::set<ir::ValueId> gone;
    for (ir::ValueId v : m.operands(o)) {
      if (last[v.index()] == at && m.value(v).producer.valid() && m.type_of(v).is_tensor()) gone.insert(v);
    }
    for (ir::ValueId v : gone) now[device(v)] -= m.types().bytes_of(m.value(v).type);
  }
  std::int64_t all = 0;
  for (const auto& [d, n] : most) all = std::max(all, n);
  return all;
}

std::string rejection(const Program& p, const Strategy& s) {
  try {
    parallelise(p, s);
  } catch (const ModelError& e) { return e.id(); }
  return "accepted";
}

TEST(Distribution, TensorParallelIsMegatrons) {
  const Program gpt = build_gpt(small());
  const ir::Module m = parallelise(gpt, {.tensor = 2}).module;
  // Each block: one sum behind attention and one behind the dense layers, and as many on the way back. The head is cut by columns: its
  // operand's gradient is a sum, and probabilities are gathered.
  EXPECT_EQ(count(m, "all_reduce_across"), 4 * 4 + 1);
  const ir::Module sp = parallelise(gpt, {.tensor = 2, .sequence_parallel = true}).module;
  EXPECT_GE(count(sp, "reduce_scatter_across"), 4 * 4);
  EXPECT_GE(count(sp, "all_gather_across"), 4 * 4);
  EXPECT_LT(peak(sp), peak(m));
}

TEST(Distribution, DataParallelSumsEachGradientOnce) {
  const Program gpt = build_gpt(small());
  const std::size_t weights = gpt.module.graph(gpt.module.main_graph()).inputs.size() - 2;
  EXPECT_EQ(count(parallelise(gpt, {.data = 2, .microbatches = 3}).module, "all_reduce_across"), static_cast<int>(weights) + 1);
}

TEST(Distribution, ExpertsExchangeTokens) {
  Gpt g = small();
  g.experts = 6;
  const Program moe = build_gpt(g);
  // Two blocks with experts, to and fro, forward and backward.
  EXPECT_EQ(count(parallelise(moe, {.expert = 3}).module, "all_to_all_across"), 2 * 2 * 2);
}

TEST(Distribution, ZeroHoldsLess) {
  Gpt g = small();
  g.optimizer.kind = Optimizer::adam;
  const Program gpt = build_gpt(g);
  const auto held = [&](std::int32_t zero) {
    const Distributed d = parallelise(gpt, {.data = 4, .zero = zero});
    std::int64_t bytes = 0;
    for (ir::ValueId v : d.module.graph(d.module.main_graph()).inputs) bytes += d.module.types().bytes_of(d.module.value(v).type);
    return static_cast<double>(bytes);
  };
  const double none = held(0);
  EXPECT_NEAR(held(1) / none, 0.5, 0.02);  // a third, and a quarter of two thirds
  EXPECT_EQ(held(2), held(1));
  EXPECT_NEAR(held(3) / none, 0.25, 0.02);
  EXPECT_GT(count(parallelise(gpt, {.data = 4, .zero = 2}).module, "reduce_scatter_across"), 30);
  EXPECT_EQ(count(parallelise(gpt, {.data = 4, .zero = 1}).module, "reduce_scatter_across"), 0);
}

TEST(Distribution, RecomputingHoldsLessAndGivesTheSameBits) {
  Gpt g = small();
  g.sequence = 12;
  const Program gpt = build_gpt(g);
  const auto memory = [&](Recompute r) { return peak(parallelise(gpt, {.microbatches = 2, .recompute = r}).module); };
  EXPECT_LT(memory(Recompute::selective), memory(Recompute::none));
  EXPECT_LT(memory(Recompute::full), memory(Recompute::selective));
  for (Recompute r : {Recompute::selective, Recompute::full}) {
    EXPECT_EQ(difference(gpt, {.recompute = r}, 0, 1, true), "");
    EXPECT_EQ(difference(gpt, {.data = 2, .tensor = 2, .pipeline = 2, .microbatches = 3, .recompute = r}, kRounding, 1, true), "");
    EXPECT_EQ(difference(gpt, {.pipeline = 2, .microbatches = 3, .schedule = "ZB-H1", .recompute = r, .recomputed_layers = {1, 3}},
                         kRounding, 1, true),
              "");
  }
}

TEST(Distribution, OffChip) {
  Gpt g = small();
  g.optimizer.kind = Optimizer::adam;
  const Program gpt = build_gpt(g);
  const Strategy pipe{.data = 2, .pipeline = 2, .microbatches = 3};
  Strategy s = pipe;
  s.offload_activations = true;
  EXPECT_LT(peak(parallelise(gpt, s).module), peak(parallelise(gpt, pipe).module));
  EXPECT_EQ(difference(gpt, s, kRounding, 1, true), "");
  s.offload_optimizer = true;
  EXPECT_EQ(difference(gpt, s, kRounding, 1, true), "");
  const Distributed d = parallelise(gpt, s);
  EXPECT_EQ(d.remote.size() % 4, 0u);
  for (const Piece& p : d.remote) EXPECT_TRUE(d.module.state(ir::StateId(p.part)).buffer.valid());
  s.offload_weights = true;
  for (std::int32_t zero : {0, 1, 3}) {
    s.zero = zero;
    EXPECT_EQ(difference(gpt, s, kRounding, 1, true), "") << zero;
  }
  s.schedule = "ZB-H1";
  s.recompute = Recompute::full;
  EXPECT_EQ(difference(gpt, s, kRounding, 1, true), "");
  EXPECT_EQ(difference(gpt, {.offload_weights = true, .offload_optimizer = true, .offload_activations = true}, 0, 1, true), "");
}

TEST(Distribution, UnevenStages) {
  const Program mlp = build_mlp({.layers = 5, .width = 4, .batch = 12, .learning_rate = 0.5});
  EXPECT_EQ(difference(mlp, {.pipeline = 2, .microbatches = 3, .layers_per_stage = {4, 1}}, 0, 1), "");
  EXPECT_EQ(difference(mlp, {.pipeline = 3, .microbatches = 3}, 0, 1), "");
  EXPECT_EQ(rejection(mlp, {.pipeline = 2, .microbatches = 3, .layers_per_stage = {4, 2}}), "layers-per-stage");
  EXPECT_EQ(rejection(mlp, {.pipeline = 6, .microbatches = 6}), "stages");
}

TEST(Distribution, AScheduleFromATable) {
  const Program mlp = build_mlp({.layers = 4, .width = 4, .batch = 12, .learning_rate = 0.5});
  Strategy s{.pipeline = 2, .microbatches = 3};
  s.table = schedule::read_csv("0F0,0F1,0F2,,0B2,0B1,0B0\n1F0,1F1,1F2,1B2,1B1,1B0\n");
  EXPECT_EQ(difference(mlp, s, 0, 1), "");
  s.table = schedule::read_csv("0F0,0F1,0F2,0B2,0B1,0B0\n1F0,1F1,1F2,1B2,1B1\n");
  EXPECT_EQ(rejection(mlp, s), "schedule");
  s.microbatches = 2;
  EXPECT_EQ(rejection(mlp, s), "schedule");
}

TEST(Distribution, WhatDoesNotDivideIsNamed) {
  const Program mlp = build_mlp({.layers = 4, .width = 4, .batch = 12});
  EXPECT_EQ(rejection(mlp, {.data = 5}), "degree-does-not-divide");
  EXPECT_EQ(rejection(mlp, {.data = 4, .pipeline = 2, .microbatches = 2}), "degree-does-not-divide");
  EXPECT_EQ(rejection(mlp, {.data = 0}), "degree");
  EXPECT_EQ(rejection(mlp, {.tensor = 3, .cut = {{"w0", 1}}}), "degree-does-not-divide");
  EXPECT_EQ(rejection(mlp, {.data = 2, .zero = 4}), "zero");
  EXPECT_EQ(rejection(mlp, {.data = 2, .first_device = -1}), "first-device");
  EXPECT_EQ(rejection(mlp, {.data = 2, .first_device = std::numeric_limits<std::int32_t>::max()}), "first-device");
  EXPECT_EQ(rejection(mlp, {.recompute = Recompute::full, .recomputed_layers = {0, 3}}), "accepted");
  EXPECT_EQ(rejection(mlp, {.recompute = Recompute::full, .recomputed_layers = {0, 4}}), "recompute-layers");
  EXPECT_EQ(rejection(mlp, {.recomputed_layers = {1}}), "recompute-layers");
}

TEST(Distribution, WeightsAreCutAsSaid) {
  const Program mlp = build_mlp({.layers = 4, .width = 4, .batch = 12, .learning_rate = 0.5});
  // Rows first: a sum behind the first layer, and columns, rows from there.
  EXPECT_EQ(difference(mlp, {.tensor = 2, .cut = {{"w0", 0}, {"w3", -1}}}, 0, 3), "");
  EXPECT_EQ(difference(mlp, {.tensor = 4, .cut = {{"w0", 1}, {"w1", 1}}}, 0, 3), "");
  // A star stands for any text; a name that is there whole goes before it.
  const auto program = [&](std::map<std::string, std::int32_t> cut) {
    return ir::print(parallelise(mlp, {.tensor = 2, .cut = std::move(cut)}).module);
  };
  EXPECT_EQ(program({{"w*", 0}}), program({{"w0", 0}, {"w1", 0}, {"w2", 0}, {"w3", 0}}));
  EXPECT_EQ(program({{"w*", 0}, {"w2", 1}}), program({{"w0", 0}, {"w1", 0}, {"w2", 1}, {"w3", 0}}));
  for (const char* wrong : {"w4", "*w", "x", "w0*0"}) EXPECT_EQ(rejection(mlp, {.tensor = 2, .cut = {{wrong, 0}}}), "cut") << wrong;
  EXPECT_EQ(rejection(mlp, {.tensor = 2, .cut = {{"w0", 2}}}), "cut");
  EXPECT_EQ(rejection(mlp, {.tensor = 2, .cut = {{"w0", -2}}}), "cut");
}

// Each stage's optimizer lies where its weights lie.
TEST(Distribution, StatesLieWithTheirWeights) {
  Gpt g = small();
  g.optimizer.kind = Optimizer::adam;
  const Program gpt = build_gpt(g);
  const ir::Module m = parallelise(gpt, {.pipeline = 2, .microbatches = 3}).module;
  std::map<std::string, std::int32_t> weights;
  std::size_t states = 0;
  const auto parts_of_name = [&](ir::ValueId v) {
    const std::string& name = m.name_of(v);
    return name.substr(0, name.rfind('.'));
  };
  for (ir::ValueId v : m.graph(m.main_graph()).inputs) weights[parts_of_name(v)] = m.type_of(v).place.device.value;
  std::map<std::int32_t, int> by_device;
  for (const auto& [name, device] : weights) {
    if (!name.ends_with(".m")) continue;
    EXPECT_EQ(weights.at(name.substr(0, name.size() - 2)), device) << name;
    ++states, ++by_device[device];
  }
  EXPECT_GT(states, 20u);
  EXPECT_EQ(by_device.size(), 2u);
  EXPECT_EQ(difference(gpt, {.pipeline = 2, .microbatches = 3}, kRounding, 3, true), "");
}

// Another order gives the same program with other numbers: neighbours on the last axis are next to each other.
TEST(Distribution, DevicesAreNumberedInAnOrder) {
  const Program gpt = build_gpt(small());
  const Strategy s{.data = 3, .tensor = 2, .pipeline = 2, .microbatches = 2};
  const auto groups = [&](std::vector<std::string> order) {
    Strategy o = s;
    o.order = std::move(order);
    const ir::Module m = parallelise(gpt, o).module;
    std::set<std::vector<std::int32_t>> all;
    for (ir::OpId op : m.graph(m.main_graph()).ops) {
      if (m.row(op).name != "all_reduce_across") continue;
      std::vector<std::int32_t> devices;
      for (ir::TypeId e : m.type_of(m.operand(op, 0)).elements) devices.push_back(m.type(e).place.device.value);
      all.insert(devices);
    }
    return all;
  };
  EXPECT_TRUE(groups({}).contains({1, 3}));
  EXPECT_TRUE(groups({}).contains({1, 5, 9}));
  EXPECT_TRUE(groups({"pipeline", "tensor"}).contains({1, 2}));
  EXPECT_TRUE(groups({"tensor", "pipeline", "data"}).contains({1, 2, 3}));
  EXPECT_TRUE(groups({"tensor", "pipeline", "data"}).contains({1, 7}));
  EXPECT_EQ(groups({"data", "tensor", "pipeline"}), groups({}));
  for (const auto& order : std::vector<std::vector<std::string>>{{"pipeline", "data", "tensor"}, {"tensor", "pipeline", "data"}}) {
    Strategy o = s;
    o.order = order;
    EXPECT_EQ(difference(gpt, o, kRounding, 3, true), "");
  }
  for (const auto& order : std::vector<std::vector<std::string>>{{"samples"}, {"data", "data"}, {""}}) {
    Strategy o = s;
    o.order = order;
    EXPECT_EQ(rejection(gpt, o), "order");
  }
}

TEST(Distribution, TextIsAnnotated) {
  const Program mlp = build_mlp({.layers = 4, .width = 4, .batch = 12, .learning_rate = 0.5});
  const Program read = annotate(ir::parse(ir::print(mlp.module)), {});
  EXPECT_EQ(read.batch_dim, mlp.batch_dim);
  for (ir::OpId o : mlp.module.graph(mlp.module.main_graph()).ops) {
    if (mlp.phase_of(o) == Phase::forward && mlp.module.row(o).name != "squared_loss_grad")
      EXPECT_EQ(read.layer_of(o), mlp.layer_of(o)) << o.value;
  }
  EXPECT_EQ(difference(read, {.data = 2, .tensor = 2, .pipeline = 2, .microbatches = 3}, 0, 3), "");
  Gpt g = small();
  g.optimizer.kind = Optimizer::adam;
  const Program gpt = annotate(ir::parse(ir::print(build_gpt(g).module)), {{{"tokens", 0}, {"labels", 0}}, {}, {}, {}});
  EXPECT_EQ(difference(gpt, {.data = 2, .tensor = 2, .pipeline = 4, .microbatches = 3, .zero = 1}, kRounding, 3, true), "");
  const Program built = build_gpt(g);
  for (const Strategy& s : {Strategy{.data = 2, .zero = 2}, {.data = 2, .microbatches = 3}})
    EXPECT_EQ(histogram(parallelise(gpt, s).module), histogram(parallelise(built, s).module));
  EXPECT_THROW(annotate(ir::parse(ir::print(mlp.module)), {{{"nobody", 0}}, {}, {}, {}}), ModelError);
}

TEST(Distribution, WhatIsDistributedIsNotDistributedAgain) {
  const Program mlp = build_mlp({.layers = 4, .width = 4, .batch = 12});
  for (const Strategy& s : {Strategy{.data = 2}, {.tensor = 2}, {.pipeline = 2, .microbatches = 2}}) {
    Program again;
    again.module = parallelise(mlp, s).module;
    EXPECT_EQ(rejection(again, {}), "devices");
  }
  const Program once = annotate(parallelise(mlp, {.first_device = 3}).module, {{{"x.3", 0}, {"z.3", 0}}, {}, {}, {}});
  EXPECT_EQ(rejection(once, {.data = 2}), "accepted");
}

// A network without training, as it is imported: weights have data, what they are used on has none.
TEST(Distribution, InferenceIsDistributedToo) {
  const Program p = annotate(ir::parse(R"(module
variable "x" input 0: Tensor[(12, 4), float64]
variable "w" input 1: Tensor[(4, 2), float64] = float64(4, 2)[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
variable "b" input 2: Tensor[(2), float64] = float64(2)[1.0, -9.0]
variable "v" input 3: Tensor[(2, 4), float64] = float64(2, 4)[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]

graph main(x: Tensor[(12, 4), float64], w: Tensor[(4, 2), float64], b: Tensor[(2), float64], v: Tensor[(2, 4), float64]):
    y: Tensor[(12, 2), float64] = matmul(x, w)
    z: Tensor[(12, 2), float64] = add(y, b)
    a: Tensor[(12, 2), float64] = relu(z)
    o: Tensor[(12, 4), float64] = matmul(a, v)
    return o
)"),
                             {});
  EXPECT_EQ(p.batch_dim, (std::vector<std::int32_t>{0, -1, -1, -1}));
  for (const Strategy& s : {Strategy{.data = 3}, {.data = 3, .tensor = 2}, {.data = 2, .tensor = 2, .pipeline = 2, .microbatches = 3}})
    EXPECT_EQ(difference(p, s, 0, 1), "");
  const Distributed d = parallelise(p, {.tensor = 2});
  EXPECT_EQ(count(d.module, "all_reduce_across"), 1);
  // Variables begin with their parts of the data.
  ir::Interpreter parts(d.module);
  std::vector<double> columns;
  for (const Piece& piece : d.inputs) {
    if (piece.whole == 1) columns.push_back(parts.state(ir::StateId(piece.part), 0).number(0));
  }
  EXPECT_EQ(columns, (std::vector<double>{1, 2}));
}

// As exporters write dense layers: the product takes the weight transposed.
TEST(Distribution, TransposedWeightsAreCut) {
  const Program p = annotate(ir::parse(R"(module
graph main(x: Tensor[(12, 4), float64], w: Tensor[(8, 4), float64], v: Tensor[(6, 8), float64], u: Tensor[(2, 6), float64]):
    wt: Tensor[(4, 8), float64] = transpose(w, permutation=[1, 0])
    a: Tensor[(12, 8), float64] = matmul(x, wt)
    r: Tensor[(12, 8), float64] = relu(a)
    vt: Tensor[(8, 6), float64] = transpose(v, permutation=[1, 0])
    b: Tensor[(12, 6), float64] = matmul(r, vt)
    s: Tensor[(12, 6), float64] = relu(b)
    ut: Tensor[(6, 2), float64] = transpose(u, permutation=[1, 0])
    o: Tensor[(12, 2), float64] = matmul(s, ut)
    return o
)"),
                             {{{"x", 0}}, {}, {}, {}});
  const Distributed d = parallelise(p, {.tensor = 2});
  EXPECT_EQ(count(d.module, "all_reduce_across"), 1);
  EXPECT_EQ(count(d.module, "all_gather_across"), 0);
  std::map<std::string, ir::Shape> shapes;
  for (ir::ValueId v : d.module.graph(d.module.main_graph()).inputs) shapes[d.module.name_of(v)] = d.module.type_of(v).shape;
  EXPECT_EQ(shapes.at("w.1"), (ir::Shape{4, 4}));
  EXPECT_EQ(shapes.at("v.1"), (ir::Shape{6, 4}));
  EXPECT_EQ(shapes.at("u.1"), (ir::Shape{1, 6}));
  for (const Strategy& s : {Strategy{.tensor = 2},
                            {.data = 3, .tensor = 2},
                            {.tensor = 2, .pipeline = 3, .microbatches = 2},
                            {.tensor = 2, .cut = {{"w", -1}}},
                            {.tensor = 2, .cut = {{"w", 1}}}}) {
    EXPECT_EQ(difference(p, s, 0, 1), "");
  }
  EXPECT_EQ(rejection(p, {.pipeline = 4}), "stages");
}

// Images: samples and channels are cut, layers begin at convolutions.
TEST(Distribution, ConvolutionsAreDistributed) {
  const Program p = annotate(ir::parse(R"(module
graph main(x: Tensor[(4, 2, 6, 6), float64], w: Tensor[(4, 2, 3, 3), float64], b: Tensor[(4), float64], v: Tensor[(6, 4, 3, 3), float64], g: Tensor[(6, 1, 3, 3), float64]):
    a: Tensor[(4, 4, 6, 6), float64] = conv(x, w, padding=[1, 1, 1, 1])
    b4: Tensor[(1, 4, 1, 1), float64] = reshape(b, shape=[1, 4, 1, 1])
    c: Tensor[(4, 4, 6, 6), float64] = add(a, b4)
    r: Tensor[(4, 4, 6, 6), float64] = relu(c)
    m: Tensor[(4, 4, 3, 3), float64] = max_pool(r, kernel_size=[2, 2], stride=[2, 2])
    d: Tensor[(4, 6, 3, 3), float64] = conv(m, v, padding=[1, 1, 1, 1])
    e: Tensor[(4, 6, 1, 1), float64] = conv(d, g)
    f: Tensor[(4, 6, 1, 1), float64] = average_pool(e, kernel_size=[1, 1], stride=[1, 1])
    return f
)"),
                             {{{"x", 0}}, {}, {}, {}});
  EXPECT_EQ(count(parallelise(p, {.data = 2}).module, "all_gather_across"), 0);
  EXPECT_EQ(count(parallelise(p, {.tensor = 2}).module, "all_reduce_across"), 1);
  for (const Strategy& s : {Strategy{.data = 4},
                            {.tensor = 2},
                            {.data = 2, .tensor = 2, .microbatches = 2},
                            {.pipeline = 3, .microbatches = 4},
                            {.data = 2, .tensor = 2, .pipeline = 2, .microbatches = 2}}) {
    EXPECT_EQ(difference(p, s, 0, 1), "");
  }
}

// Labels 0 are left out, so microbatches and devices have different numbers of labels: the mean's divisor is that of all.
TEST(Distribution, AMeanThatLeavesLabelsOutIsThatOfAllSamples) {
  Gpt g = small();
  g.ignored_label = 0;
  const Program gpt = build_gpt(g);
  for (const Strategy& s : {Strategy{.data = 2},
                            {.microbatches = 3},
                            {.data = 2, .tensor = 2, .pipeline = 2, .microbatches = 3},
                            {.microbatches = 2, .context = 2},
                            {.data = 2, .pipeline = 4, .microbatches = 3, .schedule = "ZB-H1", .zero = 3, .recompute = Recompute::full},
                            {.microbatches = 4, .offload_weights = true, .offload_activations = true}}) {
    EXPECT_EQ(difference(gpt, s, kRounding, 5, true), "");
  }
  // It is not the mean of the microbatches' means, nor that of all labels.
  g.ignored_label.reset();
  const Program all = build_gpt(g);
  const auto loss = [](const Program& p) {
    std::vector<ir::HostValue> inputs;
    for (const ir::HostTensor& t : testing::data_for(p, 5, true)) inputs.push_back({t, {}});
    return ir::Interpreter(p.module).run_graph(p.module.main_graph(), inputs)[0].tensor.number(0);
  };
  EXPECT_GT(std::fabs(loss(gpt) - loss(all)), 1e-6);
}

constexpr const char* kLeavesOut = R"(module
variable "x" input 0: Tensor[(12, 4), float64]
variable "labels" input 1: Tensor[(12), int32]
variable "w" input 2: Tensor[(4, 6), float64]
variable "v" input 3: Tensor[(6, 5), float64]

graph main(x: Tensor[(12, 4), float64], labels: Tensor[(12), int32], w: Tensor[(4, 6), float64], v: Tensor[(6, 5), float64]):
    y: Tensor[(12, 6), float64] = matmul(x, w)
    a: Tensor[(12, 6), float64] = relu(y)
    logits: Tensor[(12, 5), float64] = matmul(a, v)
    p: Tensor[(12, 5), float64] = softmax(logits, axis=1)
    two: Tensor[(6, 2), int32] = reshape(labels, shape=[6, 2])
    flat: Tensor[(12), int32] = reshape(two, shape=[12])
    (l: float64, dp: Tensor[(12, 5), float64]) = nll_loss_with_softmax_grad(p, flat, ignore_index=0, loss_grad=0.5, reduction="mean")
    vt: Tensor[(5, 6), float64] = transpose(v, permutation=[1, 0])
    da: Tensor[(12, 6), float64] = matmul(dp, vt)
    at: Tensor[(6, 12), float64] = transpose(a, permutation=[1, 0])
    dv: Tensor[(6, 5), float64] = matmul(at, dp)
    v1: Tensor[(6, 5), float64] = sub(v, dv)
    dy: Tensor[(12, 6), float64] = relu_grad(y, da)
    xt: Tensor[(4, 12), float64] = transpose(x, permutation=[1, 0])
    dw: Tensor[(4, 6), float64] = matmul(xt, dy)
    w1: Tensor[(4, 6), float64] = sub(w, dw)
    return l
    final w = w1
    final v = v1
)";

TEST(Distribution, LabelsThatAreLeftOutAreCountedAheadAsTheyAreMade) {
  const ir::Module whole = ir::parse(kLeavesOut);
  const Program p = annotate(ir::parse(kLeavesOut), {{{"x", 0}, {"labels", 0}}, {}, {}, {}});
  std::vector<ir::HostValue> inputs;
  for (const ir::HostTensor& t : testing::data_for(p, 3, true)) inputs.push_back({t, {}});
  const auto as_written = ir::Interpreter(whole).run_graph(whole.main_graph(), inputs),
             flat = ir::Interpreter(p.module).run_graph(p.module.main_graph(), inputs);
  EXPECT_LT(farthest(as_written, flat), 1e-14);
  for (const Strategy& s : {Strategy{.data = 2},
                            {.microbatches = 6},
                            {.data = 2, .pipeline = 2, .microbatches = 3},
                            {.tensor = 2, .pipeline = 2, .microbatches = 2}}) {
    EXPECT_EQ(difference(p, s, kRounding, 3, true), "");
  }
  // All are left out: the divisor is 1, nothing is learnt.
  std::vector<ir::HostValue> none = inputs;
  none[1].tensor = ir::HostTensor(ir::DType::int32, {12});
  EXPECT_EQ(farthest(ir::Interpreter(whole).run_graph(whole.main_graph(), none),
                     ir::Interpreter(p.module).run_graph(p.module.main_graph(), none)),
            0);
}

// Samples and labels come by streams, the loss goes by one; weights are variables, updated in place.
constexpr const char* kStreams = R"(module
stream 0 "x" to device: Tensor[(12, 4), float64]
stream 1 "z" to device: Tensor[(12, 4), float64]
stream 2 "loss" to host: float64
variable "w0" input 0: Tensor[(4, 8), float64]
variable "w1" input 1: Tensor[(8, 4), float64]

graph main(w0: Tensor[(4, 8), float64], w1: Tensor[(8, 4), float64]):
    x: Tensor[(12, 4), float64] = host_load(stream=@stream0)
    z: Tensor[(12, 4), float64] = host_load(stream=@stream1)
    y: Tensor[(12, 8), float64] = matmul(x, w0)
    a: Tensor[(12, 8), float64] = relu(y)
    b: Tensor[(12, 4), float64] = matmul(a, w1)
    d: Tensor[(12, 4), float64] = sub(b, z)
    s: Tensor[(12, 4), float64] = mul(d, d)
    l: float64 = sum(s, axis=[0, 1], keepdims=false)
    host_store(l, stream=@stream2)
    dd: Tensor[(12, 4), float64] = add(d, d)
    w1t: Tensor[(4, 8), float64] = transpose(w1, permutation=[1, 0])
    da: Tensor[(12, 8), float64] = matmul(dd, w1t)
    at: Tensor[(8, 12), float64] = transpose(a, permutation=[1, 0])
    dw1: Tensor[(8, 4), float64] = matmul(at, dd)
    u1: Tensor[(8, 4), float64] = sub(w1, dw1)
    w1n: Tensor[(8, 4), float64] = copy_var_update_(w1, u1)
    dy: Tensor[(12, 8), float64] = relu_grad(y, da)
    xt: Tensor[(4, 12), float64] = transpose(x, permutation=[1, 0])
    dw0: Tensor[(4, 8), float64] = matmul(xt, dy)
    u0: Tensor[(4, 8), float64] = sub(w0, dw0)
    w0n: Tensor[(4, 8), float64] = copy_var_update_(w0, u0)
    return
    final w0 = w0n
    final w1 = w1n
)";

ir::HostTensor integers(ir::Shape shape, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  ir::HostTensor t(ir::DType::float64, std::move(shape));
  for (std::int64_t i = 0; i < t.elements(); ++i) t.set(i, static_cast<double>(random() % 5) - 2);
  return t;
}

// One step with samples `x` and what they are to be: the loss and the weights, to `tolerance`.
void expect_equal_by_streams(const char* program, const ir::HostTensor& x, const ir::HostTensor& z, double tolerance) {
  const Program p = annotate(ir::parse(program), {});
  const ir::HostTensor w0 = integers({4, 8}, 3), w1 = integers({8, 4}, 4);
  ir::Interpreter whole(p.module);
  whole.set_input(ir::HostStreamId(0), x);
  whole.set_input(ir::HostStreamId(1), z);
  whole.set_state(ir::StateId(0), 0, w0);
  whole.set_state(ir::StateId(1), 0, w1);
  whole.run();
  for (const Strategy& s : {Strategy{.data = 2},
                            {.data = 3, .tensor = 2},
                            {.data = 2, .tensor = 2, .pipeline = 2, .microbatches = 3},
                            {.tensor = 4, .pipeline = 2, .microbatches = 4}}) {
    const Distributed d = parallelise(p, s);
    ir::Interpreter parts(d.module);
    std::map<std::uint32_t, ir::HostTensor> data;
    for (const Piece& piece : d.streams) {
      const ir::HostStream& stream = d.module.stream(ir::HostStreamId(piece.part));
      const ir::HostTensor& all = piece.whole == 0 ? x : z;
      const ir::HostTensor from = all.reshaped(ir::Shape(all.shape().begin() + 2, all.shape().end()));
      ir::Shape shape = stream.shape, to_place(stream.shape.size() + 2, 0);
      shape.insert(shape.begin(), {s.microbatches, 1});
      to_place[0] = piece.load;
      auto& to = data.try_emplace(piece.part, from.dtype(), shape).first->second;
      put_part(to, part_of(from, piece.start, stream.shape).reshaped([&] {
        shape[0] = 1;
        return shape;
      }()),
               to_place);
    }
    for (auto& [stream, t] : data) parts.set_input(ir::HostStreamId(stream), t);
    for (const Piece& piece : d.inputs) {
      const ir::Type type = d.module.type_of(d.module.graph(d.module.main_graph()).inputs[piece.part]);
      parts.set_state(ir::StateId(piece.part), 0, part_of(piece.whole == 0 ? w0 : w1, piece.start, type.shape));
    }
    parts.run();
    for (std::uint32_t w : {0u, 1u}) {
      std::vector<ir::HostValue> found(d.module.state_count());
      for (const Piece& piece : d.inputs) found[piece.part].tensor = parts.state(ir::StateId(piece.part), 0);
      const ir::HostTensor joined = join(d.inputs, w, p.module.type_of(p.module.graph(p.module.main_graph()).inputs[w]), found);
      EXPECT_LE(farthest({{joined, {}}}, {{whole.state(ir::StateId(w), 0), {}}}), tolerance);
    }
    ir::HostStreamId loss;
    for (std::uint32_t i = 0; i < d.module.stream_count(); ++i) {
      if (d.module.stream(ir::HostStreamId(i)).name == "loss") loss = ir::HostStreamId(i);
    }
    EXPECT_LE(farthest({{parts.output(loss, 1), {}}}, {{whole.output(ir::HostStreamId(2), 1), {}}}), tolerance);
  }
}

TEST(Distribution, HostDataGoToTheRanksThatNeedIt) {
  expect_equal_by_streams(kStreams, integers({1, 1, 12, 4}, 1), integers({1, 1, 12, 4}, 2), 0);
}

// The same network with classes: every label is loaded before the first microbatch runs, so that those that count are counted.
TEST(Distribution, LabelsOfAStreamAreLoadedAheadWhereTheyAreCounted) {
  std::string text = kStreams;
  const auto put = [&](const std::string& from, const std::string& to) {
    ASSERT_NE(text.find(from), std::string::npos) << from;
    text.replace(text.find(from), from.size(), to);
  };
  put("stream 1 \"z\" to device: Tensor[(12, 4), float64]", "stream 1 \"z\" to device: Tensor[(12), int32]");
  put("z: Tensor[(12, 4), float64] = host_load", "z: Tensor[(12), int32] = host_load");
  put("d: Tensor[(12, 4), float64] = sub(b, z)", "d: Tensor[(12, 4), float64] = softmax(b, axis=1)");
  put("s: Tensor[(12, 4), float64] = mul(d, d)",
      "(l: float64, dd: Tensor[(12, 4), float64]) = nll_loss_with_softmax_grad(d, z, ignore_index=2, reduction=\"mean\")");
  put("    l: float64 = sum(s, axis=[0, 1], keepdims=false)\n", "");
  put("    dd: Tensor[(12, 4), float64] = add(d, d)\n", "");
  ir::HostTensor labels(ir::DType::int32, {1, 1, 12});
  for (std::int64_t i = 0; i < 12; ++i) labels.set_integer(i, i < 4 ? 2 : i * i % 4);
  expect_equal_by_streams(text.c_str(), integers({1, 1, 12, 4}, 1), labels, 1e-12);
}

// A step's ops in terms of others, distributed or not: what lowering gets.
TEST(Distribution, TheOpsOfAStepExpand) {
  const Program mlp = build_mlp({.layers = 3, .width = 4, .batch = 6, .learning_rate = 0.5});
  Distributed d = parallelise(mlp, {.data = 2, .pipeline = 3, .microbatches = 3});
  const std::vector<ir::HostTensor> data = testing::data_for(mlp, 1);
  const auto whole = ir::Interpreter(d.module).run_graph(d.module.main_graph(), cut_inputs(d, data));
  EXPECT_GT(expand(d.module), 0u);
  EXPECT_EQ(count(d.module, "sgd") + count(d.module, "matmul_grad") + count(d.module, "squared_loss"), 0);
  EXPECT_EQ(to_string(ir::verify(d.module)), "");
  const auto parts = ir::Interpreter(d.module).run_graph(d.module.main_graph(), cut_inputs(d, data));
  ASSERT_EQ(whole.size(), parts.size());
  for (std::size_t i = 0; i < whole.size(); ++i) EXPECT_EQ(whole[i].tensor, parts[i].tensor) << i;
}

// PANDO_FUZZ_ROUNDS and PANDO_FUZZ_SEED: more of them, others.
std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text ? std::stoull(text) : otherwise;
}

TEST(Distribution, RandomProgramsAndDegrees) {
  std::mt19937_64 random(from_environment("PANDO_FUZZ_SEED", 2026));
  const std::uint64_t rounds = from_environment("PANDO_FUZZ_ROUNDS", 60);
  const auto any = [&](std::initializer_list<std::int64_t> list) {
    return *(list.begin() + static_cast<std::ptrdiff_t>(random() % list.size()));
  };
  const auto degree = [&](std::initializer_list<std::int64_t> list) { return static_cast<std::int32_t>(any(list)); };
  for (std::uint64_t i = 0; i < rounds; ++i) {
    Strategy s;
    s.data = degree({1, 2, 3});
    s.tensor = degree({1, 2, 4});
    s.pipeline = degree({1, 2, 3});
    s.microbatches = degree({1, 2, 4});
    s.schedule = std::vector<std::string>{"GPipe", "1F1B", "eager-1F1B", "ZB-H1"}[random() % 4];
    s.zero = degree({0, 0, 1, 2, 3});
    s.recompute = static_cast<Recompute>(random() % 3);
    s.offload_weights = random() % 4 == 0;
    s.offload_optimizer = random() % 4 == 0;
    s.offload_activations = random() % 4 == 0;
    const bool mlp = i % 2 == 0;
    Gpt g = small();
    g.layers = any({2, 3, 5});
    g.heads = any({2, 4});
    g.width = g.heads * any({2, 3, 4});
    g.sequence = any({2, 4, 6});
    g.batch = s.data * s.microbatches * any({1, 2, 6});
    g.experts = any({0, 0, 2});
    g.optimizer.kind = random() % 2 ? Optimizer::adam : Optimizer::sgd;
    if (!mlp) {
      s.expert = g.experts > 0 && g.batch % (2 * s.data * s.microbatches) == 0 ? degree({1, 2}) : 1;
      s.context = degree({1, 2});
      s.sequence_parallel = random() % 2 && s.context == 1;
    }
    SCOPED_TRACE(fmt::format("round {}: {} D{} T{} P{} K{} E{} C{} zero {} {} recompute {} sp {}", i, mlp ? "mlp" : "gpt", s.data, s.tensor,
                             s.pipeline, s.microbatches, s.expert, s.context, s.zero, s.schedule, static_cast<int>(s.recompute),
                             s.sequence_parallel));
    const Mlp m{any({3, 4, 7}), any({4, 8, 12}), s.data * s.microbatches * any({1, 3}), ir::DType::float64, 0.5};
    EXPECT_EQ(difference(mlp ? build_mlp(m) : build_gpt(g), s, mlp ? 0 : kRounding, random(), !mlp), "");
  }
}

}  // namespace
}  // namespace pando::models
