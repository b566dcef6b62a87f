#include "poplibs/popsparse/dynamic/plan.h"

#include <pando/cpu_device.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "poplibs/popsparse/bucket.h"
#include "poplibs/popsparse/terms/cost.h"
#include "poplibs/poputil/reject.h"
#include "poplibs/poputil/tensor_meta_data.h"
#include "poplibs/work.h"

namespace popsparse {
namespace {

using pando::poplibs::ceil_div;
using poplar::Interval;

constexpr std::size_t kMostIndex = 65535;  // of a row or column in a part, so that words hold it
constexpr std::size_t kSpareGroups = 4;    // beside a part's own in its bucket

Interval part_of(std::size_t index, std::size_t size, std::size_t all) {
  return Interval(std::min(index * size, all), std::min((index + 1) * size, all));
}

// Parts of equal size: as few as have the size of `parts`.
void set_parts(SparsePlan& plan, std::size_t row_parts, std::size_t column_parts, std::size_t width_parts) {
  const Problem& p = plan.problem;
  const auto cut = [](std::size_t all, std::size_t& parts, std::size_t wanted, std::size_t& size) {
    size = ceil_div(all, wanted);
    parts = ceil_div(all, size);
  };
  cut(p.shape.block_rows(), plan.row_parts, row_parts, plan.rows);
  cut(p.shape.block_columns(), plan.column_parts, column_parts, plan.columns);
  cut(p.width, plan.width_parts, width_parts, plan.width);
}

void set_bucket(SparsePlan& plan, double oversize) {
  const std::size_t even = ceil_div(plan.problem.blocks, plan.parts());
  const std::size_t most = plan.problem.shape.block_rows() * plan.problem.shape.block_columns();
  plan.bucket_blocks = std::min(static_cast<std::size_t>(std::ceil(static_cast<double>(even) * (1 + oversize))) + 1, most);
  plan.bucket_words = kBucketHeader + (1 + (plan.parts() > 1 ? kSpareGroups : 0)) * kGroupHeader + kBlockWords * plan.bucket_blocks;
}

struct Estimate {
  double cycles = 0, bytes = 0;
};

// Of one tile: what it brings, multiplies and gives to sums over column parts.
Estimate estimate(const SparsePlan& plan, const poplar::Target& target) {
  const Problem& p = plan.problem;
  const auto d = [](std::size_t n) { return static_cast<double>(n); };
  const double element = d(target.getTypeSize(p.type)), partial = d(target.getTypeSize(plan.partials));
  const double blocks = d(p.blocks) / d(plan.parts()), width = d(plan.width);
  const double bucket = d(plan.bucket_values()) * element + 2 * d(plan.bucket_words);
  const double dense = d(plan.columns * p.shape.block[1]) * width * element;
  const double sums = d(plan.rows * p.shape.block[0]) * width * partial;
  constexpr double kBytesPerCycle = 4, kStep = 300;
  Estimate e;
  e.bytes = bucket + dense + sums * (plan.column_parts > 1 ? 2 : 1);
  e.cycles =
      (bucket + dense) / kBytesPerCycle + blocks * block_instructions(p.shape.area(), plan.width, target.getTypeSize(p.type)) + kStep;
  if (plan.column_parts > 1) e.cycles += sums / kBytesPerCycle + sums / partial + kStep;
  if (p.type != plan.partials) e.cycles += sums / partial / d(plan.column_parts);
  return e;
}

std::vector<std::size_t> candidates(std::size_t most) {
  std::vector<std::size_t> out;
  for (std::size_t n = 1; n <= most; n = std::max(n + 1, n * 9 / 8)) out.push_back(n);
  return out;
}

class Remembered final : public poputil::TensorMetaDataBase {
 public:
  explicit Remembered(const SparsePlan& plan) : plan(plan) {}
  std::unique_ptr<TensorMetaDataBase> clone() const override { return std::make_unique<Remembered>(*this); }
  SparsePlan plan;
};

}  // namespace

Interval SparsePlan::rows_of(std::size_t i) const { return part_of(i, rows * problem.shape.block[0], problem.shape.rows); }
Interval SparsePlan::columns_of(std::size_t i) const { return part_of(i, columns * problem.shape.block[1], problem.shape.columns); }
Interval SparsePlan::width_of(std::size_t i) const { return part_of(i, width, problem.width); }

SparsePlan make_plan(const poplar::Target& target, const Problem& problem, const Options& options) {
  SparsePlan plan;
  plan.problem = problem;
  plan.partials = problem.type == poplar::FLOAT ? poplar::FLOAT : options.partials;
  plan.spills = options.spills;
  plan.tiles = target.getNumTiles();
  const std::size_t block_rows = problem.shape.block_rows(), block_columns = problem.shape.block_columns();
  const std::size_t least_rows = ceil_div(block_rows, kMostIndex), least_columns = ceil_div(block_columns, kMostIndex);
  const std::size_t tiles = plan.tiles;
  if (pando::reads_in_place(target)) {
    set_parts(plan, least_rows, least_columns, 1);
    set_bucket(plan, options.oversize);
    return plan;
  }
  const double limit = options.memory * static_cast<double>(target.getBytesPerTile());
  SparsePlan best;
  double best_cycles = std::numeric_limits<double>::infinity(), best_excess = best_cycles;
  for (const std::size_t r : candidates(std::min(std::max(tiles, least_rows), block_rows)))
    for (const std::size_t c : candidates(std::min(std::max(tiles / r, least_columns), block_columns))) {
      if (r < least_rows || c < least_columns) continue;
      const std::size_t most = std::clamp<std::size_t>(tiles / (r * c), 1, problem.width);
      for (const std::size_t w : {std::size_t{1}, ceil_div(most, 2), most}) {
        set_parts(plan, r, c, w);
        if (plan.parts() * plan.width_parts > tiles && plan.parts() > least_rows * least_columns) continue;
        set_bucket(plan, options.oversize);
        const Estimate e = estimate(plan, target);
        const double excess = std::max(0.0, e.bytes - limit);
        if (excess > best_excess || (excess == best_excess && e.cycles >= best_cycles)) continue;
        best = plan, best_cycles = e.cycles, best_excess = excess;
      }
    }
  return best;
}

poputil::TensorMetaData remember(const SparsePlan& plan) { return poputil::TensorMetaData(std::make_unique<Remembered>(plan)); }

const SparsePlan& plan_of(const char* function, const poputil::TensorMetaData& data) {
  const auto* remembered = dynamic_cast<const Remembered*>(data.getData());
  if (remembered == nullptr)
    poputil::reject("popsparse-tensor", "{}: a sparse tensor that no function of popsparse::dynamic created", function);
  return remembered->plan;
}

}  // namespace popsparse
