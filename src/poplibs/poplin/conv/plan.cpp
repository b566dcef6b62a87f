#include "poplibs/poplin/conv/plan.h"

#include "kernels/conv.h"
#include "poplibs/poplin/plan/planning_cache.h"
#include "poplibs/poputil/refuse.h"
#include "poplibs/work.h"

#include <poplar/exceptions.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <tuple>

namespace poplin::conv {
namespace {

using plan::CostModel;
using plan::Objective;

std::int64_t up(std::int64_t n, std::int64_t d) { return (n + d - 1) / d; }

// Each contiguous run that a tile receives takes instructions of its own.
constexpr double kCyclesOfARun = 5;

bool is_cpu(const poplar::Target& target) { return target.getTargetType() == poplar::TargetType::CPU; }

// What a plan for the host's time on many tiles reckons with, in nanoseconds of one thread.
constexpr double kHostBlock = 3000;                 // a vertex: tables, code to be found
constexpr double kHostReads = 20, kHostCopies = 6;  // bytes per nanosecond: read where they lie, or copied together before
constexpr double kHostWrites = 10, kHostFlops = 100;
constexpr double kHostPiece = 10, kHostSum = 12;    // an operand; a partial sum's piece
constexpr double kHostRun = 6;                      // a copied piece of memory
constexpr std::int64_t kHostThreads = 8;            // that shall have work
// Of the plans that take the host so much of the shortest time, the one that takes the machine least is taken.
constexpr double kHostSlack = 1.25;

// Blocks that work at the same time: one a tile; vertices of the one tile of the CPU device.
std::int64_t places(const poplar::Target& target) {
  return is_cpu(target) ? pando::poplibs::vertices_per_tile(target) : target.getNumTiles();
}

Objective objective_of(const poplar::Target& target, const Options& options) {
  return options.objective.value_or(is_cpu(target) ? Objective::host_time : Objective::cycles);
}

// Whether rows and kernel elements lie whole on tiles.
bool is_by_row(const poplar::Target& target, const Options& options) { return !is_cpu(target) && objective_of(target, options) == Objective::host_time; }

// The numbers of parts of `size` that lead to different sizes of the largest part, at most `most` of them.
std::vector<std::int64_t> splits_of(std::int64_t size, std::int64_t most, unsigned forced) {
  if (forced > 0) return {std::clamp<std::int64_t>(forced, 1, std::max<std::int64_t>(size, 1))};
  std::vector<std::int64_t> splits;
  for (std::int64_t n = 1; n <= std::min(std::max<std::int64_t>(size, 1), most); n = up(size, up(size, n) - 1)) {
    splits.push_back(n);
    if (up(size, n) <= 1) break;
  }
  return splits;
}

// The same for channels, in parts of at least `grain`.
std::vector<std::int64_t> channel_splits(std::int64_t channels, std::int64_t grain, std::int64_t most, unsigned forced) {
  if (forced > 0) return splits_of(channels, most, forced);
  return splits_of(up(channels, grain), most, 0);
}

// Sizes of the largest block.
struct Block {
  std::int64_t groups, batch, in_channels, out_channels, in_field = 1, out_field = 1, taps = 1;
  double meetings = 1;  // of an output and a kernel element, for one batch element
  std::array<std::int64_t, kConvDims> in_sizes{}, out_sizes{};
};

Block largest(const Problem& p, const Partition& cut) {
  Block b{up(p.groups, cut.groups), up(p.batch, cut.batch), up(p.in_channels, cut.in_channels), up(p.out_channels, cut.out_channels * cut.serial)};
  for (std::size_t d = 0; d < p.lines.size(); ++d) {
    const Line& line = p.lines[d];
    const std::int64_t out = up(line.out, cut.field[d]);
    const std::int64_t reach = line.stride * (out - 1) + std::abs(line.step) * (line.taps - 1) + 1;
    b.out_sizes[d] = out;
    b.in_sizes[d] = std::min(line.in, up(reach, line.dilation));
    b.out_field *= out;
    b.in_field *= b.in_sizes[d];
    b.taps *= line.taps;
    const std::int64_t zeros = std::max<std::int64_t>(1, line.dilation / line.stride);  // of so many inputs all but one are zero
    b.meetings *= static_cast<double>(out * line.taps) / static_cast<double>(zeros);
  }
  return b;
}

class Coster {
 public:
  Coster(const poplar::Target& target, const Options& options, const Problem& problem, Kind kind)
      : p_(problem), kind_(kind), model_(target, is_cpu(target) ? objective_of(target, options) : Objective::cycles), element_(static_cast<double>(target.getTypeSize(problem.in_type))),
        partials_(options.half_partials ? poplar::HALF : poplar::FLOAT), workers_(target.getNumWorkerContexts()), host_(is_cpu(target)),
        partial_bytes_(static_cast<double>(target.getTypeSize(partials_))),
            result_bytes_(static_cast<double>(target.getTypeSize(problem.out_type))) {}

  PlanCost operator()(const Partition& cut) const {
    if (cut.by_row) return by_row(cut);
    const Block b = largest(p_, cut);
    const double groups = static_cast<double>(b.groups), in = static_cast<double>(b.in_channels), out = static_cast<double>(b.out_channels);
    const double inputs = groups * static_cast<double>(b.batch * b.in_field) * in,
        outputs = groups * static_cast<double>(b.batch * b.out_field) * out;
    const double weights = groups * static_cast<double>(b.taps) * in * out, taps = static_cast<double>(b.taps);
    const double rows = static_cast<double>(b.batch) * b.meetings / taps;
    const bool forward = kind_ == Kind::forward;
    const double operands = inputs + (forward ? weights : outputs), results = forward ? outputs : weights;
    const double terms = static_cast<double>(forward ? cut.in_channels : cut.batch * cut.field_blocks());
    const double serial = static_cast<double>(cut.serial);
    PlanCost c;
    const double runs = input_runs(b, cut) + (forward ? weight_runs(b, cut) : output_runs(b, cut));
    c.exchange = host_ ? host_reading(operands, runs) : serial * (model_.exchange(operands * element_) + kCyclesOfARun * runs);
    c.compute = serial * groups * taps * (forward ? product(rows, out, in) : product(in, out, rows));
    if (terms > 1) {
      const plan::Cost exchange = host_ ? 0 : model_.exchange(results * partial_bytes_) + kCyclesOfARun * terms;
      c.reduction = serial * (exchange + model_.reduce(terms, results / terms, partials_, p_.out_type));
    }
    c.memory = operands * element_ + results * (terms > 1 ? 2 * partial_bytes_ : result_bytes_);
    return c;
  }

 private:
  plan::Cost product(double m, double n, double k) const { return model_.block_product(m, n, k, p_.in_type, partials_); }

  // What all blocks together take of the host.
  PlanCost by_row(const Partition& cut) const {
    const Block b = largest(p_, cut);
    const bool forward = kind_ == Kind::forward;
    const double groups = static_cast<double>(b.groups), in = static_cast<double>(b.in_channels), out = static_cast<double>(b.out_channels);
    const double inputs = groups * static_cast<double>(b.batch * b.in_field) * in, outputs = groups * static_cast<double>(b.batch * b.out_field) * out;
    const double weights = groups * static_cast<double>(b.taps) * in * out, results = forward ? outputs : weights;
    const double terms = static_cast<double>(forward ? cut.in_channels : cut.batch * cut.field_blocks());
    const double blocks = static_cast<double>(cut.blocks() * cut.serial), threads = static_cast<double>(up(cut.blocks(), kHostThreads) * kHostThreads);
    const double all = blocks * threads / static_cast<double>(cut.blocks());  // with those that other threads wait for
    const double second = forward ? whole_pieces(weights, static_cast<double>(b.taps)) : rows(outputs, b, b.out_sizes, cut.out_channels);
    PlanCost c;
    c.exchange = all * (rows(inputs, b, b.in_sizes, cut.in_channels) + second);
    // Vectors of 16 channels by as many columns as a line has, or channels.
    const double columns = forward ? static_cast<double>(b.out_sizes[p_.lines.size() - 1]) : in, vectors = std::ceil(out / 16);
    const double flops = 2 * groups * static_cast<double>(b.batch) * b.meetings * in * 16 * vectors;
    const double waste = (1 + 2 / std::max(1.0, columns)) * (vectors > 1 ? 1 : 1.2);
    c.compute = all * (kHostBlock + waste * flops / kHostFlops + results * partial_bytes_ / kHostWrites);
    if (terms > 1) {
      const double sums = blocks / terms * results, pieces = std::ceil(sums / 256) * terms;
      c.reduction = sums * terms * partial_bytes_ / kHostWrites + pieces * kHostSum;
    }
    c.memory = (inputs + (forward ? weights : outputs)) * element_ + results * (terms > 1 ? 2 * partial_bytes_ : result_bytes_);
    return c;
  }
  double whole_pieces(double elements, double pieces) const { return elements * element_ / kHostReads + pieces * kHostPiece; }
  // Rows whose channels are cut, and more of them than a vertex takes, are copied.
  double rows(double elements, const Block& b, const std::array<std::int64_t, kConvDims>& sizes, std::int64_t channel_cuts) const {
    const double n = static_cast<double>(b.groups * b.batch * sizes[0]), bytes = elements * element_;
    if (p_.lines.size() > 1 && b.batch * sizes[0] <= kConvPieces && channel_cuts == 1) return whole_pieces(elements, n);
    double pixels = n;
    for (std::size_t d = 1; d < p_.lines.size(); ++d) pixels *= static_cast<double>(sizes[d]);
    return bytes / kHostCopies + (channel_cuts == 1 ? n : pixels) * kHostRun;
  }

  // Pieces of memory that a block's box of activations consists of: what is cut in a dimension makes a piece of each of its outer
  // dimensions' elements. Channels are kept apart as they are cut.
  static double runs_of_box(std::int64_t batch, const std::array<std::int64_t, kConvDims>& sizes, const std::vector<std::int64_t>& cuts) {
    double runs = 1, outer = static_cast<double>(batch);
    for (std::size_t d = 0; d < cuts.size(); ++d) {
      if (cuts[d] > 1) runs = outer;
      outer *= static_cast<double>(sizes[d]);
    }
    return runs;
  }
  static double input_runs(const Block& b, const Partition& cut) {
    return static_cast<double>(b.groups) * runs_of_box(b.batch, b.in_sizes, cut.field);
  }
  static double output_runs(const Block& b, const Partition& cut) {
    return static_cast<double>(b.groups) * runs_of_box(b.batch, b.out_sizes, cut.field);
  }
  static double weight_runs(const Block& b, const Partition& cut) {
    return static_cast<double>(b.groups) * (cut.in_channels > 1 ? static_cast<double>(b.taps) : 1);
  }

  // Blocks that are not one piece of memory are gathered.
  plan::Cost host_reading(double operands, double runs) const {
    const double bytes = operands * element_;
    return runs > 2 * static_cast<double>(p_.groups) ? model_.copy(bytes, bytes / runs) : 0;
  }

  const Problem& p_;
  Kind kind_;
  CostModel model_;
  double element_;
  poplar::Type partials_;
  double workers_;
  bool host_;
  double partial_bytes_, result_bytes_;
};

class Search {
 public:
  Search(const poplar::Target& target, const Options& options, const Problem& problem, Kind kind, bool by_row)
      : p_(problem), constraints_(options.constraints), cost_(target, options, problem, kind), places_(places(target)),
        budget_(is_cpu(target) ? 1e30 : options.memory_proportion * target.getBytesPerTile()) {
    cut_.field.assign(problem.lines.size(), 1);
    cut_.by_row = by_row;
    if (by_row) cut_.first = first_tile();
  }

  // Nothing if there is no grid that the constraints allow.
  std::optional<Plan> run() {
    for (std::int64_t serial = 1; serial <= std::max<std::int64_t>(1, p_.out_channels); serial *= 2) {
      cut_.serial = constraints_.serial > 0 ? constraints_.serial : serial;
      groups();
      if (constraints_.serial > 0 || !best_ || best_->cost.memory <= budget_) break;
    }
    return cut_.by_row ? of_few_cycles() : best_;
  }

 private:
  void each(const std::vector<std::int64_t>& splits, std::int64_t& to, std::int64_t used, const std::function<void(std::int64_t)>& next) {
    for (const std::int64_t n : splits) {
      if (used * n > places_) break;
      to = n;
      next(used * n);
    }
    to = 1;
  }
  void groups() {
    each(splits_of(p_.groups, places_, constraints_.groups), cut_.groups, 1, [&](std::int64_t used) {
      each(splits_of(p_.batch, places_, constraints_.batch), cut_.batch, used, [&](std::int64_t n) { field(0, n); });
    });
  }
  void field(std::size_t d, std::int64_t used) {
    if (d == p_.lines.size()) return channels(used);
    const unsigned forced = d < constraints_.field.size() ? constraints_.field[d] : cut_.by_row && d > 0 ? 1 : 0;
    each(splits_of(p_.lines[d].out, places_, forced), cut_.field[d], used, [&](std::int64_t n) { field(d + 1, n); });
  }
  void channels(std::int64_t used) {
    const std::int64_t grain = cut_.by_row ? 16 : 8;
    each(channel_splits(up(p_.out_channels, cut_.serial), grain, places_, constraints_.out_channels), cut_.out_channels, used, [&](std::int64_t n) {
      each(channel_splits(p_.in_channels, grain, places_, constraints_.in_channels), cut_.in_channels, n, [&](std::int64_t) { consider(); });
    });
  }
  // Fitting before not; then the cheaper, or the smaller; then the first found.
  void consider() {
    const PlanCost cost = cost_(cut_);
    const auto rank = [&](const PlanCost& c) { return c.memory <= budget_ ? std::pair(0, c.total()) : std::pair(1, c.memory); };
    if (!best_ || rank(cost) < rank(best_->cost)) best_ = Plan{cut_, cost};
    if (cut_.by_row && cost.memory <= budget_ && cost.total() <= kHostSlack * best_->cost.total()) good_.push_back({cut_, cost});
  }

  // Among those that are nearly as good for the host. None, if nothing fits.
  std::optional<Plan> of_few_cycles() const {
    std::optional<Plan> found;
    double least = 1e300;
    for (const Plan& plan : good_) {
      if (plan.cost.total() > kHostSlack * best_->cost.total()) continue;
      Partition cut = plan.partition;
      cut.by_row = false;
      const PlanCost cycles = cost_(cut);
      if (cycles.total() < least) least = cycles.total(), found = Plan{plan.partition, cycles};
    }
    return found;
  }

  // Convolutions of one shape lie on the same tiles, others begin elsewhere: else the first tiles would have blocks of all.
  std::int64_t first_tile() const {
    std::int64_t n = 31 * p_.in_channels + 17 * p_.out_channels;
    for (const Line& line : p_.lines) n = 13 * n + 7 * line.in + line.taps;
    return n % places_;
  }

  const Problem& p_;
  const PlanConstraints& constraints_;
  Coster cost_;
  std::int64_t places_;
  double budget_;
  Partition cut_;
  std::optional<Plan> best_;
  std::vector<Plan> good_;
};

// All that a plan depends on.
using Key = std::vector<double>;

Key key_of(const poplar::Target& target, const Options& o, const Problem& p, Kind kind) {
  Key key = {static_cast<double>(kind), static_cast<double>(places(target)), static_cast<double>(target.getBytesPerTile()),
             is_cpu(target) ? 1.0 : 0.0,
             o.memory_proportion, o.half_partials ? 1.0 : 0.0, static_cast<double>(objective_of(target, o)),
             static_cast<double>(o.constraints.groups), static_cast<double>(o.constraints.batch), static_cast<double>(o.constraints.out_channels),
             static_cast<double>(o.constraints.in_channels), static_cast<double>(o.constraints.serial), static_cast<double>(p.groups),
             static_cast<double>(p.batch), static_cast<double>(p.in_channels), static_cast<double>(p.out_channels),
             static_cast<double>(target.getTypeSize(p.in_type)), static_cast<double>(target.getTypeSize(p.out_type)),
                 static_cast<double>(p.lines.size())};
  for (const Line& line : p.lines) {
    const std::int64_t numbers[] = {line.in, line.out, line.taps, line.stride, line.dilation, line.offset, line.step};
    for (const std::int64_t n : numbers) key.push_back(static_cast<double>(n));
  }
  for (const unsigned n : o.constraints.field) key.push_back(n);
  return key;
}

struct PlanTable : std::map<Key, Plan> {};

}  // namespace

std::int64_t Partition::field_blocks() const {
  std::int64_t n = 1;
  for (const std::int64_t f : field) n *= f;
  return n;
}

std::int64_t Partition::blocks() const { return groups * batch * field_blocks() * out_channels * in_channels; }

Range part(std::int64_t size, std::int64_t parts, std::int64_t n) { return {size * n / parts, size * (n + 1) / parts}; }

PlanCost cost_of(const poplar::Target& target, const Options& options, const Problem& problem, Kind kind, const Partition& partition) {
  return Coster(target, options, problem, kind)(partition);
}

Plan find_plan(const poplar::Target& target, const Options& options, const Problem& problem, Kind kind) {
  std::optional<Plan> plan;
  if (is_by_row(target, options)) plan = Search(target, options, problem, kind, true).run();
  if (!plan) plan = Search(target, options, problem, kind, false).run();
  if (!plan) poputil::refuse_option("partition-size", "planConstraints: the partition has more blocks than the target has places, {}",
                                    places(target));
  return *plan;
}

Plan plan_for(const poplar::Target& target, const Options& options, const Problem& problem, Kind kind, PlanningCache* cache) {
  if (cache == nullptr) return find_plan(target, options, problem, kind);
  PlanTable& plans = cache->impl->table<PlanTable>();
  const Key key = key_of(target, options, problem, kind);
  const auto found = plans.find(key);
  return found != plans.end() ? found->second : plans.emplace(key, find_plan(target, options, problem, kind)).first->second;
}

std::string to_string(const Plan& plan, const Problem& p, Kind kind) {
  const Partition& c = plan.partition;
  return fmt::format(
      "{}: groups {} / {}, batch {} / {}, field {} / {}, output channels {} / {}, input channels {} / {}; {} blocks in {} serial steps{}\n"
      "  cost: exchange {:.0f}, compute {:.0f}, reduction {:.0f}, total {:.0f}; {:.0f} bytes on a tile\n",
      kind == Kind::forward ? "convolution" : "gradient of weights", p.groups, c.groups, p.batch, c.batch,
      fmt::join([&] {
        std::vector<std::int64_t> out;
        for (const Line& line : p.lines) out.push_back(line.out);
        return out;
      }(), "x"),
      fmt::join(c.field, "x"), p.out_channels, c.out_channels, p.in_channels, c.in_channels, c.blocks(), c.serial, c.by_row ? ", by row" : "", plan.cost.exchange,
      plan.cost.compute, plan.cost.reduction, plan.cost.total(), plan.cost.memory);
}

}  // namespace poplin::conv
