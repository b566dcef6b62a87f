#include "search/timeline.h"

#include "base/error.h"
#include "base/text/chrome_trace.h"
#include "schedule/generate.h"
#include "search/shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <sstream>

namespace pando::search {

namespace {

schedule::Table table_of(const StrategyFacts& f, const Strategy& s) {
  const std::int32_t p = s.pipeline, m = static_cast<std::int32_t>(f.microbatches(s)), v = s.stages_per_rank;
  switch (schedule_of(s)) {
    case PipelineSchedule::one_f_one_b:
      return v > 1 ? schedule::generate("Interleaved1F1B", {p, m, v}) : schedule::generate("1F1B", {p, m, 1});
    case PipelineSchedule::zero_bubble_h1: return schedule::generate("ZB-H1", {p, m, 1});
    case PipelineSchedule::zero_bubble_h2: return schedule::generate("ZB-H2", {p, m, 1});
    case PipelineSchedule::zero_bubble_v: return schedule::generate("ZBV", {p, m, 2});
  }
  return {};
}

}  // namespace

StepTimeline timeline_of(const StrategyFacts& facts, const Strategy& s) {
  const Transformer& model = facts.model;
  const simulate::Cluster& cluster = facts.cluster;
  const MeasuredShapes* const shapes = facts.shapes;
  if (const Violation v = first_violation(facts, s))
    fail(ErrorKind::poplar_error, v.rule, "{}: {}", to_string(s, Spelling::brief), v.message);
  if (model.experts > 0) fail(ErrorKind::poplar_error, "timeline", "{}: a timeline takes stages without experts", model.name);
  StepTimeline t;
  t.table = table_of(facts, s);
  t.recompute_first = s.recompute_first;
  Strategy most = s;
  if (s.recompute_first > 0) most.recompute = Recompute::none, t.first = layer_costs(model, cluster, s, false, shapes);
  t.layer = layer_costs(model, cluster, most, false, shapes);
  t.head = head_seconds(model, cluster, s, shapes);
  const Estimate e = estimate(facts, s);
  const std::int64_t chunks = stages_of_rank(s);
  t.layers = layers_of_stages(facts, s);
  // A rank waits for its own messages: one of each pass of each chunk.
  const double messages = 2 * static_cast<double>(chunks * facts.microbatches(s) + s.pipeline - 1),
               message = s.pipeline > 1 ? e.pipeline_transfers / messages : 0;
  t.costs = {{}, {}, {}};
  double again_ops = 0;
  for (std::int64_t layers : t.layers) {
    const auto n = static_cast<double>(layers);
    t.costs.forward.push_back(n * t.layer.forward_seconds + message);
    const auto again = static_cast<double>(std::min(layers, t.recompute_first));
    again_ops += again * static_cast<double>(t.first.again.size());
    t.costs.input_gradient.push_back(n * (t.layer.again_seconds + t.layer.input_seconds) + again * t.first.again_seconds + message);
    t.costs.weight_gradient.push_back(n * t.layer.weight_seconds);
  }
  t.costs.forward.back() += t.head / 3;
  t.costs.input_gradient.back() += t.head / 3;
  t.costs.weight_gradient.back() += t.head / 3;
  t.timing = schedule::replay(t.table, t.costs);
  t.exchange = e.data_transfers;
  t.optimizer = e.optimizer;
  t.post_validation = s.post_validation;
  t.seconds = (s.post_validation ? t.timing.span : t.timing.makespan) + t.exchange + t.optimizer + e.copies + e.host + e.offload;
  const double each =
      static_cast<double>(t.layer.forward.size() + t.layer.again.size() + t.layer.input_gradient.size() + t.layer.weight_gradient.size());
  t.ops = (each * static_cast<double>(model.layers) + again_ops) * static_cast<double>(facts.microbatches(s) * s.devices() / s.pipeline);
  t.message_bytes = message_bytes_of(model, s);
  return t;
}

double message_bytes_of(const Transformer& model, const Strategy& s) {
  return 2 * static_cast<double>(s.microbatch * model.seq * model.hidden) / static_cast<double>(s.tensor * s.context);
}

std::string chrome_trace(const StepTimeline& t, std::size_t most) {
  std::ostringstream out;
  std::optional<ChromeTrace> trace(out);
  std::size_t events = 0;
  const auto event = [&](std::string_view name, std::size_t rank, bool transfer, double start, double seconds) {
    if (events++ >= most) return;
    trace->slice({.name = name, .process = static_cast<std::int64_t>(rank), .thread = transfer ? 1 : 0}, start * 1e6, seconds * 1e6);
  };
  for (std::size_t r = 0; r < t.table.ranks.size(); ++r) {
    trace->name_process(static_cast<std::int64_t>(r), fmt::format("pipeline rank {}", r));
    for (std::size_t i = 0; i < t.table.ranks[r].size() && events < most; ++i) {
      const schedule::Cell& c = t.table.ranks[r][i];
      if (!schedule::computes(c.action)) continue;
      double at = t.timing.start[r][i];
      event(schedule::to_string(c), r, false, at, t.costs.of(c));
      for (std::int64_t layer = 0; layer < t.layers[static_cast<std::size_t>(c.stage)]; ++layer) {
        const auto run = [&](const std::vector<LayerOp>& ops) {
          for (const LayerOp& o : ops) {
            event(o.name, r, o.transfer != LayerTransfer::none, at, o.seconds);
            at += o.seconds;
          }
        };
        if (c.action == schedule::Action::forward) run(t.layer.forward);
        if (schedule::is_backward(c.action)) {
          run(layer < t.recompute_first ? t.first.again : t.layer.again);
          run(t.layer.input_gradient);
        }
        if (c.action == schedule::Action::weight_gradient || c.action == schedule::Action::backward) run(t.layer.weight_gradient);
      }
    }
    const double end =
        t.post_validation && !t.table.ranks[r].empty() ? t.timing.start[r].back() + t.costs.of(t.table.ranks[r].back()) : t.timing.makespan;
    event("exchange of gradients", r, true, end, t.exchange);
    event("optimizer", r, false, end + t.exchange, t.optimizer);
  }
  trace.reset();
  return out.str();
}

}  // namespace pando::search
