#include "planning/convolution.h"

#include <gtest/gtest.h>

#include <vector>

namespace pando::planning {
namespace {

Machine machine_of(unsigned tiles) {
  Machine m = *find_machine("ipu2");
  m.tiles_per_ipu = tiles;
  return m;
}

// A field of `sizes`, a kernel of `taps` in each dimension, without padding.
Convolution convolution(ElementType type, std::int64_t batch, const std::vector<std::int64_t>& sizes, std::int64_t taps, std::int64_t in,
                        std::int64_t out) {
  Convolution c;
  c.in_type = c.out_type = type;
  c.batch = batch, c.in_channels = in, c.out_channels = out;
  for (const std::int64_t size : sizes) {
    Line line;
    line.in = size, line.taps = taps, line.out = size - taps + 1;
    c.lines.push_back(line);
  }
  return c;
}

constexpr ConvolutionKind kKinds[] = {ConvolutionKind::forward, ConvolutionKind::weight_gradient};

// The search leaves out only numbers of parts that are no better than a smaller one.
TEST(ConvolutionPlan, NoPartitionIsCheaper) {
  const Machine machine = machine_of(16);
  const Convolution c = convolution(ElementType::float_, 3, {8, 7}, 3, 16, 24);
  for (const ConvolutionKind kind : kKinds) {
    const double best = plan_convolution(c, kind, {}, machine)->cost.total();
    Partition cut;
    for (cut.batch = 1; cut.batch <= 3; ++cut.batch)
      for (std::int64_t y = 1; y <= 6; ++y)
        for (std::int64_t x = 1; x <= 5; ++x)
          for (cut.out_channels = 1; cut.out_channels <= 3; ++cut.out_channels)
            for (cut.in_channels = 1; cut.in_channels <= 2; ++cut.in_channels) {
              cut.field = {y, x};
              if (cut.blocks() <= 16) EXPECT_GE(cost_of(c, kind, {}, cut, machine).total(), best);
            }
  }
}

TEST(ConvolutionPlan, CutsInTimeWhatDoesNotFit) {
  const Machine machine = machine_of(16);
  const Convolution c = convolution(ElementType::float_, 8, {18, 18}, 3, 64, 128);
  ConvolutionOptions options;
  EXPECT_EQ(plan_convolution(c, ConvolutionKind::forward, options, machine)->partition.serial, 1);
  options.memory_proportion = 0.2;
  const ConvolutionPlan plan = *plan_convolution(c, ConvolutionKind::forward, options, machine);
  EXPECT_GT(plan.partition.serial, 1);
  EXPECT_LE(plan.cost.memory, 0.2 * bytes_per_tile(machine));
}

TEST(ConvolutionPlan, ResultsThatNoTilesHoldAreNotCutInTime) {
  const Convolution c = convolution(ElementType::float_, 4, {6, 6}, 3, 1, 0xffffffff);
  for (const ConvolutionKind kind : {ConvolutionKind::forward, ConvolutionKind::weight_gradient})
    EXPECT_EQ(plan_convolution(c, kind, {}, machine_of(4))->partition.serial, 1);
}

TEST(ConvolutionPlan, NoneWhereConstraintsAskForMoreThanThereIs) {
  ConvolutionOptions options;
  options.constraints.batch = 8;
  options.constraints.in_channels = 8;
  EXPECT_FALSE(plan_convolution(convolution(ElementType::half, 8, {58, 58}, 3, 64, 64), ConvolutionKind::forward, options, machine_of(16)));
}

// Every number of a machine that the cost model reads changes a plan; so do those of a host.
TEST(ConvolutionPlan, OfAnotherMachineIsAnother) {
  const auto changed = [](const char* what, auto change, std::optional<Objective> objective = {}) {
    const Machine machine = machine_of(256);
    Machine other = machine;
    Host host;
    change(other, host);
    ConvolutionOptions options;
    options.objective = objective;
    unsigned differ = 0;
    for (const std::int64_t size : {9, 30})
      for (const std::int64_t channels : {16, 64, 256})
        for (const ConvolutionKind kind : kKinds) {
          const Convolution c = convolution(ElementType::half, 4, {size, size}, 3, channels, channels);
          differ += plan_convolution(c, kind, options, machine)->partition != plan_convolution(c, kind, options, other, host)->partition;
        }
    EXPECT_GT(differ, 0u) << what;
  };
  changed("exchange", [](Machine& m, Host&) { m.exchange_bytes_per_cycle = 64; });
  changed("sync", [](Machine& m, Host&) { m.sync_cycles_internal = 50000; });
  changed("launch", [](Machine& m, Host&) { m.launch_cycles = 5000; });
  changed("units", [](Machine& m, Host&) { m.f16_in_f32_out_conv_units = 64; });
  changed("tiles", [](Machine& m, Host&) { m.tiles_per_ipu = 32; });
  changed("a host's products", [](Machine&, Host& h) { h.flops = 1; }, Objective::host_time);
  changed("a host's blocks", [](Machine&, Host& h) { h.block = 3e6; }, Objective::host_time);
  changed("a host's threads", [](Machine&, Host& h) { h.threads = 100; }, Objective::host_time);
}

TEST(ConvolutionPlan, AsText) {
  const Convolution c = convolution(ElementType::half, 4, {30, 30}, 3, 64, 64);
  const Machine machine = machine_of(256);
  EXPECT_EQ(to_string(c, ConvolutionKind::forward, *plan_convolution(c, ConvolutionKind::forward, {}, machine)),
            "convolution: groups 1 / 1, batch 4 / 4, field 28x28 / 4x2, output channels 64 / 8, input channels 64 / 1; 256 blocks in 1 "
            "serial steps\n"
            "  cost: exchange 7152, compute 17406, reduction 0, total 24558; 29216 bytes on a tile\n");
}

}  // namespace
}  // namespace pando::planning
