#include "search/programs/program_space.h"

#include "base/error.h"
#include "ir/op_row.h"
#include "pando/model_error.hpp"
#include "schedule/synthesised.h"
#include "transform/distribute/axis.h"
#include "transform/distribute/layout/layout.h"
#include "transform/distribute/stages/stages.h"
#include "transform/distribute/strategy_text.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>

namespace pando::search {

namespace {

using transform::parse_words;
using transform::Phase;
using transform::Program;

// --- facts ------------------------------------------------------------------------------------------------------------------------------

std::int64_t samples_of(const Program& p) {
  const ir::Module& m = p.module;
  std::int64_t n = 0;
  const auto count = [&](const ir::Shape& shape, std::int32_t dim) {
    if (dim >= 0 && static_cast<std::size_t>(dim) < shape.size()) n = std::gcd(n, shape[static_cast<std::size_t>(dim)]);
  };
  const auto& inputs = m.graph(m.main_graph()).inputs;
  for (std::size_t i = 0; i < inputs.size(); ++i) count(m.type_of(inputs[i]).shape, Program::dim_of(p.batch_dim, i));
  for (std::size_t s = 0; s < m.stream_count(); ++s) {
    count(m.stream(ir::HostStreamId(static_cast<std::uint32_t>(s))).shape, Program::dim_of(p.stream_batch_dim, s));
  }
  return n;
}

bool any(const std::vector<std::int32_t>& dims) {
  return std::any_of(dims.begin(), dims.end(), [](std::int32_t d) { return d >= 0; });
}

// A product of two values that both depend on samples.
bool has_attention(const Program& p, const transform::Layout& layout) {
  const ir::Module& m = p.module;
  const auto depends = [&](ir::ValueId v) {
    return m.value(v).producer.valid() && layout.when[m.value(v).producer.index()] == transform::When::each;
  };
  for (ir::OpId o : m.graph(m.main_graph()).ops) {
    if (m.row(o).product == ir::Product::matrices && p.phase_of(o) == Phase::forward && depends(m.operand(o, 0)) &&
        depends(m.operand(o, 1)))
      return true;
  }
  return false;
}

std::vector<double> layer_seconds(const Program& p, const transform::Layout& layout, const simulate::CostModel& costs, std::size_t layers) {
  std::vector<double> all(layers, 0);
  for (ir::OpId o : p.module.graph(p.module.main_graph()).ops) {
    if (layout.when[o.index()] != transform::When::each || p.phase_of(o) != Phase::forward || p.layer_of(o) >= layers) continue;
    all[p.layer_of(o)] += costs.least_seconds(p.module, o, 1);
  }
  return all;
}

// --- cuts -------------------------------------------------------------------------------------------------------------------------------

// A name with its first number replaced by a star: "block3.up" is "block*.up".
std::string without_number(const std::string& name) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto begin = std::find_if(name.begin(), name.end(), digit);
  const auto end = std::find_if_not(begin, name.end(), digit);
  return begin == name.end() ? name : std::string(name.begin(), begin) + '*' + std::string(end, name.end());
}

// Weights that the forward pass takes, of two dimensions and more, by their names without numbers; one alone has its own name.
std::map<std::string, std::vector<ir::ValueId>> weights_by_name(const Program& p) {
  const ir::Module& m = p.module;
  std::set<ir::ValueId> used;
  for (ir::OpId o : m.graph(m.main_graph()).ops) {
    if (p.phase_of(o) != Phase::forward) continue;
    for (ir::ValueId v : m.operands(o)) used.insert(v);
  }
  std::map<std::string, std::vector<ir::ValueId>> all, named;
  const auto& inputs = m.graph(m.main_graph()).inputs;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (p.is_batch(i) || m.type_of(inputs[i]).shape.size() < 2 || !used.contains(inputs[i])) continue;
    all[without_number(m.name_of(inputs[i]))].push_back(inputs[i]);
  }
  for (auto& [name, values] : all) named[values.size() == 1 ? m.name_of(values[0]) : name] = std::move(values);
  return named;
}

// How a layout has everything over the tensor axis.
std::string picture_of(const transform::Layout& layout) {
  std::string text;
  const auto draw = [&](const transform::Spec& s) {
    text += static_cast<char>(s.kind * 16 + s.dim);
    if (s.outer != 1) text += std::to_string(s.outer);
  };
  for (const auto* list : {&layout.raw, &layout.resolved, &layout.demand}) {
    for (const transform::Specs& s : *list) draw(s[transform::kTensor]);
  }
  return text;
}

// All that can be said of up to `most` weights. What leads to a layout that is there already, with fewer weights or earlier names, is left
// out; so is what does not divide.
class CutFinder {
 public:
  CutFinder(const Program& p, std::int32_t tensor, std::int32_t most) : program_(p), strategy_{.tensor = tensor}, most_(most) {
    for (const auto& [name, values] : weights_by_name(p)) weights_.emplace_back(name, rank_of(p.module, values));
  }

  std::vector<Cuts> run() {
    refuse_too_many();
    const auto weights = static_cast<std::int32_t>(weights_.size());
    for (std::int32_t n = 0; n <= std::min(most_, weights); ++n) extend(0, n);
    return std::move(found_);
  }

 private:
  void refuse_too_many() const {
    constexpr double kMost = 100'000;
    // By how many weights are cut: in how many ways.
    std::vector<double> ways(static_cast<std::size_t>(most_) + 1, 0);
    ways[0] = 1;
    for (const auto& [name, rank] : weights_) {
      for (std::size_t n = ways.size(); n-- > 1;) ways[n] += ways[n - 1] * (rank + 1);
    }
    if (std::accumulate(ways.begin(), ways.end(), 0.0) <= kMost) return;
    fail(ErrorKind::poplar_error, "search-space", "{} weights at once, of {}, can be cut in more than {} ways; say fewer", most_,
         weights_.size(), kMost);
  }

  // Weights of one name may differ in rank: then they are said by the dimensions that all have.
  static std::int32_t rank_of(const ir::Module& m, const std::vector<ir::ValueId>& values) {
    std::size_t rank = m.type_of(values[0]).shape.size();
    for (ir::ValueId v : values) rank = std::min(rank, m.type_of(v).shape.size());
    return static_cast<std::int32_t>(rank);
  }

  void extend(std::size_t first, std::int32_t more) {
    if (more == 0) return add();
    for (std::size_t i = first; i + static_cast<std::size_t>(more) <= weights_.size(); ++i) {
      const auto& [name, rank] = weights_[i];
      for (std::int32_t dim = -1; dim < rank; ++dim) {
        strategy_.cut[name] = dim;
        extend(i + 1, more - 1);
      }
      strategy_.cut.erase(name);
    }
  }

  void add() {
    try {
      if (seen_.insert(picture_of(transform::lay_out(program_, strategy_))).second && !strategy_.cut.empty())
        found_.push_back(strategy_.cut);
    } catch (const ModelError&) {}
  }

  const Program& program_;
  transform::Strategy strategy_;
  std::int32_t most_;
  // Name and rank.
  std::vector<std::pair<std::string, std::int32_t>> weights_;
  std::set<std::string> seen_;
  std::vector<Cuts> found_;
};

// --- axes -------------------------------------------------------------------------------------------------------------------------------

// Which words a user demands, and the values.
struct ProgramDemand {
  explicit ProgramDemand(const std::string& text) : values(parse_words(text)) {
    std::string word;
    for (char c : text + " ") {
      if (c != ' ' && c != ',') {
        word += c;
        continue;
      }
      if (const transform::AxisRow* axis = transform::find_axis(word.substr(0, word.find('=')))) words.insert(axis->word);
      word.clear();
    }
  }
  // The demanded value alone, or all.
  template <class T>
  std::vector<T> one_of(const char* word, const T& demanded, std::vector<T> all) const {
    return words.contains(word) ? std::vector<T>{demanded} : all;
  }
  transform::Strategy values;
  std::set<std::string_view> words;
};

std::vector<std::int32_t> divisors(std::int64_t n, std::int64_t most) {
  std::vector<std::int32_t> all;
  for (std::int64_t i = 1; i <= std::min(n, most); ++i) {
    if (n % i == 0) all.push_back(static_cast<std::int32_t>(i));
  }
  return all;
}

// How many layers each stage has: as many each, about as many operations each, and so that the slowest is as quick as can be.
std::vector<std::uint32_t> quickest_slowest(const std::vector<double>& cost, std::size_t stages) {
  const std::size_t n = cost.size();
  std::vector<double> before(n + 1, 0);
  std::partial_sum(cost.begin(), cost.end(), before.begin() + 1);
  std::vector<std::vector<double>> worst(stages + 1, std::vector<double>(n + 1, std::numeric_limits<double>::infinity()));
  std::vector<std::vector<std::size_t>> from(stages + 1, std::vector<std::size_t>(n + 1, 0));
  worst[0][0] = 0;
  for (std::size_t s = 1; s <= stages; ++s) {
    for (std::size_t end = s; end <= n; ++end) {
      for (std::size_t begin = s - 1; begin < end; ++begin) {
        const double w = std::max(worst[s - 1][begin], before[end] - before[begin]);
        if (w < worst[s][end]) worst[s][end] = w, from[s][end] = begin;
      }
    }
  }
  std::vector<std::uint32_t> sizes(stages);
  for (std::size_t s = stages, end = n; s > 0; end = from[s][end], --s) sizes[s - 1] = static_cast<std::uint32_t>(end - from[s][end]);
  return sizes;
}

class SpaceBuilder {
 public:
  SpaceBuilder(const ProgramFacts& facts, const ProgramSpace& space) : facts_(facts), space_(space), demand_(space.require) {}

  std::vector<ProgramGroup> run() {
    transform::Strategy s;
    s.first_device = space_.first_device;
    const std::int64_t n = space_.devices;
    for (std::int32_t tensor : demand_.one_of("tensor", demand_.values.tensor, divisors(n, n))) {
      for (std::int32_t pipeline :
           demand_.one_of("pipeline", demand_.values.pipeline,
                          divisors(n, std::max<std::int64_t>(1, static_cast<std::int64_t>(facts_.layer_operations.size()))))) {
        for (std::int32_t context : demand_.one_of("context", demand_.values.context, divisors(facts_.has_sequence ? n : 1, n))) {
          for (std::int32_t expert : demand_.one_of("expert", demand_.values.expert, divisors(facts_.has_experts ? n : 1, n))) {
            const std::int64_t taken = std::int64_t{tensor} * pipeline * context * expert;
            if (n % taken != 0) continue;
            s.tensor = tensor, s.pipeline = pipeline, s.context = context, s.expert = expert;
            s.data = static_cast<std::int32_t>(n / taken);
            if (demand_.words.contains("data") && s.data != demand_.values.data) continue;
            microbatches(s);
          }
        }
      }
    }
    return std::move(groups_);
  }

 private:
  void microbatches(transform::Strategy s) {
    // Nothing is cut that cannot be: a step without samples has one microbatch.
    const std::int64_t share = facts_.samples / std::max(1, s.data * s.expert);
    const std::int64_t most = facts_.samples == 0 ? 1 : space_.most_microbatches;
    for (std::int32_t m : demand_.one_of("microbatches", demand_.values.microbatches, divisors(std::max<std::int64_t>(1, share), most))) {
      s.microbatches = m;
      schedules(s);
    }
  }

  void schedules(transform::Strategy s) {
    if (s.pipeline == 1) return sequences(s);
    for (const std::string& name : demand_.one_of("schedule", demand_.values.schedule, schedule_names(s.pipeline))) {
      s.schedule = name;
      if (name == demand_.values.schedule && demand_.values.table) s.table = demand_.values.table;
      const bool is_to_be_made = schedule::is_synthesised(name) && !schedule::has_costs(name);
      for (int bits = 0; bits < (is_to_be_made ? 4 : 1); ++bits) {
        transfers_cost_ = bits & 1, levelled_ = bits & 2;
        stages_per_rank(s, name);
      }
      transfers_cost_ = levelled_ = false;
    }
    tables(s);
  }

  void stages_per_rank(transform::Strategy s, const std::string& name) {
    for (std::int32_t v : demand_.one_of("stages-per-rank", demand_.values.stages_per_rank, stages_per_rank_of(name))) {
      const std::size_t stages = static_cast<std::size_t>(s.pipeline) * static_cast<std::size_t>(v);
      if (stages > facts_.layer_operations.size()) continue;
      s.stages_per_rank = v;
      layers(s, stages);
    }
  }

  void layers(transform::Strategy& s, std::size_t stages) {
    for (const auto& sizes : demand_.one_of("layers", demand_.values.layers_per_stage, layer_choices(stages))) {
      s.layers_per_stage = sizes;
      sequences(s);
    }
  }

  void tables(transform::Strategy s) {
    if (demand_.words.contains("schedule")) return;
    for (const NamedTable& t : space_.tables) {
      const auto ranks = static_cast<std::int32_t>(t.table.ranks.size());
      if (ranks != s.pipeline || t.table.microbatches() != s.microbatches || t.table.stages() % ranks != 0) continue;
      const std::int32_t v = t.table.stages() / ranks;
      const auto stages = static_cast<std::size_t>(t.table.stages());
      if (stages > facts_.layer_operations.size() || (demand_.words.contains("stages-per-rank") && v != demand_.values.stages_per_rank))
        continue;
      s.schedule = t.name;
      s.table = t.table;
      s.stages_per_rank = v;
      layers(s, stages);
    }
  }

  std::vector<std::string> schedule_names(std::int32_t ranks) const {
    if (space_.wide && space_.schedules.empty()) return schedule::names();
    if (space_.schedules.empty()) return {"1F1B", "Interleaved1F1B"};
    std::vector<std::string> names;
    for (const std::string& name : space_.schedules) {
      if (name == "all") {
        names.insert(names.end(), schedule::names().begin(), schedule::names().end());
      } else if (name == "synthesised") {
        // As much memory as 1F1B and as ZB-H2 take; in a V as much as V-Half.
        for (const std::int32_t memory : {ranks, 2 * ranks - 1}) names.push_back(schedule::synthesised_name(false, memory));
        for (const std::int32_t memory : {ranks / 2 + 1, ranks}) names.push_back(schedule::synthesised_name(true, memory));
      } else {
        names.push_back(name);
      }
    }
    return names;
  }
  std::vector<std::int32_t> stages_per_rank_of(const std::string& name) const {
    if (demand_.values.table && name == demand_.values.schedule) {
      return {std::max(
          1, demand_.values.table->stages() / static_cast<std::int32_t>(std::max<std::size_t>(1, demand_.values.table->ranks.size())))};
    }
    const std::int32_t fixed = schedule::stages_per_rank_of(name);
    if (fixed > 0) return {fixed};
    if (schedule::is_synthesised(name)) return {1};
    return space_.wide ? std::vector<std::int32_t>{2, 3, 4} : std::vector<std::int32_t>{2};
  }

  // Operations and seconds do not tell what transfers cost: stages that differ by a layer from those are tried, and of two stages all.
  std::vector<std::vector<std::uint32_t>> layer_choices(std::size_t stages) const {
    const std::size_t layers = facts_.layer_operations.size();
    std::vector<std::vector<std::uint32_t>> all;
    if (stages == 2 && layers <= 16) {
      for (std::uint32_t first = 1; first < layers; ++first) all.push_back({first, static_cast<std::uint32_t>(layers) - first});
      return all;
    }
    all.push_back(transform::even_groups(facts_.layer_operations, static_cast<std::int32_t>(stages)));
    all.push_back(quickest_slowest(facts_.layer_seconds, stages));
    if (layers % stages == 0) all.emplace_back(stages, static_cast<std::uint32_t>(layers / stages));
    for (std::size_t i = 0, n = all.size(); i < n && stages <= 8; ++i) {
      for (std::size_t s = 0; s + 1 < stages; ++s) add_moved(all, i, s);
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  }
  // One layer across the boundary behind stage s, either way.
  static void add_moved(std::vector<std::vector<std::uint32_t>>& all, std::size_t which, std::size_t s) {
    for (const int way : {-1, 1}) {
      std::vector<std::uint32_t> moved = all[which];
      std::uint32_t &from = way > 0 ? moved[s + 1] : moved[s], &to = way > 0 ? moved[s] : moved[s + 1];
      if (from < 2) continue;
      --from, ++to;
      all.push_back(std::move(moved));
    }
  }

  void sequences(transform::Strategy s) {
    const bool may = s.tensor > 1 && facts_.has_sequence;
    for (bool parallel : demand_.one_of("sequence-parallel", true, may ? std::vector<bool>{false, true} : std::vector<bool>{false})) {
      s.sequence_parallel = parallel;
      cuts(s);
    }
  }

  void cuts(transform::Strategy s) {
    s.cut = demand_.values.cut;
    group(s);
    if (s.tensor == 1 || demand_.words.contains("cut")) return;
    const auto choices = facts_.cuts.find(s.tensor);
    if (choices == facts_.cuts.end()) return;
    for (const Cuts& cuts : choices->second) {
      s.cut = cuts;
      group(s);
    }
  }

  void group(transform::Strategy s) {
    ProgramGroup g;
    g.transfers_cost = transfers_cost_;
    g.levelled = levelled_;
    g.first_index = groups_.empty() ? 0 : groups_.back().first_index + static_cast<std::int64_t>(groups_.back().points.size());
    const bool zero = s.data > 1 && facts_.has_updates;
    for (std::int32_t z :
         demand_.one_of("zero", demand_.values.zero, zero ? std::vector<std::int32_t>{0, 1, 2, 3} : std::vector<std::int32_t>{0})) {
      for (transform::Recompute r : demand_.one_of("recompute", demand_.values.recompute, recomputations())) {
        s.zero = z, s.recompute = r;
        s.recomputed_layers = r == transform::Recompute::none ? std::vector<std::uint32_t>() : demand_.values.recomputed_layers;
        offloads(s, g);
      }
    }
    const std::size_t plain = g.points.size();
    for (const std::vector<std::string>& order : orders(s)) {
      for (std::size_t i = 0; i < plain; ++i) {
        g.points.push_back(g.points[i]);
        g.points.back().order = order;
      }
    }
    if (demand_.words.contains("order")) {
      for (transform::Strategy& p : g.points) p.order = demand_.values.order;
    }
    groups_.push_back(std::move(g));
  }

  // Where levels of the network differ: all orders of the axes that have several devices, but for the one that the numbers have anyhow.
  std::vector<std::vector<std::string>> orders(const transform::Strategy& s) const {
    std::vector<std::pair<std::size_t, std::string>> axes;
    for (const auto& [size, name] : std::initializer_list<std::pair<std::int32_t, const char*>>{
             {s.data, "data"}, {s.expert, "expert"}, {s.context, "context"}, {s.tensor, "tensor"}, {s.pipeline, "pipeline"}}) {
      if (size > 1) axes.emplace_back(axes.size(), name);
    }
    std::vector<std::vector<std::string>> all;
    if (!facts_.has_levels || demand_.words.contains("order")) return all;
    while (std::next_permutation(axes.begin(), axes.end())) {
      all.emplace_back();
      for (const auto& [position, name] : axes) all.back().push_back(name);
    }
    return all;
  }

  std::vector<transform::Recompute> recomputations() const {
    if (!facts_.has_backward) return {transform::Recompute::none};
    return facts_.has_attention ? std::vector{transform::Recompute::none, transform::Recompute::selective, transform::Recompute::full}
                                : std::vector{transform::Recompute::none, transform::Recompute::full};
  }

  void offloads(transform::Strategy s, ProgramGroup& g) const {
    if (demand_.words.contains("offload")) {
      s.offload_weights = demand_.values.offload_weights, s.offload_optimizer = demand_.values.offload_optimizer;
      s.offload_activations = demand_.values.offload_activations;
      g.points.push_back(s);
      return;
    }
    for (int bits = 0; bits < (space_.wide ? 8 : 1); ++bits) {
      s.offload_weights = bits & 1, s.offload_optimizer = bits & 2, s.offload_activations = bits & 4;
      if (s.offload_optimizer && !facts_.has_updates) continue;
      // Where all layers compute again there is nothing left to bring off chip; where some do, there is.
      const bool nothing = s.recompute == transform::Recompute::full && s.recomputed_layers.empty() && space_.recompute_sets == 0;
      if (s.offload_activations && (!facts_.has_backward || nothing)) continue;
      g.points.push_back(s);
    }
  }

  const ProgramFacts& facts_;
  const ProgramSpace& space_;
  ProgramDemand demand_;
  bool transfers_cost_ = false, levelled_ = false;
  std::vector<ProgramGroup> groups_;
};

}  // namespace

ProgramFacts facts_of(const Program& program, const simulate::CostModel& costs, const simulate::Cluster& cluster,
                      const ProgramSpace& space) {
  ProgramFacts f;
  f.has_levels = cluster.level_of(space.first_device, space.first_device + space.devices - 1) > 0;
  f.samples = samples_of(program);
  f.has_sequence = any(program.sequence_dim);
  f.has_experts = any(program.expert_dim);
  for (ir::OpId o : program.module.graph(program.module.main_graph()).ops) {
    f.has_backward |= program.phase_of(o) == Phase::backward;
    f.has_updates |= program.phase_of(o) == Phase::update;
  }
  const transform::Layout layout = transform::lay_out(program, {});
  f.has_attention = has_attention(program, layout);
  f.layer_operations = transform::layer_operations(program, layout);
  f.layer_seconds = layer_seconds(program, layout, costs, f.layer_operations.size());
  const ProgramDemand demand(space.require);
  for (std::int32_t tensor : demand.one_of("tensor", demand.values.tensor, divisors(space.devices, space.devices))) {
    if (space.cuts > 0 && tensor > 1 && !demand.words.contains("cut")) f.cuts[tensor] = CutFinder(program, tensor, space.cuts).run();
  }
  return f;
}

std::vector<ProgramGroup> program_groups(const ProgramFacts& facts, const ProgramSpace& space) {
  if (space.devices < 1 || space.devices > 1 << 20) {
    fail(ErrorKind::poplar_error, "search-space", "{} devices; 1 to {} are possible", space.devices, 1 << 20);
  }
  return SpaceBuilder(facts, space).run();
}

}  // namespace pando::search
