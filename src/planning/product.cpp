#include "planning/product.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace pando::planning {
namespace {

// Candidates per dimension, at most: bounds the search.
constexpr std::size_t kCandidates = 48, kGroupCandidates = 12;
// Blocks along n are multiples of kGrain, those along k of what the AMP unit takes, if the plan takes no more than kRoundingCost
// times as long with them.
constexpr std::size_t kGrain = 16;
constexpr double kRoundingCost = 1.04;
// Products of so many elements use so many of the machine's tiles if that costs nearly nothing: a grid that fits the units exactly may
// leave tiles idle.
constexpr double kWideElements = 1e5, kWideShare = 0.9, kWideCost = 1.1;

std::size_t up(std::size_t n, std::size_t d) { return (n + d - 1) / d; }

// Sizes of blocks that cut `size` into 1 to `most` parts of nearly equal size, largest first; at most `limit` of them, the ones in
// between thinned out evenly.
std::vector<std::size_t> block_sizes(std::size_t size, std::size_t most, std::size_t limit) {
  std::vector<std::size_t> sizes;
  for (std::size_t parts = 1; parts <= std::min(size, most);) {
    const std::size_t block = up(size, parts);
    sizes.push_back(block);
    if (block == 1) break;
    parts = std::max(parts + 1, up(size, block - 1));  // the fewest parts that make blocks smaller
  }
  if (sizes.size() <= limit) return sizes;
  std::vector<std::size_t> some;
  for (std::size_t i = 0; i < limit; ++i) some.push_back(sizes[i * (sizes.size() - 1) / (limit - 1)]);
  return some;
}

struct Bytes {
  double a, b, c;
};

// Bytes that cross between IPUs if the grid's slowest dimension is `outer`, per IPU.
double remote_bytes(Outer outer, const Bytes& whole, double ipus) {
  const double crossing = outer == Outer::groups ? 0 : outer == Outer::m ? whole.b : outer == Outer::n ? whole.a : whole.c;
  return crossing * (ipus - 1) / ipus;
}

// The slowest dimension: one that the IPUs can share out, with the least traffic between them.
Outer choose_outer(const ProductGrid& grid, const Bytes& whole, std::size_t ipus) {
  if (ipus == 1) return Outer::groups;
  Outer best = Outer::m;
  double least = -1;
  const auto offer = [&](Outer outer, std::size_t parts) {
    if (parts < ipus) return;
    const double bytes = remote_bytes(outer, whole, static_cast<double>(ipus));
    if (least < 0 || bytes < least) best = outer, least = bytes;
  };
  offer(Outer::groups, grid.groups);
  offer(Outer::m, grid.m);
  offer(Outer::n, grid.n);
  offer(Outer::k, grid.k);
  return best;
}

// Is plan `a` to be preferred? Ties go to the one found first.
bool better(const ProductPlan& a, const ProductPlan& b) {
  if (a.fits != b.fits) return a.fits;
  return a.fits ? a.cost() < b.cost() : a.memory < b.memory;
}

bool is_wide(const Product& p, const ProductPlan& plan, std::size_t tiles) {
  return static_cast<double>(grid_of(p, plan).count()) >= kWideShare * static_cast<double>(tiles);
}

bool wants_wide(const Product& p) {
  const double elements = static_cast<double>(p.groups) * static_cast<double>(std::max({p.m * p.k, p.k * p.n, p.m * p.n}));
  return p.objective == Objective::cycles && elements >= kWideElements;
}

// `block` rounded up to the grain, if that makes as many parts.
std::size_t rounded(std::size_t size, std::size_t block, std::size_t grain) {
  const std::size_t to = up(block, grain) * grain;
  return to <= size && up(size, to) == up(size, block) ? to : block;
}

}  // namespace

ProductGrid grid_of(const Product& p, const ProductPlan& plan) {
  return {up(p.groups, plan.block.groups), up(p.m, plan.block.m), up(p.n, plan.block.n), up(p.k, plan.block.k)};
}

unsigned tile_of(const ProductGrid& grid, Outer outer, unsigned tiles, std::size_t group, std::size_t m, std::size_t n, std::size_t k) {
  std::size_t index = 0;
  const auto append = [&index](std::size_t size, std::size_t at) { index = index * size + at; };
  if (outer == Outer::m) append(grid.m, m);
  if (outer == Outer::n) append(grid.n, n);
  if (outer == Outer::k) append(grid.k, k);
  append(grid.groups, group);
  if (outer != Outer::k) append(grid.k, k);
  if (outer != Outer::m) append(grid.m, m);
  if (outer != Outer::n) append(grid.n, n);
  return static_cast<unsigned>(index * tiles / grid.count());
}

ProductPlan evaluate(const Product& p, const CostModel& model, const ProductBlock& block) {
  const Machine& machine = model.machine();
  ProductPlan plan;
  plan.block = block;
  const ProductGrid grid = grid_of(p, plan);
  const std::size_t in = size_of(p.input);
  const ElementType partials = p.partials;
  const std::size_t part = size_of(partials);

  const std::size_t sums = block.groups * block.m * block.n * part;
  const std::size_t per_k = block.groups * (block.m + block.n) * in;
  const double allowed = p.memory_proportion * bytes_per_tile(machine);
  const double left = allowed - static_cast<double>(sums);
  const std::size_t grain = std::min<std::size_t>(amp_unit(machine, p.input, partials).in, block.k);
  const std::size_t most = left <= 0 ? 0 : static_cast<std::size_t>(left / static_cast<double>(per_k));
  std::size_t steps = most >= block.k ? 1 : up(block.k, std::max(most / grain * grain, grain));
  plan.k_step = std::min(block.k, up(up(block.k, steps), grain) * grain);
  steps = up(block.k, plan.k_step);
  plan.memory = sums + per_k * plan.k_step;
  plan.fits = static_cast<double>(plan.memory) <= allowed;

  const double whole = static_cast<double>(p.groups);
  const Bytes bytes = {whole * static_cast<double>(p.m * p.k * in), whole * static_cast<double>(p.k * p.n * in),
                       whole * static_cast<double>(p.m * p.n * part)};
  plan.outer = choose_outer(grid, bytes, machine.ipus);
  const double remote = machine.ipus == 1 ? 0 : remote_bytes(plan.outer, bytes, machine.ipus);

  // A tile has its own piece of each block already.
  const double groups = static_cast<double>(block.groups), m = static_cast<double>(block.m), n = static_cast<double>(block.n);
  const double k = static_cast<double>(plan.k_step), times = static_cast<double>(steps);
  const double a = groups * m * k * static_cast<double>(in) * (1 - 1 / static_cast<double>(grid.n));
  const double b = groups * n * k * static_cast<double>(in) * (1 - 1 / static_cast<double>(grid.m));
  const double pieces = static_cast<double>(grid.n + grid.m);
  const double used =
      model.objective() == Objective::host_time ? static_cast<double>(std::max<std::size_t>(grid.count(), model.host().vertices)) : 1;
  const double crosses = plan.outer == Outer::k ? 0 : remote;
  plan.exchange = times * used * model.exchange(model.objective() == Objective::host_time ? 0 : a + b, pieces, crosses / times);
  const Cost product = std::min(model.block_product(m, n, k, p.input, partials), model.block_product(n, m, k, p.input, partials));
  plan.multiply = times * used * groups * product;
  if (grid.k > 1 || partials != p.output) {
    const double rows = groups * static_cast<double>(up(block.m * block.n, grid.k));
    const double parts = static_cast<double>(grid.k);
    plan.reduce = used * (model.exchange(rows * static_cast<double>(part) * (parts - 1), parts, plan.outer == Outer::k ? remote : 0) +
                          model.reduce(parts, rows, partials, p.output));
  }
  return plan;
}

ProductPlan plan_product(const Product& p, const Machine& machine, const Host& host) {
  const CostModel model(machine, host, p.objective);
  const std::size_t tiles = machine.tiles();
  ProductPlan best;
  std::optional<ProductPlan> best_wide;
  std::size_t nodes = 0;
  const auto look = [&](const ProductBlock& block) {
    const ProductPlan plan = evaluate(p, model, block);
    if (nodes++ == 0 || better(plan, best)) best = plan;
    if (wants_wide(p) && is_wide(p, plan, tiles) && (!best_wide || better(plan, *best_wide))) best_wide = plan;
  };
  for (const std::size_t g : block_sizes(p.groups, tiles, kGroupCandidates)) {
    const std::size_t for_group = tiles / up(p.groups, g);
    for (const std::size_t n : block_sizes(p.n, for_group, kCandidates)) {
      const std::size_t for_n = for_group / up(p.n, n);
      for (const std::size_t k : block_sizes(p.k, for_n, kCandidates)) {
        const std::size_t most = for_n / up(p.k, k);
        if (most == 0) continue;
        // The machine's cost falls with the size of m's blocks, but for B, which need not move if m is not cut at all; the host's
        // has a least somewhere.
        if (p.objective == Objective::cycles) {
          look({g, p.m, n, k});
          if (most > 1 && p.m > 1) look({g, up(p.m, std::min(most, p.m)), n, k});
        } else {
          for (const std::size_t m : block_sizes(p.m, most, kCandidates)) look({g, m, n, k});
        }
      }
    }
  }
  if (best_wide && best_wide->fits == best.fits && best_wide->cost() <= kWideCost * best.cost()) best = *best_wide;
  // Full vectors and full passes of the AMP unit, where they cost nearly nothing: equal parts leave a rest in each, these in one.
  ProductBlock round = best.block;
  round.n = rounded(p.n, round.n, kGrain);
  round.k = rounded(p.k, round.k, amp_unit(machine, p.input, p.partials).in);
  const ProductPlan plan = evaluate(p, model, round);
  const bool stays_wide = !wants_wide(p) || !is_wide(p, best, tiles) || is_wide(p, plan, tiles);
  if (stays_wide && plan.fits == best.fits && plan.cost() <= kRoundingCost * best.cost()) best = plan;
  best.nodes = nodes + 1;
  return best;
}

std::string to_string(const Product& p, const ProductPlan& plan, const Machine& machine) {
  const ProductGrid grid = grid_of(p, plan);
  static const char* const names[] = {"groups", "m", "n", "k"};
  const auto whole = [](Cost cost) { return static_cast<unsigned long long>(cost); };
  return fmt::format("matrix product: {} x ({} x {}) * ({} x {}), {} -> {}, partial sums {}\n", p.groups, p.m, p.k, p.k, p.n,
                     name_of(p.input), name_of(p.output), name_of(p.partials)) +
         fmt::format("  grid: groups {}, m {}, n {}, k {}: {} of {} tiles, {} outermost\n", grid.groups, grid.m, grid.n, grid.k,
                     grid.count(), machine.tiles(), names[static_cast<int>(plan.outer)]) +
         fmt::format("  block: groups {}, m {}, n {}, k {} in steps of {}\n", plan.block.groups, plan.block.m, plan.block.n, plan.block.k,
                     plan.k_step) +
         fmt::format("  memory: {} bytes a tile{}\n", plan.memory, plan.fits ? "" : ", more than asked for") +
         fmt::format("  estimate: exchange {}, multiply {}, reduce {}, in all {}{}; {} candidates\n", whole(plan.exchange),
                     whole(plan.multiply), whole(plan.reduce), whole(plan.cost()), p.objective == Objective::cycles ? " cycles" : " ns",
                     plan.nodes);
}

}  // namespace pando::planning
