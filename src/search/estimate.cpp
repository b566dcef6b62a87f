#include "search/placement.h"
#include "search/rank_memory.h"
#include "search/strategy.h"
#include "search/timeline.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace pando::search {

using simulate::Cluster;
using simulate::Collective;
using simulate::Group;
using simulate::MemoryKind;

Groups levels_of(const Cluster& cluster, const Strategy& s) {
  const auto group = [&](std::int8_t level, std::int64_t count, std::int64_t stride) {
    if (level < 0) return simulate::group_of(cluster, 0, count, stride);
    Group g;
    g.inner = count;
    g.inner_level = g.outer_level = static_cast<std::size_t>(level);
    return g;
  };
  Groups g;
  g.tensor = group(s.tensor_level, s.tensor, 1);
  g.context = group(s.tensor_level, s.context, s.tensor);
  g.data = group(s.data_level, replicas_of(s), s.tensor);
  g.expert = group(s.data_level, s.expert_in_data, s.tensor);
  g.pipeline = group(s.pipeline_level, 2, replicas_of(s) * s.tensor);
  g.ranks = group(s.pipeline_level, s.pipeline, replicas_of(s) * s.tensor);
  return g;
}

namespace {

// What one stage's devices hold and do.
struct Stage {
  double layers = 0, expert_layers = 0;
  // Of them, those that are computed again where others are not.
  double again = 0, expert_again = 0;
  // Stages like this one, and the first of them.
  double times = 1;
  std::int64_t rank = 0;
  bool first = false, last = false;
  // Of a device: of all but the experts, and of these.
  double parameters = 0, expert_parameters = 0;
};

// Rank 0 has one more only where all but the last rank do.
std::int64_t layers_of_rank(const Division& d, std::int64_t ranks, std::int64_t rank) {
  if (rank + 1 == ranks) return d.last;
  return d.others + (rank >= ranks - 1 - d.more ? 1 : 0);
}

class Formula {
 public:
  Formula(const StrategyFacts& facts, LayerMemo& memo, const Strategy& s)
      : m_(facts.model),
        c_(facts.cluster),
        s_(s),
        schedule_(schedule_of(s)),
        layer_(&memo.layer(m_, c_, s, most_of(s), false, facts.shapes)),
        head_(memo.head(m_, c_, s, facts.shapes)) {
    if (m_.experts > 0) expert_layer_ = &memo.layer(m_, c_, s, most_of(s), true, facts.shapes);
    if (s.recompute_first > 0) {
      again_ = &memo.layer(m_, c_, s, s.recompute, false, facts.shapes);
      if (m_.experts > 0) expert_again_ = &memo.layer(m_, c_, s, s.recompute, true, facts.shapes);
    }
    microbatches_ = static_cast<double>(facts.microbatches(s));
    make_stages(s.weighed ? weighed_division({m_, c_, facts.batch, &memo, facts.shapes}, s) : even_division(m_.layers, s.pipeline));
    set_parameters();
    for (Stage& st : stages_) {
      const auto n = static_cast<double>(s.recompute_first * stages_of_rank(s));
      st.again = std::min(n, st.layers);
      st.expert_again = std::min(n - st.again, st.expert_layers);
    }
  }

  Estimate run(std::optional<double> limit) {
    memory();
    if (!limit || e_.fits(*limit, c_)) times();
    return e_;
  }

  // Stages that are alike written out.
  std::vector<RankMemory> ranks() {
    std::vector<RankMemory> all;
    for (const Stage& like : stages_) {
      for (std::int64_t i = 0; i < static_cast<std::int64_t>(like.times); ++i) {
        Stage s = like;
        s.rank += i;
        all.push_back({s.rank, static_cast<std::int64_t>(s.layers + s.expert_layers), stage_memory(s)});
      }
    }
    return all;
  }

 private:
  // Neighbours with as many layers of each kind are alike, but for the first two and the last: one stands for all.
  void make_stages(const Division& d) {
    const std::int64_t p = s_.pipeline;
    even_ = d.more == 0 && d.last == d.others;
    if (m_.experts == 0) {
      const auto add = [&](std::int64_t rank, std::int64_t layers, std::int64_t times) {
        if (times > 0) stages_.push_back(stage(rank, layers, 0, static_cast<double>(times)));
      };
      const std::int64_t fewer = p - 1 - d.more, first = d.others + (fewer == 0 ? 1 : 0);
      if (p > 1) add(0, first, 1);
      add(1, d.others, fewer - 1);
      add(std::max<std::int64_t>(1, fewer), d.others + 1, fewer == 0 ? d.more - 1 : d.more);
      add(p - 1, d.last, 1);
      return;
    }
    std::int64_t begin = 0;
    for (std::int64_t i = 0; i < p; ++i) {
      const std::int64_t layers = layers_of_rank(d, p, i);
      const std::int64_t dense = layers - (m_.expert_layers(begin + layers) - m_.expert_layers(begin));
      begin += layers;
      Stage now = stage(i, dense, layers - dense, 1);
      const bool alike = i > 1 && i + 1 < p && stages_.back().layers == now.layers && stages_.back().expert_layers == now.expert_layers;
      if (alike && !stages_.back().first)
        stages_.back().times += 1;
      else
        stages_.push_back(now);
    }
  }

  Stage stage(std::int64_t rank, std::int64_t layers, std::int64_t expert_layers, double times) const {
    Stage s;
    s.layers = static_cast<double>(layers);
    s.expert_layers = static_cast<double>(expert_layers);
    s.rank = rank;
    s.times = times;
    s.first = rank == 0;
    s.last = rank + 1 == s_.pipeline;
    return s;
  }

  void set_parameters() {
    const auto t = static_cast<double>(s_.tensor);
    const double layer = m_.layer_parameters(false), rest_of_expert_layer = m_.layer_parameters(true), experts = m_.expert_parameters(),
                 embedding = m_.embedding_parameters(), positions = m_.position_parameters();
    for (Stage& s : stages_) {
      s.expert_parameters = s.expert_layers * experts / static_cast<double>(s_.expert_in_data) / t;
      // A stage that has embedding and head holds weights that they share once.
      const int embeddings = s.first && s.last && m_.tied ? 1 : s.first + s.last;
      s.parameters = (s.layers * layer + s.expert_layers * rest_of_expert_layer + embeddings * embedding) / t + (s.first ? positions : 0);
    }
  }

  // What most layers do.
  static Recompute most_of(const Strategy& s) { return s.recompute_first > 0 ? Recompute::none : s.recompute; }
  // None: of layers that the model does not have.
  static const LayerCosts& none() {
    static const LayerCosts none;
    return none;
  }

  // Of all layers of a stage: what most cost, and what those that are computed again cost otherwise.
  template <class Cost>
  double sum_over_layers(const Stage& s, Cost cost) const {
    const double all = s.layers * cost(*layer_) + s.expert_layers * cost(*expert_layer_);
    if (s_.recompute_first == 0) return all;
    return all + s.again * (cost(*again_) - cost(*layer_)) + s.expert_again * (cost(*expert_again_) - cost(*expert_layer_));
  }
  // The mean of a stage's layers.
  double again_seconds(const Stage& s) const {
    const double n = s.layers + s.expert_layers;
    return n > 0 ? sum_over_layers(s, [](const LayerCosts& l) { return l.again_seconds; }) / n : 0;
  }

  double stage_seconds(const Stage& s) const {
    return sum_over_layers(s, [](const LayerCosts& l) { return l.seconds(); }) + (s.last ? head_ : 0);
  }
  // What the data-parallel devices of a stage exchange, in seconds: after the last backward pass; during the backward passes of all
  // microbatches, where gradients are split (ZeRO 2); before the passes of all microbatches, where weights are (ZeRO 3).
  struct Exchange {
    double once = 0, reduced = 0, gathered = 0;
  };
  Exchange exchange_of(const Stage& s) const {
    Exchange e;
    if (replicas_of(s_) == 1) return e;
    const auto add = [&](double count, const Group& g) {
      if (g.size() <= 1 || count == 0) return;
      if (s_.zero == 0) {
        e.once += simulate::transfer_time(c_, Collective::all_reduce, 4 * count, g).seconds;
        return;
      }
      const double gather = simulate::transfer_time(c_, Collective::all_gather, (s_.zero == 3 ? c_.gather_bytes : 2) * count, g).seconds;
      const double scatter =
          simulate::transfer_time(c_, Collective::reduce_scatter, (s_.zero == 3 ? c_.reduce_bytes : 4) * count, g).seconds;
      (s_.zero >= 2 ? e.reduced : e.once) += (s_.zero >= 2 ? microbatches_ : 1) * scatter;
      if (s_.zero == 3)
        e.gathered += 2 * microbatches_ * gather;
      else
        e.once += gather;
    };
    Group between = groups_.data;
    if (s_.expert_in_data > 1) {
      between.inner = std::max<std::int64_t>(1, between.inner / s_.expert_in_data);
      if (between.inner * between.outer * s_.expert_in_data > replicas_of(s_)) {
        between.outer = std::max<std::int64_t>(1, replicas_of(s_) / s_.expert_in_data / between.inner);
      }
    }
    add(s.parameters, groups_.data);
    add(s.expert_parameters, between);
    return e;
  }

  // Of all microbatches, what kernels of their own do with weights and gradients.
  double copies(const Stage& s) const {
    const double d = static_cast<double>(replicas_of(s_)), all = s.parameters + s.expert_parameters;
    const double split = s_.zero == 3 && d > 1 ? c_.shard_bytes * all : 0, sums = c_.sum_bytes * all / (s_.zero >= 2 ? d : 1);
    const auto seconds = [&](double bytes) {
      return bytes > 0 ? bytes / (c_.memory_bytes_per_second * c_.memory_efficiency.at(bytes)) : 0;
    };
    return microbatches_ * seconds(split) + (microbatches_ - 1) * seconds(sums);
  }

  // What is seen of it. Reductions run beside backward passes if the strategy says so, but for the first layer's, which ends them; weights
  // are gathered ahead of each layer. What is hidden slows down what it hides behind.
  double seen_of(const Exchange& e, const Stage& s) const {
    // Across units a transfer goes through the level inside of them, too.
    const auto slowdown_of = [&](std::size_t level) { return c_.levels.empty() ? 0 : c_.levels[level].slowdown; };
    const double slowdown =
        std::max(slowdown_of(groups_.data.outer_level), groups_.data.inner > 1 ? slowdown_of(groups_.data.inner_level) : 0);
    const double pass = stage_seconds(s) - (s.last ? head_ : 0), layers = std::max(1.0, s.layers + s.expert_layers);
    const auto hide = [&](double seconds, double most) { return seconds - std::min(seconds, most) * (1 - slowdown); };
    double seen = hide(e.gathered, microbatches_ * sum_over_layers(s, [](const LayerCosts& l) { return l.computing_seconds; }));
    if (!s_.data_overlap) return seen + e.once + e.reduced;
    seen += hide(e.once, std::min(e.once * (1 - 1 / layers), pass * 2 / 3));
    return seen + hide(e.reduced, std::min(e.reduced * (1 - 1 / layers), microbatches_ * pass * 2 / 3));
  }

  double bubble_factor() const {
    const double f = layer_->forward_seconds, i = layer_->input_seconds + again_seconds(*slowest_), w = layer_->weight_seconds,
                 whole = f + i + w;
    switch (schedule_) {
      case PipelineSchedule::one_f_one_b: return 1 / static_cast<double>(s_.stages_per_rank);
      case PipelineSchedule::zero_bubble_h1: return std::max(0.0, (f + i - w) / whole);
      case PipelineSchedule::zero_bubble_h2: return std::max(0.0, (f + i - 2 * w) / whole);
      case PipelineSchedule::zero_bubble_v: return std::max(0.0, (f + i - 2 * w) / whole);
    }
    return 1;
  }

  // Ranks but the slowest, one after the other, begin with a forward pass and a message. Where the first one to begin is the last one to
  // end nobody waits; in a schedule without bubbles each rank ends as much later as it begins.
  double synchronisation(double others, double message) const {
    if (s_.pipeline == 1 || s_.post_validation) return 0;
    const double norm = simulate::transfer_time(c_, Collective::all_reduce, 4, groups_.ranks).seconds;
    const double f = layer_->forward_seconds, i = layer_->input_seconds + again_seconds(*slowest_), w = layer_->weight_seconds;
    const double messages = static_cast<double>(s_.pipeline - 1) * message, scale = others / (f + i + w);
    const double late = scale * (2 * w - i), first = scale * f;
    switch (schedule_) {
      case PipelineSchedule::zero_bubble_h2: return norm + std::max(0.0, std::min(late, first) - messages);
      case PipelineSchedule::zero_bubble_v: return norm + std::max(0.0, std::min(late, first) / 2 - messages);
      default: return norm;
    }
  }

  void times() {
    groups_ = levels_of(c_, s_);
    double slowest = 0, all = 0, exchange = 0, step = 0, copied = 0;
    for (const Stage& stage : stages_) {
      const double t = stage_seconds(stage);
      if (t >= slowest) slowest_ = &stage;
      slowest = std::max(slowest, t);
      all += stage.times * t;
      exchange = std::max(exchange, seen_of(exchange_of(stage), stage));
      step = std::max(step, step_seconds(stage));
      copied = std::max(copied, copies(stage));
    }
    const auto p = static_cast<double>(s_.pipeline), v = static_cast<double>(s_.stages_per_rank);
    const double work = microbatches_ * slowest;
    e_.bubble = (all - slowest) * bubble_factor();
    double message = 0;
    if (s_.pipeline > 1) {
      const double chunks = schedule_ == PipelineSchedule::zero_bubble_v ? 2 : v;
      message = simulate::transfer_time(c_, Collective::send, message_bytes_of(m_, s_), groups_.pipeline).seconds;
      e_.pipeline_transfers = 2 * chunks * microbatches_ * message + 2 * (p - 1) * message;
    }
    e_.synchronisation = synchronisation(all - slowest, message);
    e_.data_transfers = exchange;
    e_.optimizer = step;
    e_.copies = copied;
    e_.host = s_.pipeline > 1 ? microbatches_ * c_.microbatch_seconds : 0;
    e_.offload = offload_seconds(work);
    e_.seconds =
        work + e_.bubble + e_.pipeline_transfers + e_.data_transfers + e_.synchronisation + e_.optimizer + e_.copies + e_.host + e_.offload;
    split_work();
  }

  double head_of_slowest() const { return slowest_->last ? head_ : 0; }

  void split_work() {
    const auto of_slowest = [&](auto cost) { return microbatches_ * sum_over_layers(*slowest_, cost); };
    const auto transfers = [&](LayerTransfer kind) {
      return of_slowest([kind](const LayerCosts& l) { return l.transfer_seconds[static_cast<std::size_t>(kind)]; });
    };
    e_.tensor_transfers = transfers(LayerTransfer::tensor);
    e_.context_transfers = transfers(LayerTransfer::context);
    e_.expert_transfers = transfers(LayerTransfer::experts);
    e_.recomputing = of_slowest([](const LayerCosts& l) { return l.again_seconds; });
    e_.head = microbatches_ * head_of_slowest();
    double whole = 0;
    for (std::size_t b = 0; b < e_.basis.size(); ++b) {
      e_.basis[b] = sum_over_layers(*slowest_, [b](const LayerCosts& l) { return l.basis_seconds[b]; });
      whole += e_.basis[b];
    }
    for (double& b : e_.basis) b = whole > 0 ? b / whole : 0;
    e_.computing = e_.seconds - e_.bubble - e_.pipeline_transfers - e_.data_transfers - e_.synchronisation - e_.optimizer - e_.host -
                   e_.offload - e_.head - e_.tensor_transfers - e_.context_transfers - e_.expert_transfers - e_.recomputing;
  }

  double split(double devices) const { return s_.zero >= 1 ? devices : 1; }
  double step_seconds(const Stage& s) const {
    const double d = static_cast<double>(replicas_of(s_)), de = std::max(1.0, d / static_cast<double>(s_.expert_in_data));
    const double own = s.parameters / split(d) + s.expert_parameters / split(de), all = s.parameters + s.expert_parameters;
    const double bytes = c_.optimizer_bytes * own + 8 * all;
    double seconds = bytes / (c_.memory_bytes_per_second * c_.memory_efficiency.at(bytes));
    if (s_.offload_optimizer && c_.far_bytes_per_second > 0) seconds += 24 * own / c_.far_bytes_per_second;
    return seconds;
  }

  double offload_seconds(double work) const {
    if (c_.far_bytes_per_second <= 0) return 0;
    double bytes = 0;
    const Stage& s = stages_.front();
    if (s_.offload_weights) bytes += 2 * microbatches_ * 2 * (s.parameters + s.expert_parameters);
    if (s_.offload_activations) {
      bytes += 2 * microbatches_ * sum_over_layers(s, [](const LayerCosts& l) { return l.activation_bytes; });
    }
    return std::max(0.0, bytes / c_.far_bytes_per_second - work);
  }

  // --- memory ---------------------------------------------------------------------------------------------------------------------------

  // Whole stages of one microbatch that rank `stage` holds at once.
  double in_flight(const Stage& s) const {
    const auto p = static_cast<double>(s_.pipeline), v = static_cast<double>(s_.stages_per_rank);
    if (s_.pipeline == 1) return 1;
    double held = 1;
    switch (schedule_) {
      case PipelineSchedule::zero_bubble_h2: held = s.first || (!even_ && !s.last) ? 2 * p - 1 : p; break;
      case PipelineSchedule::zero_bubble_h1:
      case PipelineSchedule::zero_bubble_v: held = p; break;
      case PipelineSchedule::one_f_one_b:
        // Chunks: (v - 1) p and two for each rank behind this one before the first backward pass, and the one that it begins with.
        held = ((v - 1) * p + (v > 1 ? 2 : 1) * (p - 1 - static_cast<double>(s.rank)) + 1) / v;
        break;
    }
    return std::min(held, microbatches_);
  }

  // In the second memory, of what the fullest device offloads.
  double far_bytes_of(const Stage& s) const {
    const double d = static_cast<double>(replicas_of(s_)), de = std::max(1.0, d / static_cast<double>(s_.expert_in_data));
    const double p = s.parameters, pe = s.expert_parameters;
    double bytes = 0;
    if (s_.offload_weights) bytes += 2 * (s_.zero >= 3 ? p / d + pe / de : p + pe) + 4 * (s_.zero >= 2 ? p / d + pe / de : p + pe);
    if (s_.offload_optimizer) bytes += 12 * (s_.zero >= 1 ? p / d + pe / de : p + pe);
    if (s_.offload_activations) bytes += in_flight(s) * sum_over_layers(s, [](const LayerCosts& l) { return l.activation_bytes; });
    return bytes;
  }

  void memory() {
    if (s_.offload_weights || s_.offload_optimizer || s_.offload_activations) {
      for (const Stage& s : stages_) e_.far_bytes = std::max(e_.far_bytes, far_bytes_of(s));
    }
    double most = -1;
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      if (!stages_[i].first && !stages_[i].last && m_.experts == 0 && even_) continue;
      const auto now = stage_memory(stages_[i]);
      double sum = 0;
      for (double b : now) sum += b;
      if (sum <= most) continue;
      most = sum;
      e_.memory = now;
      e_.fullest_stage = stages_[i].rank;
    }
  }

  std::array<double, simulate::kMemoryKinds> stage_memory(const Stage& s) const {
    std::array<double, simulate::kMemoryKinds> by{};
    const auto kind = [&](MemoryKind k) -> double& { return by[static_cast<std::size_t>(k)]; };
    const double d = static_cast<double>(replicas_of(s_)), de = std::max(1.0, d / static_cast<double>(s_.expert_in_data));
    const auto t = static_cast<double>(s_.tensor);
    const double p = s.parameters, pe = s.expert_parameters, layers = s.layers + s.expert_layers;
    const double resident = s_.offload_weights ? std::min(1.0, 2 / std::max(1.0, layers)) : 1;
    kind(MemoryKind::weights) = resident * 2 * (s_.zero >= 3 ? p / d + pe / de : p + pe);
    kind(MemoryKind::gradients) = resident * 4 * (s_.zero >= 2 ? p / d + pe / de : p + pe);
    kind(MemoryKind::optimizer) = s_.offload_optimizer ? 0 : 12 * (s_.zero >= 1 ? p / d + pe / de : p + pe);
    const double flight = in_flight(s);
    double activations = flight * sum_over_layers(s, [](const LayerCosts& l) { return l.activation_bytes; });
    const double widest = std::max(layer_->activation_bytes, expert_layer_->activation_bytes);
    if (s_.offload_activations) activations = std::min(activations, 2 * widest);
    const auto tokens = static_cast<double>(s_.microbatch * m_.seq) / static_cast<double>(s_.context);
    if (s.last) activations += c_.logit_bytes * tokens * static_cast<double>(m_.vocab) / t;
    kind(MemoryKind::activations) = activations;
    kind(MemoryKind::workspace) =
        std::max({layer_->working_bytes, expert_layer_->working_bytes, again_->working_bytes, expert_again_->working_bytes});
    // Gradients of embedding and head before they are added to the others; weights that are gathered for a layer.
    kind(MemoryKind::buffers) = 2 * (s.first + s.last) * m_.embedding_parameters() / t;
    if (s_.zero >= 3 && layers > 0) kind(MemoryKind::buffers) += 2 * 2 * (p + pe) / layers;
    if (s_.pipeline > 1) kind(MemoryKind::buffers) += 4 * tokens * static_cast<double>(m_.hidden) / t;
    return by;
  }

  const Transformer& m_;
  const Cluster& c_;
  const Strategy& s_;
  Groups groups_;
  const PipelineSchedule schedule_;
  const LayerCosts *layer_, *expert_layer_ = &none(), *again_ = &none(), *expert_again_ = &none();
  double head_ = 0, microbatches_ = 1;
  std::vector<Stage> stages_;
  // All ranks have as many layers.
  bool even_ = true;
  const Stage* slowest_ = nullptr;
  Estimate e_;
};

}  // namespace

Division even_division(std::int64_t layers, std::int64_t ranks) {
  const std::int64_t each = layers / ranks, more = layers % ranks;
  // One form for each division: all but the last having one more is that they have as many.
  if (ranks > 1 && more == ranks - 1) return {each, each + 1, 0};
  return {each, each, more};
}

Division weighed_division(const StrategyFacts& facts, const Strategy& s) {
  Strategy plain;
  plain.tensor = s.tensor, plain.pipeline = s.pipeline, plain.data = s.data, plain.context = s.context,
  plain.expert_in_data = s.expert_in_data;
  plain.microbatch = s.microbatch, plain.precision = s.precision;
  // What some layers of every stage do more is the same for all stages.
  const Recompute recompute = s.recompute_first == 0 ? s.recompute : Recompute::none;
  const Transformer& model = facts.model;
  LayerMemo own;
  LayerMemo& memo = facts.memo != nullptr ? *facts.memo : own;
  const double layer = memo.layer(model, facts.cluster, plain, recompute, false, facts.shapes).computing_seconds,
               head = memo.head(model, facts.cluster, plain, facts.shapes);
  const std::int64_t before = s.pipeline - 1;
  Division best = even_division(model.layers, s.pipeline);
  double quickest = std::numeric_limits<double>::infinity();
  for (std::int64_t last = model.layers / s.pipeline; last >= 1; --last) {
    const std::int64_t rest = model.layers - last;
    const double others = layer * static_cast<double>((rest + before - 1) / before);
    const double slowest = std::max(others, layer * static_cast<double>(last) + head);
    if (slowest < quickest) best = {last, rest / before, rest % before}, quickest = slowest;
    if (others >= quickest) break;
  }
  return best;
}

std::vector<std::int64_t> layers_of_ranks(const StrategyFacts& facts, const Strategy& s) {
  const Division d = s.weighed ? weighed_division(facts, s) : even_division(facts.model.layers, s.pipeline);
  std::vector<std::int64_t> all;
  for (std::int64_t i = 0; i < s.pipeline; ++i) all.push_back(layers_of_rank(d, s.pipeline, i));
  return all;
}

std::vector<std::int64_t> layers_of_stages(const StrategyFacts& facts, const Strategy& s) {
  const std::vector<std::int64_t> ranks = layers_of_ranks(facts, s);
  const std::int64_t p = s.pipeline, chunks = stages_of_rank(s);
  std::vector<std::int64_t> all(static_cast<std::size_t>(p * chunks));
  for (std::int64_t r = 0; r < p; ++r) {
    const std::int64_t layers = ranks[static_cast<std::size_t>(r)];
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
      const bool back = schedule_of(s) == PipelineSchedule::zero_bubble_v && chunk == 1;
      const std::int64_t stage = back ? 2 * p - 1 - r : chunk * p + r;
      // Neighbours' stages of one turn are alike as far as can be: they wait for each other.
      all[static_cast<std::size_t>(stage)] = layers / chunks + (chunk >= chunks - layers % chunks ? 1 : 0);
    }
  }
  return all;
}

std::int64_t most_layers_of(const StrategyFacts& facts, const Strategy& s) {
  const std::vector<std::int64_t> all = layers_of_ranks(facts, s);
  return (*std::max_element(all.begin(), all.end()) + stages_of_rank(s) - 1) / stages_of_rank(s);
}

std::vector<RankMemory> memory_of_ranks(const StrategyFacts& facts, const Strategy& s) {
  LayerMemo own;
  return Formula(facts, facts.memo != nullptr ? *facts.memo : own, s).ranks();
}

Estimate estimate(const StrategyFacts& facts, const Strategy& s, std::optional<double> limit) {
  if (facts.memo != nullptr) return Formula(facts, *facts.memo, s).run(limit);
  LayerMemo memo;
  return Formula(facts, memo, s).run(limit);
}

}  // namespace pando::search
