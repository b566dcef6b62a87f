// The execution contract, sentence 12: what is bound costs what receiving it costs; steps that may run tile by tile.
#include <gtest/gtest.h>

#include <sstream>

#include "cycles/cycle_model.h"
#include "setting.h"

namespace pando::contract {
namespace {

using namespace graph;

profile::Report report_of(const std::shared_ptr<const tile::Program>& program, const Library& library) {
  cycles::CycleModel model(program, library);
  exec::Options options;
  options.threads = 2;
  exec::Runner runner(program, library, options);
  runner.set_observer(&model);
  runner.run(0);
  profile::Report report;
  model.fill(report);
  return report;
}

std::uint64_t bytes_bound(const tile::Program& program) {
  std::uint64_t bytes = 0;
  for (const tile::ComputeStep& step : program.computes)
    for (const tile::Move& m : step.bound) bytes += std::uint64_t{m.bytes} * m.count;
  return bytes;
}

std::uint64_t exchanged(const profile::Report& report, const std::string& kind) {
  std::uint64_t bytes = 0;
  for (const profile::StepCycles& step : report.steps)
    if (step.kind == kind) bytes += step.exchanged_bytes;
  return bytes;
}

// Compiles what `make` builds with and without binding; all terms of all streams must be equal.
using Make = std::function<ProgramPtr(Setting&)>;
void expect_equal_costs(const Make& make, std::uint64_t bound, std::uint64_t at_compute, std::uint64_t at_exchange) {
  profile::Report reports[2];
  for (const bool bind : {true, false}) {
    Setting s(tiles(2, 4));
    const ProgramPtr p = make(s);
    compile::Options options;
    options.bind = bind;
    const auto program = s.compile({p}, options);
    EXPECT_EQ(bytes_bound(*program), bind ? bound : 0);
    reports[bind] = report_of(program, s.graph.library());
  }
  ASSERT_EQ(reports[0].streams.size(), reports[1].streams.size());
  for (std::size_t i = 0; i < reports[0].streams.size(); ++i) {
    EXPECT_EQ(reports[0].streams[i].cycles, reports[1].streams[i].cycles) << reports[0].streams[i].stream;
    EXPECT_EQ(reports[0].streams[i].finish, reports[1].streams[i].finish);
  }
  EXPECT_GT(reports[1].streams[0].cycles.exchange, 0u);
  EXPECT_EQ(exchanged(reports[1], "compute"), at_compute);
  EXPECT_EQ(exchanged(reports[1], "exchange"), at_exchange);
  EXPECT_EQ(exchanged(reports[0], "compute"), 0u);
  EXPECT_EQ(exchanged(reports[0], "exchange"), at_compute + at_exchange);
}

const std::vector<float> kEight = {1, 2, 3, 4, 5, 6, 7, 8};

TEST(Contract12, ABoundOperandCostsWhatReceivingItCosts) {
  expect_equal_costs(
      [](Setting& s) {
        const View x = s.variable("x", kEight, {0}), y = s.variable("y", 8, {1});
        return make_program(Repeat{3, sequence({s.add(x, x, 0), s.add(x, y, 1)})});
      },
      32, 3 * 32, 0);
}

// With `bind` off all of a compute set's operands come in one exchange: with it on there is one phase too.
TEST(Contract12, BoundAndReceivedOperandsOfOneStepAreOneExchangePhase) {
  expect_equal_costs(
      [](Setting& s) {
        const View x = s.variable("x", kEight, {0}), y = s.variable("y", 8, {1}), z = s.variable("z", kEight, {2, 3}),
                   w = s.variable("w", 8, {1});
        const ComputeSetId set = s.graph.add_compute_set("both");
        s.add_vertex(set, x, y, 1);
        s.add_vertex(set, z, w, 1);  // in two pieces: received
        return sequence({s.add(x, x, 0), s.add(z.slice(0, 4, 0), z.slice(0, 4, 0), 2), s.add(z.slice(4, 8, 0), z.slice(4, 8, 0), 3),
                         make_program(Execute{set, {}})});
      },
      32, 0, 64);
}

TEST(Contract12, BoundOperandsCountInAnExchangeThatSeveralStreamsSyncFor) {
  expect_equal_costs(
      [](Setting& s) {
        const View x = s.variable("x", kEight, {0}), y = s.variable("y", 8, {1}), z = s.variable("z", kEight, {4}),
                   w = s.variable("w", 8, {2});
        const ComputeSetId set = s.graph.add_compute_set("both");
        s.add_vertex(set, x, y, 1);
        s.add_vertex(set, z, w, 2);  // from the other IPU: received
        return sequence({s.add(x, x, 0), s.add(z, z, 4), make_program(Execute{set, {}})});
      },
      32, 0, 64);
}

// A copy right before the step is a phase of its own, whatever its name.
TEST(Contract12, ACopyBeforeAStepThatBindsIsNotItsExchange) {
  expect_equal_costs(
      [](Setting& s) {
        const View x = s.variable("x", kEight, {0}), y = s.variable("y", 8, {1}), z = s.variable("z", 8, {2});
        const ComputeSetId set = s.graph.add_compute_set("step");
        s.add_vertex(set, x, y, 1);
        ProgramPtr move = make_program(Copy{x, z}, "step");
        return sequence({s.add(x, x, 0), move, s.add(z, z, 2), make_program(Execute{set, {}}), move, make_program(Execute{set, {}})});
      },
      32, 2 * 32, 2 * 32);
}

TEST(Contract12, AnExecutableThatIsReadAgainCostsTheSame) {
  Machine machine = *find_machine("ipu2");
  machine.ipus = 2;
  Setting s(machine);
  const View x = s.variable("x", kEight, {0}), y = s.variable("y", 8, {700}), z = s.variable("z", 8, {1480});
  const auto program = s.compile({sequence({s.add(x, x, 0), s.add(x, y, 700), copy(x, z), s.add(z, z, 1480)})});
  std::stringstream file;
  tile::write(*program, file);
  const auto again = std::make_shared<const tile::Program>(tile::read(file));
  const profile::Report a = report_of(program, s.graph.library()), b = report_of(again, s.graph.library());
  EXPECT_GT(a.streams[0].cycles.exchange, 0u);
  EXPECT_GT(a.streams[0].cycles.global_exchange, 0u);
  for (std::size_t i = 0; i < a.streams.size(); ++i) EXPECT_EQ(a.streams[i].cycles, b.streams[i].cycles);
}

}  // namespace
}  // namespace pando::contract
