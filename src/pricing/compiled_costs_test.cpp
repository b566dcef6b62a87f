#include "pricing/compiled_costs.h"

#include <gmock/gmock.h>
#include <poplar/exceptions.hpp>

#include "base/files/testing.h"
#include "ir/checks/verify.h"
#include "ir/op_row.h"
#include "ir/text/parse.h"
#include "ir/text/print.h"
#include "session/session.h"
#include "simulate/costs/flatten.h"
#include "simulate/ipu_cluster.h"
#include "simulate/simulate.h"

namespace pando::pricing {
namespace {

using ir::OpId;

// Two devices with the same work, a sum over both, updates.
constexpr const char* kStep = R"(module
variable "x.1" input 0: Tensor[(16, 32), float32, 1]
variable "x.2" input 1: Tensor[(16, 32), float32, 2]
variable "w.1" input 2: Tensor[(32, 32), float32, 1]
variable "w.2" input 3: Tensor[(32, 32), float32, 2]

graph main(x.1: Tensor[(16, 32), float32, 1], x.2: Tensor[(16, 32), float32, 2], w.1: Tensor[(32, 32), float32, 1], w.2: Tensor[(32, 32), float32, 2]):
    y.1: Tensor[(16, 32), float32, 1] = matmul(x.1, w.1)
    y.2: Tensor[(16, 32), float32, 2] = matmul(x.2, w.2)
    r.1: Tensor[(16, 32), float32, 1] = relu(y.1)
    r.2: Tensor[(16, 32), float32, 2] = relu(y.2)
    (d.1: Tensor[(16, 32), float32, 1], g.1: Tensor[(32, 32), float32, 1]) = matmul_grad(x.1, w.1, r.1)
    (d.2: Tensor[(16, 32), float32, 2], g.2: Tensor[(32, 32), float32, 2]) = matmul_grad(x.2, w.2, r.2)
    gs: Tuple[Tensor[(32, 32), float32, 1], Tensor[(32, 32), float32, 2]] = make_tuple(g.1, g.2)
    s: Tuple[Tensor[(32, 32), float32, 1], Tensor[(32, 32), float32, 2]] = all_reduce_across(gs, op="add")
    s.1: Tensor[(32, 32), float32, 1] = get_element(s, index=0)
    s.2: Tensor[(32, 32), float32, 2] = get_element(s, index=1)
    n.1: Tensor[(32, 32), float32, 1] = sgd(w.1, s.1, lr=0.1)
    n.2: Tensor[(32, 32), float32, 2] = sgd(w.2, s.2, lr=0.1)
    return r.1, r.2
    final w.1 = n.1
    final w.2 = n.2
)";

// Each op takes its number in the window.
class Counting : public WindowRunner {
 public:
  explicit Counting(std::vector<std::string>* texts, std::string fails = "") : texts_(texts), fails_(std::move(fails)) {}
  std::string key() const override { return "counting"; }
  double ticks_per_second() const override { return 1; }
  std::vector<std::uint64_t> run(Window w) override {
    texts_->push_back(ir::print(w.module));
    std::vector<std::uint64_t> ticks;
    for (std::size_t i = 0; i < w.ops.size(); ++i) ticks.push_back(i + 1);
    if (!fails_.empty() && texts_->back().find("o0: ") != std::string::npos) {
      for (const std::string& line : lines_of_core(texts_->back())) {
        if (line.find(fails_) != std::string::npos) throw poplar::poplar_error("tiles cannot compute " + fails_ + "\nand more");
      }
    }
    return ticks;
  }

 private:
  static std::vector<std::string> lines_of_core(const std::string& text) {
    std::vector<std::string> lines;
    std::size_t at = 0;
    while ((at = text.find("\n    o", at)) != std::string::npos) {
      const std::size_t end = text.find('\n', at + 1);
      lines.push_back(text.substr(at, end - at));
      at = end;
    }
    return lines;
  }
  std::vector<std::string>* texts_;
  std::string fails_;
};

const Store kNothingKept{std::nullopt, "prices of ops are"};

std::vector<std::string> names_of(const ir::Module& m, const Core& core) {
  std::vector<std::string> names;
  for (OpId o : core.ops) names.emplace_back(m.row(o).name);
  return names;
}

TEST(Windows, CoresAreStretchesOfOneDeviceAndOfTransfers) {
  const ir::Module m = ir::parse(kStep);
  const Cores cores = cores_of(m, m.main_graph());
  EXPECT_TRUE(cores.left_out.empty());
  ASSERT_EQ(cores.cores.size(), 5u);
  using testing::ElementsAre;
  EXPECT_THAT(names_of(m, cores.cores[0]), ElementsAre("matmul", "relu", "matmul_grad"));
  EXPECT_THAT(names_of(m, cores.cores[1]), ElementsAre("matmul", "relu", "matmul_grad"));
  EXPECT_THAT(names_of(m, cores.cores[2]), ElementsAre("all_reduce_across"));
  EXPECT_TRUE(cores.cores[2].crosses);
  EXPECT_THAT(names_of(m, cores.cores[3]), ElementsAre("sgd"));
}

// The product that decides how the weight lies stands by, and the update writes where the weight lies.
TEST(Windows, HoldWhatDecidesLayouts) {
  const ir::Module m = ir::parse(kStep);
  const Cores cores = cores_of(m, m.main_graph());
  const WindowCutter cutter(m, m.main_graph());
  const Window update = cutter.cut(cores.cores[3]);
  EXPECT_EQ(ir::print(update.module), R"(module
variable "i0" input 0: Tensor[(16, 32), float32, 0]
variable "i1" input 1: Tensor[(32, 32), float32, 0]
variable "i2" input 2: Tensor[(32, 32), float32, 0]

graph main(i0: Tensor[(16, 32), float32, 0], i1: Tensor[(32, 32), float32, 0], i2: Tensor[(32, 32), float32, 0]):
    h0: Tensor[(16, 32), float32, 0] = matmul(i0, i1)
    o0: Tensor[(32, 32), float32, 0] = sgd(i1, i2, lr=0.1)
    return h0
    final i1 = o0
)");
  // Of the other device: the same text. Windows are modules that the verifier takes, and sums of two devices are of devices 1 and 2 on one
  // card or none.
  EXPECT_EQ(ir::print(cutter.cut(cores.cores[4]).module), ir::print(update.module));
  EXPECT_EQ(ir::print(cutter.cut(cores.cores[0]).module), ir::print(cutter.cut(cores.cores[1]).module));
  EXPECT_EQ(cutter.cut(cores.cores[2]).devices, 3);
  for (const Core& c : cores.cores) EXPECT_NO_THROW(ir::parse(ir::print(cutter.cut(c).module)));
}

// Of sums that are made elsewhere, the elements come in: a window has no variables that are tuples.
TEST(Windows, HaveTensorsAsInputs) {
  const ir::Module m = ir::parse(R"(module
graph main(a: Tensor[(8), float32, 0], b: Tensor[(8), float32, 1]):
    t: Tuple[Tensor[(8), float32, 0], Tensor[(8), float32, 1]] = make_tuple(a, b)
    s: Tuple[Tensor[(8), float32, 0], Tensor[(8), float32, 1]] = all_reduce_across(t, op="add")
    s0: Tensor[(8), float32, 0] = get_element(s, index=0)
    s1: Tensor[(8), float32, 1] = get_element(s, index=1)
    r0: Tensor[(8), float32, 0] = relu(s0)
    r1: Tensor[(8), float32, 1] = relu(s1)
    u: Tuple[Tensor[(8), float32, 0], Tensor[(8), float32, 1]] = make_tuple(r0, r1)
    v: Tuple[Tensor[(8), float32, 0], Tensor[(8), float32, 1]] = all_reduce_across(u, op="add")
    x: Tuple[Tensor[(8), float32, 0], Tensor[(8), float32, 1]] = all_reduce_across(s, op="mul")
    v0: Tensor[(8), float32, 0] = get_element(v, index=0)
    x0: Tensor[(8), float32, 0] = get_element(x, index=0)
    return v0, x0
)");
  const Cores cores = cores_of(m, m.main_graph());
  ASSERT_EQ(cores.cores.size(), 4u);
  const WindowCutter cutter(m, m.main_graph());
  for (const Core& c : cores.cores) {
    const Window w = cutter.cut(c);
    for (ir::ValueId input : w.module.graph(w.module.main_graph()).inputs) EXPECT_TRUE(w.module.type_of(input).is_tensor());
  }
  const std::string second = ir::print(cutter.cut(cores.cores[3]).module);
  EXPECT_THAT(second, testing::HasSubstr("relu("));
  EXPECT_THAT(second, testing::ContainsRegex("= make_tuple.i[0-9], i[0-9].\n"));
  EXPECT_THAT(second, testing::Not(testing::HasSubstr("index=1")));
}

// What names devices beside its operands goes with them.
TEST(Windows, TransfersNameTheWindowsDevices) {
  const ir::Module m = ir::parse(R"(module

graph main(x: Tensor[(4, 4), float32, 4], y: Tensor[(4, 4), float32, 5]):
    a: Tensor[(4, 4), float32, 5] = send(x, device=5)
    t: Tuple[Tensor[(4, 4), float32, 4], Tensor[(4, 4), float32, 5]] = broadcast_across(y, devices=[4, 5])
    b: Tensor[(4, 4), float32, 4] = get_element(t, index=0)
    return a, b
)");
  const Cores cores = cores_of(m, m.main_graph());
  ASSERT_EQ(cores.cores.size(), 1u);
  const Window window = WindowCutter(m, m.main_graph()).cut(cores.cores[0]);
  const std::string text = ir::print(window.module);
  EXPECT_TRUE(ir::verify(window.module).empty()) << text;
  EXPECT_THAT(text, testing::AllOf(testing::HasSubstr("device=1"), testing::HasSubstr("devices=[0, 1]")));
}

TEST(Windows, NamesOfSteps) {
  EXPECT_EQ(op_of_step("o12/multiply"), 12);
  EXPECT_EQ(op_of_step("o3r1"), 3);
  EXPECT_EQ(op_of_step("o7__t0/add_up"), 7);
  EXPECT_EQ(op_of_step("h2"), kHalo);
  for (const char* other : {"", "o", "operand", "o1x", "compute", "i3", "x4"}) EXPECT_EQ(op_of_step(other), kUnknown) << other;
}

TEST(CompiledCosts, EqualPiecesAreCompiledOnce) {
  const ir::Module m = ir::parse(kStep);
  std::vector<std::string> texts;
  const simulate::ClusterCostModel formula(*simulate::ipu_cluster_named("ipu2:64"));
  const CompiledCostModel costs(formula, std::make_unique<Counting>(&texts), kNothingKept);
  const auto here = costs.of_module(m);
  EXPECT_EQ(texts.size(), 3u);
  std::vector<double> seconds;
  for (OpId o : m.graph(m.main_graph()).ops) {
    if (m.row(o).tuple == ir::Tuple::none) seconds.push_back(here->seconds(o));
  }
  EXPECT_THAT(seconds, testing::ElementsAre(1, 1, 2, 2, 3, 3, 1, 1, 1));
  EXPECT_EQ(costs.report(), "priced by what was compiled: 9 ops in 3 distinct pieces, 0 of them known from earlier runs\n");
}

// What cannot be compiled is found by halves; the rest is compiled, and the reason is said.
TEST(CompiledCosts, FallBackWithAReason) {
  const ir::Module m = ir::parse(kStep);
  std::vector<std::string> texts;
  const simulate::ClusterCostModel formula(*simulate::ipu_cluster_named("ipu2:64"));
  const CompiledCostModel costs(formula, std::make_unique<Counting>(&texts, "relu("), kNothingKept);
  const auto here = costs.of_module(m);
  for (OpId o : m.graph(m.main_graph()).ops) {
    if (m.row(o).name == "relu") EXPECT_EQ(here->seconds(o), formula.seconds(m, o));
    if (m.row(o).name == "matmul_grad") EXPECT_GE(here->seconds(o), 1);
  }
  EXPECT_THAT(costs.report(), testing::HasSubstr("priced by what was compiled: 7 ops"));
  EXPECT_THAT(costs.report(), testing::HasSubstr("priced by formula: 2 ops (2 relu): tiles cannot compute relu( and more\n"));
}

TEST(CompiledCosts, WhatLiesOffTheDeviceIsLeftOut) {
  const ir::Module m = ir::parse(R"(module
stream 0 "x" to device: Tensor[(8), float32]

graph main():
    x: Tensor[(8), float32, 0] = host_load(stream=@stream0)
    y: Tensor[(8), float32, 0] = relu(x)
    return y
)");
  std::vector<std::string> texts;
  const simulate::ClusterCostModel formula(*simulate::ipu_cluster_named("ipu2:64"));
  const CompiledCostModel costs(formula, std::make_unique<Counting>(&texts), kNothingKept);
  costs.of_module(m);
  EXPECT_THAT(costs.report(), testing::HasSubstr("priced by formula: 1 op (1 host_load): its data lie off the device\n"));
}

// Kept prices are those of the same text, machine and build; a damaged entry is compiled again.
struct KeptPrices : InFreshFolder {};

TEST_F(KeptPrices, AreFoundAgain) {
  const ir::Module m = ir::parse(kStep);
  const simulate::ClusterCostModel formula(*simulate::ipu_cluster_named("ipu2:64"));
  std::vector<std::string> texts;
  const auto compile = [&] {
    texts.clear();
    const CompiledCostModel costs(formula, std::make_unique<Counting>(&texts), Store(root, "prices are"));
    const auto here = costs.of_module(m);
    return costs.report();
  };
  EXPECT_THAT(compile(), testing::HasSubstr("0 of them known"));
  EXPECT_EQ(texts.size(), 3u);
  EXPECT_THAT(compile(), testing::HasSubstr("3 of them known"));
  EXPECT_TRUE(texts.empty());
  for (const auto& entry : std::filesystem::directory_iterator(root))
    std::filesystem::resize_file(entry.path(), file_size(entry.path()) - 1);
  EXPECT_THAT(compile(), testing::HasSubstr("0 of them known"));
  EXPECT_EQ(texts.size(), 3u);
}

// Why a piece cannot be compiled is kept; that this process had no memory is not.
TEST_F(KeptPrices, FailuresAreThoseOfThePiece) {
  struct WithoutMemory : Counting {
    using Counting::Counting;
    std::vector<std::uint64_t> run(Window) override { throw std::bad_alloc(); }
  };
  const ir::Module m = ir::parse(kStep);
  const simulate::ClusterCostModel formula(*simulate::ipu_cluster_named("ipu2:64"));
  std::vector<std::string> texts;
  const auto report = [&](std::unique_ptr<WindowRunner> runner) {
    texts.clear();
    const CompiledCostModel costs(formula, std::move(runner), Store(root, "prices are"));
    costs.of_module(m);
    return costs.report();
  };
  EXPECT_THAT(report(std::make_unique<WithoutMemory>(&texts)), testing::HasSubstr("bad_alloc"));
  EXPECT_THAT(report(std::make_unique<Counting>(&texts, "relu(")), testing::HasSubstr("2 relu): tiles cannot compute relu("));
  EXPECT_FALSE(texts.empty());
  EXPECT_THAT(report(std::make_unique<Counting>(&texts, "relu(")), testing::HasSubstr("2 relu): tiles cannot compute relu("));
  EXPECT_TRUE(texts.empty());
}

// The dumb check: the whole program compiled and run, and the sum of what its pieces cost.
TEST(CompiledCosts, AddUpToTheWholeProgram) {
  const ir::Module m = ir::parse(kStep);
  const simulate::Cluster cluster = *simulate::ipu_cluster_named("ipu2:64");
  const simulate::ClusterCostModel formula(cluster);
  const CompiledCostModel costs(formula, ipu_runner("ipu2", 64), kNothingKept);
  const simulate::Program p = simulate::flatten(m, costs);
  const double predicted = simulate::run_clock(p, cluster, {.overlap = costs.overlaps()}).seconds;
  session::Options options;
  options.tiles_per_ipu = 64;
  options.settings.set("plan_objective", std::string("cycles"));
  session::Session s(ir::Module(m), options);
  s.attach();
  s.reset_cycles();
  s.run({}, {});
  const double whole = static_cast<double>(s.cycles()) / s.clock_hz();
  EXPECT_NEAR(predicted / whole, 1, 0.05) << predicted << " s of pieces, " << whole << " s whole";
  // Cycles: the same every time.
  const CompiledCostModel again(formula, ipu_runner("ipu2", 64), kNothingKept);
  EXPECT_EQ(simulate::run_clock(simulate::flatten(m, again), cluster, {.overlap = false}).seconds, predicted);
}

TEST(CompiledCosts, OfThisHost) {
  const ir::Module m = ir::parse(kStep);
  const simulate::ClusterCostModel formula(*simulate::ipu_cluster_named("ipu2:64"));
  const CompiledCostModel costs(formula, host_runner(), kNothingKept);
  const auto here = costs.of_module(m);
  double sum = 0;
  for (OpId o : m.graph(m.main_graph()).ops) {
    if (m.row(o).tuple == ir::Tuple::none) sum += here->seconds(o);
  }
  EXPECT_GT(sum, 1e-7);
  EXPECT_LT(sum, 1);
}

TEST(CompiledCosts, RejectMachinesThatNothingIsCompiledFor) {
  const simulate::Cluster selene = simulate::cluster_named("selene");
  EXPECT_THROW(runner_of("selene", &selene), poplar::poplar_error);
  EXPECT_EQ(runner_of("ipu2:64", nullptr)->ticks_per_second(), 1.33e9);
  simulate::Cluster host;
  host.name = "host";
  EXPECT_EQ(runner_of("host.json", &host)->ticks_per_second(), 1e9);
}

}  // namespace
}  // namespace pando::pricing
