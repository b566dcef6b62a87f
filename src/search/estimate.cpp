#include "search/placement.h"
#include "search/strategy.h"

#include <algorithm>
#include <limits>

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
  g.data = group(s.data_level, s.data * s.context, s.tensor);
  g.expert = group(s.data_level, s.expert, s.tensor);
  g.pipeline = group(s.pipeline_level, 2, s.tensor * s.context * s.data);
  g.ranks = group(s.pipeline_level, s.pipeline, s.tensor * s.context * s.data);
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
};

class Estimator {
 public:
  Estimator(const Transformer& m, const Cluster& c, const Strategy& s, const MeasuredShapes* shapes)
      : m_(m),
        c_(c),
        s_(s),
        shapes_(shapes),
        groups_(levels_of(c, s)),
        most_(most_of(s)),
        layer_(layer_costs(m, c, most_, false, shapes)),
        head_(head_seconds(m, c, s, shapes)) {
    if (m.experts > 0) expert_layer_ = layer_costs(m, c, most_, true, shapes);
    if (s.recompute_first > 0) {
      again_ = layer_costs(m, c, s, false, shapes);
      if (m.experts > 0) expert_again_ = layer_costs(m, c, s, true, shapes);
    }
    microbatches_ = static_cast<double>(s.microbatches());
    if (s.weighed)
      weighed_stages();
    else
      even_stages();
    for (Stage& st : stages_) {
      const auto n = static_cast<double>(s.recompute_first * s.chunks());
      st.again = std::min(n, st.layers);
      st.expert_again = std::min(n - st.again, st.expert_layers);
    }
  }

  Estimate run() {
    times();
    memory();
    return e_;
  }

 private:
  void even_stages() {
    const std::int64_t p = s_.pipeline;
    for (std::int64_t i = 0; i < p; ++i) {
      Stage st;
      st.rank = i;
      st.first = i == 0;
      st.last = i + 1 == p;
      const std::int64_t begin = i * m_.layers / p, end = (i + 1) * m_.layers / p;
      const std::int64_t dense = m_.experts > 0 ? std::clamp<std::int64_t>(m_.dense_layers - begin, 0, end - begin) : end - begin;
      st.layers = static_cast<double>(dense);
      st.expert_layers = static_cast<double>(end - begin - dense);
      // All stages between the first and the last are alike, but for experts.
      if (!stages_.empty() && i + 1 < p && i > 1 && m_.experts == 0 && m_.layers % p == 0) {
        stages_.back().times += 1;
        continue;
      }
      stages_.push_back(st);
    }
  }

  // The first one holds most activations: it is among those with fewer layers.
  void weighed_stages() {
    const Division d = division_of(m_, c_, s_, shapes_);
    const std::int64_t fewer = s_.pipeline - 1 - d.more;
    const auto add = [&](std::int64_t layers, std::int64_t rank, std::int64_t times) {
      if (times <= 0) return;
      Stage st;
      st.layers = static_cast<double>(layers);
      st.rank = rank;
      st.times = static_cast<double>(times);
      st.first = rank == 0;
      st.last = rank + 1 == s_.pipeline;
      stages_.push_back(st);
    };
    add(d.others, 0, 1);
    add(d.others, 1, fewer - 1);
    add(d.others + 1, fewer, d.more);
    add(d.last, s_.pipeline - 1, 1);
  }

  // What most layers do.
  static Strategy most_of(Strategy s) {
    if (s.recompute_first > 0) s.recompute = Recompute::none;
    return s;
  }

  // Of all layers of a stage: what most cost, and what those that are computed again cost otherwise.
  template <class Cost>
  double sum_over_layers(const Stage& s, Cost cost) const {
    const double all = s.layers * cost(layer_) + s.expert_layers * cost(expert_layer_);
    if (s_.recompute_first == 0) return all;
    return all + s.again * (cost(again_) - cost(layer_)) + s.expert_again * (cost(expert_again_) - cost(expert_layer_));
  }
  // The mean of a stage's layers.
  double again_seconds(const Stage& s) const {
    const double n = s.layers + s.expert_layers;
    return s_.recompute_first > 0 && n > 0 ? again_.again_seconds * (s.again + s.expert_again) / n : layer_.again_seconds;
  }

  double stage_seconds(const Stage& s) const {
    return sum_over_layers(s, [](const LayerCosts& l) { return l.seconds(); }) + (s.last ? head_ : 0);
  }
  double parameters(const Stage& s, bool experts) const {
    const double t = static_cast<double>(s_.tensor);
    if (experts) return s.expert_layers * m_.expert_parameters() / static_cast<double>(s_.expert) / t;
    return (s.layers * m_.layer_parameters(false) + s.expert_layers * m_.layer_parameters(true) +
            (s.first + s.last) * m_.embedding_parameters()) /
           t;
  }
  // Weights' and gradients' bytes of a stage that the data-parallel devices exchange, seconds.
  double exchange_seconds(const Stage& s) const {
    if (s_.data * s_.context == 1) return 0;
    const auto of = [&](double count, const Group& g) {
      if (g.size() <= 1 || count == 0) return 0.0;
      if (s_.zero == 0) return simulate::transfer_time(c_, Collective::all_reduce, 4 * count, g).seconds;
      const double gather = simulate::transfer_time(c_, Collective::all_gather, 2 * count, g).seconds;
      // Weights that are split are gathered for each pass of each microbatch; what is not hidden by a layer's work is seen.
      const double passes = s_.zero == 3 ? 2 * microbatches_ : 1;
      const double hidden = s_.zero == 3 ? passes * sum_over_layers(s, [](const LayerCosts& l) { return l.computing_seconds; }) / 2 : 0;
      return simulate::transfer_time(c_, Collective::reduce_scatter, 4 * count, g).seconds + std::max(0.0, passes * gather - hidden);
    };
    Group between = groups_.data;
    if (s_.expert > 1) {
      between.inner = std::max<std::int64_t>(1, between.inner / s_.expert);
      if (between.inner * between.outer * s_.expert > s_.data * s_.context) {
        between.outer = std::max<std::int64_t>(1, s_.data * s_.context / s_.expert / between.inner);
      }
    }
    return of(parameters(s, false), groups_.data) + of(parameters(s, true), between);
  }

  double bubble_factor() const {
    const double f = layer_.forward_seconds, i = layer_.input_seconds + again_seconds(*slowest_), w = layer_.weight_seconds,
                 whole = f + i + w;
    switch (s_.schedule) {
      case PipelineSchedule::one_f_one_b: return 1 / static_cast<double>(s_.interleave);
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
    const double f = layer_.forward_seconds, i = layer_.input_seconds + again_seconds(*slowest_), w = layer_.weight_seconds;
    const double messages = static_cast<double>(s_.pipeline - 1) * message, scale = others / (f + i + w);
    const double late = scale * (2 * w - i), first = scale * f;
    switch (s_.schedule) {
      case PipelineSchedule::zero_bubble_h2: return norm + std::max(0.0, std::min(late, first) - messages);
      case PipelineSchedule::zero_bubble_v: return norm + std::max(0.0, std::min(late, first) / 2 - messages);
      default: return norm;
    }
  }

  void times() {
    double slowest = 0, all = 0, exchange = 0, step = 0;
    for (const Stage& stage : stages_) {
      const double t = stage_seconds(stage);
      if (t >= slowest) slowest_ = &stage;
      slowest = std::max(slowest, t);
      all += stage.times * t;
      exchange = std::max(exchange, exchange_seconds(stage));
      step = std::max(step, step_seconds(stage));
    }
    const auto p = static_cast<double>(s_.pipeline), v = static_cast<double>(s_.interleave);
    const double work = microbatches_ * slowest;
    e_.bubble = (all - slowest) * bubble_factor();
    double message = 0;
    if (s_.pipeline > 1) {
      const double chunks = s_.schedule == PipelineSchedule::zero_bubble_v ? 2 : v;
      const double bytes = 2 * static_cast<double>(s_.microbatch * m_.seq * m_.hidden) / static_cast<double>(s_.tensor * s_.context);
      message = simulate::transfer_time(c_, Collective::send, bytes, groups_.pipeline).seconds;
      e_.pipeline_transfers = 2 * chunks * microbatches_ * message + 2 * (p - 1) * message;
    }
    e_.synchronisation = synchronisation(all - slowest, message);
    e_.data_transfers = exchange;
    if (s_.data_overlap && s_.data > 1) {
      // Beside the last backward pass, which it slows down; the first layer's gradients are seen.
      const double hides = slowest - head_of_slowest(), layers = std::max(1.0, static_cast<double>(m_.layers) / p);
      const double hidden = std::min(exchange * (1 - 1 / layers), hides * 2 / 3);
      const double slowdown = c_.levels.empty() ? 0 : c_.levels[groups_.data.outer_level].slowdown;
      e_.data_transfers = exchange - hidden * (1 - slowdown);
    }
    e_.optimizer = step;
    e_.host = s_.pipeline > 1 ? microbatches_ * c_.microbatch_seconds : 0;
    e_.offload = offload_seconds(work);
    e_.seconds = work + e_.bubble + e_.pipeline_transfers + e_.data_transfers + e_.synchronisation + e_.optimizer + e_.host + e_.offload;
    split_work();
  }

  // Even stages: the last one is the slowest.
  double head_of_slowest() const { return s_.weighed && !slowest_->last ? 0 : head_; }

  void split_work() {
    const double layers =
        (s_.weighed ? slowest_->layers : static_cast<double>(m_.layers) / static_cast<double>(s_.pipeline)) * microbatches_;
    double transfers = 0;
    for (const auto* ops : {&layer_.forward, &layer_.input_gradient, &layer_.weight_gradient}) {
      for (const LayerOp& o : *ops) transfers += o.transfer ? o.seconds : 0;
    }
    e_.tensor_transfers = layers * transfers;
    e_.recomputing = layers * again_seconds(*slowest_);
    e_.head = microbatches_ * head_of_slowest();
    e_.computing = e_.seconds - e_.bubble - e_.pipeline_transfers - e_.data_transfers - e_.synchronisation - e_.optimizer - e_.host -
                   e_.offload - e_.head - e_.tensor_transfers - e_.recomputing;
  }

  double split(double devices) const { return s_.zero >= 1 ? devices : 1; }
  double step_seconds(const Stage& s) const {
    const double d = static_cast<double>(s_.data * s_.context), de = std::max(1.0, d / static_cast<double>(s_.expert));
    const double own = parameters(s, false) / split(d) + parameters(s, true) / split(de), all = parameters(s, false) + parameters(s, true);
    const double bytes = c_.optimizer_bytes * own + 8 * all;
    double seconds = bytes / (c_.memory_bytes_per_second * c_.memory_efficiency.at(bytes));
    if (s_.offload_optimizer && c_.far_bytes_per_second > 0) seconds += 24 * own / c_.far_bytes_per_second;
    return seconds;
  }

  double offload_seconds(double work) const {
    if (c_.far_bytes_per_second <= 0) return 0;
    double bytes = 0;
    const Stage& s = stages_.front();
    if (s_.offload_weights) bytes += 2 * microbatches_ * 2 * (parameters(s, false) + parameters(s, true));
    if (s_.offload_activations) {
      bytes += 2 * microbatches_ * sum_over_layers(s, [](const LayerCosts& l) { return l.activation_bytes; });
    }
    return std::max(0.0, bytes / c_.far_bytes_per_second - work);
  }

  // --- memory ---------------------------------------------------------------------------------------------------------------------------

  // Whole stages of one microbatch that rank `stage` holds at once.
  double in_flight(const Stage& s) const {
    const auto p = static_cast<double>(s_.pipeline), v = static_cast<double>(s_.interleave);
    if (s_.pipeline == 1) return 1;
    double held = 1;
    switch (s_.schedule) {
      case PipelineSchedule::zero_bubble_h2: held = s.first || (s_.weighed && !s.last) ? 2 * p - 1 : p; break;
      case PipelineSchedule::zero_bubble_h1:
      case PipelineSchedule::zero_bubble_v: held = p; break;
      case PipelineSchedule::one_f_one_b:
        if (v > 1)
          held = s.first ? p * (1 + (p - 1) / (p * v)) : ((v - 1) * p + 1) / v;
        else
          held = p - static_cast<double>(s.rank);
        break;
    }
    return std::min(held, microbatches_);
  }

  void memory() {
    double most = -1;
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      if (!stages_[i].first && !stages_[i].last && m_.experts == 0 && !s_.weighed) continue;
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
    const double d = static_cast<double>(s_.data * s_.context), de = std::max(1.0, d / static_cast<double>(s_.expert));
    const auto t = static_cast<double>(s_.tensor);
    const double p = parameters(s, false), pe = parameters(s, true), layers = s.layers + s.expert_layers;
    const double resident = s_.offload_weights ? std::min(1.0, 2 / std::max(1.0, layers)) : 1;
    kind(MemoryKind::weights) = resident * 2 * (s_.zero >= 3 ? p / d + pe / de : p + pe);
    kind(MemoryKind::gradients) = resident * 4 * (s_.zero >= 2 ? p / d + pe / de : p + pe);
    kind(MemoryKind::optimizer) = s_.offload_optimizer ? 0 : 12 * (s_.zero >= 1 ? p / d + pe / de : p + pe);
    const double flight = in_flight(s);
    double activations = flight * sum_over_layers(s, [](const LayerCosts& l) { return l.activation_bytes; });
    const double widest = std::max(layer_.activation_bytes, expert_layer_.activation_bytes);
    if (s_.offload_activations) activations = std::min(activations, 2 * widest);
    const auto tokens = static_cast<double>(s_.microbatch * m_.seq) / static_cast<double>(s_.context);
    if (s.last) activations += 4 * tokens * static_cast<double>(m_.vocab) / t;  // logits and their gradient
    kind(MemoryKind::activations) = activations;
    kind(MemoryKind::workspace) =
        std::max({layer_.working_bytes, expert_layer_.working_bytes, again_.working_bytes, expert_again_.working_bytes});
    // Gradients of embedding and head before they are added to the others; weights that are gathered for a layer.
    kind(MemoryKind::buffers) = 2 * (s.first + s.last) * m_.embedding_parameters() / t;
    if (s_.zero >= 3 && layers > 0) kind(MemoryKind::buffers) += 2 * 2 * (p + pe) / layers;
    if (s_.pipeline > 1) kind(MemoryKind::buffers) += 4 * tokens * static_cast<double>(m_.hidden) / t;
    return by;
  }

  const Transformer& m_;
  const Cluster& c_;
  const Strategy& s_;
  const MeasuredShapes* shapes_;
  Groups groups_;
  Strategy most_;
  LayerCosts layer_, expert_layer_, again_, expert_again_;
  double head_ = 0, microbatches_ = 1;
  std::vector<Stage> stages_;
  const Stage* slowest_ = nullptr;
  Estimate e_;
};

}  // namespace

Division division_of(const Transformer& model, const Cluster& cluster, const Strategy& s, const MeasuredShapes* shapes) {
  Strategy plain;
  plain.tensor = s.tensor, plain.pipeline = s.pipeline, plain.data = s.data, plain.context = s.context, plain.expert = s.expert;
  plain.batch = s.batch, plain.microbatch = s.microbatch;
  // What some layers of every stage do more is the same for all stages.
  if (s.recompute_first == 0) plain.recompute = s.recompute;
  const double layer = layer_costs(model, cluster, plain, false, shapes).computing_seconds,
               head = head_seconds(model, cluster, plain, shapes);
  const std::int64_t before = s.pipeline - 1;
  Division best;
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

std::vector<std::int64_t> layers_of_stages(const Transformer& model, const Cluster& cluster, const Strategy& s) {
  const std::int64_t p = s.pipeline;
  std::vector<std::int64_t> all;
  if (!s.weighed) {
    for (std::int64_t i = 0; i < p; ++i) all.push_back((i + 1) * model.layers / p - i * model.layers / p);
    return all;
  }
  const Division d = division_of(model, cluster, s);
  all.assign(static_cast<std::size_t>(p), d.others);
  for (std::int64_t i = p - 1 - d.more; i < p - 1; ++i) ++all[static_cast<std::size_t>(i)];
  all.back() = d.last;
  return all;
}

std::int64_t most_layers_of(const Transformer& model, const Cluster& cluster, const Strategy& s) {
  const std::vector<std::int64_t> all = layers_of_stages(model, cluster, s);
  return (*std::max_element(all.begin(), all.end()) + s.chunks() - 1) / s.chunks();
}

Estimate estimate(const Transformer& model, const Cluster& cluster, const Strategy& s, const MeasuredShapes* shapes) {
  return Estimator(model, cluster, s, shapes).run();
}

}  // namespace pando::search
