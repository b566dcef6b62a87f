#include "planning/convolution.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <functional>

#include "kernels/conv/conv.h"

namespace pando::planning {
namespace {

std::int64_t up(std::int64_t n, std::int64_t d) { return (n + d - 1) / d; }

// Each contiguous run that a tile receives takes instructions of its own.
constexpr double kCyclesOfARun = 5;

// Of the plans that take the host so much of the shortest time, the one that takes the machine least is taken.
constexpr double kHostSlack = 1.25;

// The one tile of the CPU device has all the work.
bool is_cpu(const Machine& machine) { return !machine.bounded_memory; }

Objective objective_of(const Machine& machine, const ConvolutionOptions& options) {
  return options.objective.value_or(is_cpu(machine) ? Objective::host_time : Objective::cycles);
}

// Whether rows and kernel elements lie whole on tiles.
bool is_by_row(const Machine& machine, const ConvolutionOptions& options) {
  return !is_cpu(machine) && objective_of(machine, options) == Objective::host_time;
}

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

Block largest(const Convolution& p, const Partition& cut) {
  Block b{up(p.groups, cut.groups), up(p.batch, cut.batch), up(p.in_channels, cut.in_channels),
          up(p.out_channels, cut.out_channels * cut.serial)};
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
  Coster(const Machine& machine, const Host& host, const ConvolutionOptions& options, const Convolution& problem, ConvolutionKind kind)
      : p_(problem),
        kind_(kind),
        host_(host),
        is_cpu_(is_cpu(machine)),
        model_(machine, host, is_cpu_ ? objective_of(machine, options) : Objective::cycles),
        partials_(options.half_partials ? ElementType::half : ElementType::float_),
        element_(static_cast<double>(size_of(problem.in_type))),
        partial_bytes_(static_cast<double>(size_of(partials_))),
        result_bytes_(static_cast<double>(size_of(problem.out_type))) {}

  ConvolutionCost operator()(const Partition& cut) const {
    if (cut.by_row) return by_row(cut);
    const Block b = largest(p_, cut);
    const double groups = static_cast<double>(b.groups), in = static_cast<double>(b.in_channels), out = static_cast<double>(b.out_channels);
    const double inputs = groups * static_cast<double>(b.batch * b.in_field) * in,
                 outputs = groups * static_cast<double>(b.batch * b.out_field) * out;
    const double weights = groups * static_cast<double>(b.taps) * in * out, taps = static_cast<double>(b.taps);
    const double rows = static_cast<double>(b.batch) * b.meetings / taps;
    const bool forward = kind_ == ConvolutionKind::forward;
    const double operands = inputs + (forward ? weights : outputs), results = forward ? outputs : weights;
    const double terms = static_cast<double>(forward ? cut.in_channels : cut.batch * cut.field_blocks());
    const double serial = static_cast<double>(cut.serial);
    ConvolutionCost c;
    const double runs = input_runs(b, cut) + (forward ? weight_runs(b, cut) : output_runs(b, cut));
    c.exchange = is_cpu_ ? host_reading(operands, runs) : serial * (model_.exchange(operands * element_) + kCyclesOfARun * runs);
    c.compute = serial * groups * taps * (forward ? product(rows, out, in) : product(in, out, rows));
    if (terms > 1) {
      const Cost exchange = is_cpu_ ? 0 : model_.exchange(results * partial_bytes_) + kCyclesOfARun * terms;
      c.reduction = serial * (exchange + model_.reduce(terms, results / terms, partials_, p_.out_type));
    }
    c.memory = operands * element_ + results * (terms > 1 ? 2 * partial_bytes_ : result_bytes_);
    return c;
  }

  // Of the largest block.
  double bytes_of_results(const Partition& cut) const {
    const Block b = largest(p_, cut);
    const bool forward = kind_ == ConvolutionKind::forward;
    const double others = static_cast<double>(forward ? b.batch : b.taps) * static_cast<double>(forward ? b.out_field : b.in_channels);
    return static_cast<double>(b.groups) * others * static_cast<double>(b.out_channels) * result_bytes_;
  }

 private:
  Cost product(double m, double n, double k) const { return model_.block_product(m, n, k, p_.in_type, partials_); }

  // What all blocks together take of the host.
  ConvolutionCost by_row(const Partition& cut) const {
    const Block b = largest(p_, cut);
    const bool forward = kind_ == ConvolutionKind::forward;
    const double groups = static_cast<double>(b.groups), in = static_cast<double>(b.in_channels), out = static_cast<double>(b.out_channels);
    const double inputs = groups * static_cast<double>(b.batch * b.in_field) * in,
                 outputs = groups * static_cast<double>(b.batch * b.out_field) * out;
    const double weights = groups * static_cast<double>(b.taps) * in * out, results = forward ? outputs : weights;
    const double terms = static_cast<double>(forward ? cut.in_channels : cut.batch * cut.field_blocks());
    const double blocks = static_cast<double>(cut.blocks() * cut.serial),
                 threads = static_cast<double>(up(cut.blocks(), host_.threads) * host_.threads);
    const double all = blocks * threads / static_cast<double>(cut.blocks());  // with those that other threads wait for
    const double second = forward ? whole_pieces(weights, static_cast<double>(b.taps)) : rows(outputs, b, b.out_sizes, cut.out_channels);
    ConvolutionCost c;
    c.exchange = all * (rows(inputs, b, b.in_sizes, cut.in_channels) + second);
    // Vectors of 16 channels by as many columns as a line has, or channels.
    const double columns = forward ? static_cast<double>(b.out_sizes[p_.lines.size() - 1]) : in, vectors = std::ceil(out / 16);
    const double flops = 2 * groups * static_cast<double>(b.batch) * b.meetings * in * 16 * vectors;
    const double waste = (1 + 2 / std::max(1.0, columns)) * (vectors > 1 ? 1 : 1.2);
    c.compute = all * (host_.block + waste * flops / host_.flops + results * partial_bytes_ / host_.operand_bytes);
    if (terms > 1) {
      const double sums = blocks / terms * results, pieces = std::ceil(sums / 256) * terms;
      c.reduction = sums * terms * partial_bytes_ / host_.operand_bytes + pieces * host_.sum_piece;
    }
    c.memory = (inputs + (forward ? weights : outputs)) * element_ + results * (terms > 1 ? 2 * partial_bytes_ : result_bytes_);
    return c;
  }
  double whole_pieces(double elements, double pieces) const { return elements * element_ / host_.read_bytes + pieces * host_.piece; }
  // Rows whose channels are cut, and more of them than a vertex takes, are copied.
  double rows(double elements, const Block& b, const std::array<std::int64_t, kConvDims>& sizes, std::int64_t channel_cuts) const {
    const double n = static_cast<double>(b.groups * b.batch * sizes[0]), bytes = elements * element_;
    if (p_.lines.size() > 1 && b.batch * sizes[0] <= kConvPieces && channel_cuts == 1) return whole_pieces(elements, n);
    double pixels = n;
    for (std::size_t d = 1; d < p_.lines.size(); ++d) pixels *= static_cast<double>(sizes[d]);
    return bytes / host_.gathered_bytes + (channel_cuts == 1 ? n : pixels) * host_.gathered_run;
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
  Cost host_reading(double operands, double runs) const {
    const double bytes = operands * element_;
    return runs > 2 * static_cast<double>(p_.groups) ? model_.copy(bytes, bytes / runs) : 0;
  }

  const Convolution& p_;
  ConvolutionKind kind_;
  const Host host_;
  bool is_cpu_;
  CostModel model_;
  ElementType partials_;
  double element_, partial_bytes_, result_bytes_;
};

class Search {
 public:
  Search(const Machine& machine, const Host& host, const ConvolutionOptions& options, const Convolution& problem, ConvolutionKind kind,
         bool by_row)
      : p_(problem),
        constraints_(options.constraints),
        cost_(machine, host, options, problem, kind),
        places_(places_of(machine, host)),
        budget_(is_cpu(machine) ? 1e30 : options.memory_proportion * bytes_per_tile(machine)) {
    cut_.field.assign(problem.lines.size(), 1);
    holds_results_ = is_cpu(machine) || cost_.bytes_of_results(cut_) <= static_cast<double>(places_) * bytes_per_tile(machine);
    cut_.by_row = by_row;
    if (by_row) cut_.first = first_tile();
  }

  // Nothing if there is no grid that the constraints allow. Steps in time leave all results on the tiles: where these alone are too much,
  // no number of steps helps.
  std::optional<ConvolutionPlan> run() {
    for (std::int64_t serial = 1; serial <= std::max<std::int64_t>(1, p_.out_channels); serial *= 2) {
      cut_.serial = constraints_.serial > 0 ? constraints_.serial : serial;
      groups();
      if (constraints_.serial > 0 || !best_ || best_->cost.memory <= budget_ || !holds_results_) break;
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
    each(channel_splits(up(p_.out_channels, cut_.serial), grain, places_, constraints_.out_channels), cut_.out_channels, used,
         [&](std::int64_t n) {
           each(channel_splits(p_.in_channels, grain, places_, constraints_.in_channels), cut_.in_channels, n,
                [&](std::int64_t) { consider(); });
         });
  }
  // Fitting before not; then the cheaper, or the smaller; then the first found.
  void consider() {
    const ConvolutionCost cost = cost_(cut_);
    const auto rank = [&](const ConvolutionCost& c) { return c.memory <= budget_ ? std::pair(0, c.total()) : std::pair(1, c.memory); };
    if (!best_ || rank(cost) < rank(best_->cost)) best_ = ConvolutionPlan{cut_, cost};
    if (cut_.by_row && cost.memory <= budget_ && cost.total() <= kHostSlack * best_->cost.total()) good_.push_back({cut_, cost});
  }

  // Among those that are nearly as good for the host. None, if nothing fits.
  std::optional<ConvolutionPlan> of_few_cycles() const {
    std::optional<ConvolutionPlan> found;
    double least = 1e300;
    for (const ConvolutionPlan& plan : good_) {
      if (plan.cost.total() > kHostSlack * best_->cost.total()) continue;
      Partition cut = plan.partition;
      cut.by_row = false;
      const ConvolutionCost cycles = cost_(cut);
      if (cycles.total() < least) least = cycles.total(), found = ConvolutionPlan{plan.partition, cycles};
    }
    return found;
  }

  // Convolutions of one shape lie on the same tiles, others begin elsewhere: else the first tiles would have blocks of all.
  std::int64_t first_tile() const {
    std::int64_t n = 31 * p_.in_channels + 17 * p_.out_channels;
    for (const Line& line : p_.lines) n = 13 * n + 7 * line.in + line.taps;
    return n % places_;
  }

  const Convolution& p_;
  const PartitionConstraints& constraints_;
  Coster cost_;
  std::int64_t places_;
  double budget_;
  bool holds_results_ = true;  // all tiles together
  Partition cut_;
  std::optional<ConvolutionPlan> best_;
  std::vector<ConvolutionPlan> good_;
};

}  // namespace

std::int64_t places_of(const Machine& machine, const Host& host) { return is_cpu(machine) ? host.vertices : machine.tiles(); }

std::int64_t Convolution::taps() const {
  std::int64_t n = 1;
  for (const Line& line : lines) n *= line.taps;
  return n;
}

std::uint64_t Convolution::flops() const {
  std::uint64_t n = 2 * static_cast<std::uint64_t>(groups * batch * in_channels * out_channels);
  for (const Line& line : lines) n *= meetings(line);
  return n;
}

std::int64_t Partition::field_blocks() const {
  std::int64_t n = 1;
  for (const std::int64_t f : field) n *= f;
  return n;
}

std::int64_t Partition::blocks() const { return groups * batch * field_blocks() * out_channels * in_channels; }

ConvolutionCost cost_of(const Convolution& problem, ConvolutionKind kind, const ConvolutionOptions& options, const Partition& partition,
                        const Machine& machine, const Host& host) {
  return Coster(machine, host, options, problem, kind)(partition);
}

std::optional<ConvolutionPlan> plan_convolution(const Convolution& problem, ConvolutionKind kind, const ConvolutionOptions& options,
                                                const Machine& machine, const Host& host) {
  std::optional<ConvolutionPlan> plan;
  if (is_by_row(machine, options)) plan = Search(machine, host, options, problem, kind, true).run();
  return plan ? plan : Search(machine, host, options, problem, kind, false).run();
}

std::string to_string(const Convolution& p, ConvolutionKind kind, const ConvolutionPlan& plan) {
  const Partition& c = plan.partition;
  std::vector<std::int64_t> field;
  for (const Line& line : p.lines) field.push_back(line.out);
  return fmt::format(
      "{}: groups {} / {}, batch {} / {}, field {} / {}, output channels {} / {}, input channels {} / {}; {} blocks in {} serial steps{}\n"
      "  cost: exchange {:.0f}, compute {:.0f}, reduction {:.0f}, total {:.0f}; {:.0f} bytes on a tile\n",
      kind == ConvolutionKind::forward ? "convolution" : "gradient of weights", p.groups, c.groups, p.batch, c.batch, fmt::join(field, "x"),
      fmt::join(c.field, "x"), p.out_channels, c.out_channels, p.in_channels, c.in_channels, c.blocks(), c.serial,
      c.by_row ? ", by row" : "", plan.cost.exchange, plan.cost.compute, plan.cost.reduction, plan.cost.total(), plan.cost.memory);
}

}  // namespace pando::planning
