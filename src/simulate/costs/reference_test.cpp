// DistIR's published figures, from the steps of its own programs.
#include "base/testing/places.h"
#include "simulate/costs/mlp_oracle_test.h"
#include "simulate/csv.h"
#include "simulate/simulate.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <charconv>

namespace pando::simulate {
namespace {

MlpShape shape_of(const Csv& csv, std::size_t i, std::int64_t element_bytes) {
  return {csv.integer(i, "layers"), csv.integer(i, "dim"), csv.integer(i, "batch"), element_bytes,
          csv.integer(i, "D"),      csv.integer(i, "H"),   csv.integer(i, "P"),     csv.integer(i, "K")};
}

TEST(Reference, DefaultParametersExactly) {
  const Csv csv = Csv::read_file(source_path("tests/data/distir/mlp_default_params.csv"));
  ASSERT_GT(csv.rows(), 100u);
  const ReferenceCosts costs{ReferenceMachine{}};
  for (std::size_t i = 0; i < csv.rows(); ++i) {
    const Program p = reference_mlp(shape_of(csv, i, csv.text(i, "dtype") == "Float16" ? 2 : 4), costs);
    std::string ops;
    for (const auto& [name, n] : p.histogram()) ops += fmt::format("{}{}:{}", ops.empty() ? "" : " ", name, n);
    EXPECT_EQ(ops, csv.text(i, "op_counts")) << "row " << i + 1;
    const Timeline t = run_reference_clock(p);
    EXPECT_EQ(t.seconds, csv.number(i, "latency_s")) << "row " << i + 1;
    std::string peaks;
    const auto memory = measure_memory(p);
    for (std::size_t d = 1; d < memory.size(); ++d) peaks += fmt::format("{}{}:{}", d > 1 ? " " : "", d, memory[d].peak);
    EXPECT_EQ(peaks, csv.text(i, "per_device_peak")) << "row " << i + 1;
    EXPECT_EQ(measure_memory(p, false), memory);
  }
}

TEST(Reference, ThePublishedGrid) {
  const Csv csv = Csv::read_file(source_path("tests/data/distir/mlp_published_grid_small.csv"));
  ASSERT_GT(csv.rows(), 250u);
  const ReferenceCosts costs{reference_dgx2()};
  double worst = 0;
  for (std::size_t i = 0; i < csv.rows(); ++i) {
    if (csv.integer(i, "ops_transformed") > 20000) continue;  // all rows: simulate_bench
    const Program p = reference_mlp(shape_of(csv, i, 2), costs);
    EXPECT_EQ(p.unfolded_steps(), csv.integer(i, "ops_transformed")) << "row " << i + 1;
    std::int64_t peak = 0;
    for (const DeviceMemory& m : measure_memory(p)) peak = std::max(peak, m.peak);
    EXPECT_EQ(peak, csv.integer(i, "published_peak_bytes")) << "row " << i + 1;
    const double throughput = csv.number(i, "batch") / run_reference_clock(p).seconds;
    const double e = std::abs(throughput / csv.number(i, "published_throughput") - 1);
    EXPECT_LE(e, 2e-4) << "row " << i + 1;
    worst = std::max(worst, e);
  }
  EXPECT_LE(worst, 2e-4);
}

}  // namespace
}  // namespace pando::simulate
