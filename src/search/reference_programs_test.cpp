// DistIR's published figures, from programs that the builders and transforms make.
#include "base/testing/places.h"
#include "models/mlp.h"
#include "simulate/costs/flatten.h"
#include "simulate/csv.h"
#include "simulate/simulate.h"
#include "transform/distribute/parallelise.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace pando::search {
namespace {

ir::Module distributed_mlp(const simulate::Csv& csv, std::size_t i, ir::DType dtype) {
  const transform::Program mlp = models::build_mlp(
      {.layers = csv.integer(i, "layers"), .width = csv.integer(i, "dim"), .batch = csv.integer(i, "batch"), .dtype = dtype});
  transform::Strategy s;
  s.data = static_cast<std::int32_t>(csv.integer(i, "D"));
  s.tensor = static_cast<std::int32_t>(csv.integer(i, "H"));
  s.pipeline = static_cast<std::int32_t>(csv.integer(i, "P"));
  s.microbatches = static_cast<std::int32_t>(csv.integer(i, "K"));
  s.schedule = "eager-1F1B";
  s.join_outputs = true;
  s.verify = false;
  return transform::parallelise(mlp, s).module;
}

TEST(ReferencePrograms, DefaultParametersExactly) {
  const auto csv = simulate::Csv::read_file(source_path("tests/data/distir/mlp_default_params.csv"));
  const simulate::ReferenceCostModel costs;
  for (std::size_t i = 0; i < csv.rows(); ++i) {
    const auto p =
        simulate::flatten(distributed_mlp(csv, i, csv.text(i, "dtype") == "Float16" ? ir::DType::float16 : ir::DType::float32), costs);
    std::string ops, peaks;
    for (const auto& [name, n] : p.histogram()) ops += fmt::format("{}{}:{}", ops.empty() ? "" : " ", name, n);
    EXPECT_EQ(ops, csv.text(i, "op_counts")) << "row " << i + 1;
    EXPECT_EQ(simulate::run_reference_clock(p).seconds, csv.number(i, "latency_s")) << "row " << i + 1;
    const auto memory = simulate::measure_memory(p);
    for (std::size_t d = 1; d < memory.size(); ++d) peaks += fmt::format("{}{}:{}", d > 1 ? " " : "", d, memory[d].peak);
    EXPECT_EQ(peaks, csv.text(i, "per_device_peak")) << "row " << i + 1;
  }
}

TEST(ReferencePrograms, ThePublishedGrid) {
  const auto csv = simulate::Csv::read_file(source_path("tests/data/distir/mlp_published_grid_small.csv"));
  const simulate::ReferenceCostModel costs(simulate::reference_dgx2());
  for (std::size_t i = 0; i < csv.rows(); ++i) {
    if (csv.integer(i, "ops_transformed") > 20000) continue;  // all rows: simulate_bench
    const auto p = simulate::flatten(distributed_mlp(csv, i, ir::DType::float16), costs);
    EXPECT_EQ(p.unfolded_steps(), csv.integer(i, "ops_transformed")) << "row " << i + 1;
    std::int64_t peak = 0;
    for (const auto& m : simulate::measure_memory(p)) peak = std::max(peak, m.peak);
    EXPECT_EQ(peak, csv.integer(i, "published_peak_bytes")) << "row " << i + 1;
    EXPECT_NEAR(csv.number(i, "batch") / simulate::run_reference_clock(p).seconds / csv.number(i, "published_throughput"), 1, 2e-4)
        << "row " << i + 1;
  }
}

}  // namespace
}  // namespace pando::search
