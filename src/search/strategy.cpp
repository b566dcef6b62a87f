#include "search/strategy.h"

#include "base/error.h"
#include "search/placement.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

namespace pando::search {

namespace {

constexpr std::string_view kRecompute[] = {"none", "attention", "full"};
constexpr std::string_view kComm[] = {"all-reduce", "split-all-reduce", "sequence-parallel"};
constexpr std::string_view kOverlap[] = {"none", "ring", "pipe"};
constexpr std::string_view kSchedule[] = {"1F1B", "ZB-H1", "ZB-H2", "ZBV"};

template <class E, std::size_t N>
E value_of(const std::string_view (&names)[N], std::string_view text, std::string_view key) {
  std::string known;
  for (std::size_t i = 0; i < N; ++i) {
    if (names[i] == text) return static_cast<E>(i);
    known += (i ? ", " : "") + std::string(names[i]);
  }
  fail(ErrorKind::poplar_error, "strategy-text", "{}={}: it is one of {}", key, text, known);
}

std::int64_t whole_of(std::string_view text, std::string_view key) {
  std::int64_t n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc() || end != text.data() + text.size() || n < -1) {
    fail(ErrorKind::poplar_error, "strategy-text", "{}={}: a whole number is expected", key, text);
  }
  return n;
}

bool set(Strategy& s, std::string_view key, std::string_view value) {
  struct Number {
    std::string_view key;
    std::int64_t Strategy::* member;
  };
  static constexpr Number numbers[] = {
      {"t", &Strategy::tensor},     {"p", &Strategy::pipeline}, {"d", &Strategy::data},
      {"c", &Strategy::context},    {"e", &Strategy::expert},   {"b", &Strategy::microbatch},
      {"v", &Strategy::interleave}, {"zero", &Strategy::zero},  {"recompute-first", &Strategy::recompute_first}};
  for (const Number& n : numbers) {
    if (n.key == key) {
      s.*n.member = whole_of(value, key);
      return true;
    }
  }
  if (key == "recompute")
    s.recompute = value_of<Recompute>(kRecompute, value, key);
  else if (key == "comm")
    s.comm = value_of<TensorComm>(kComm, value, key);
  else if (key == "overlap")
    s.tensor_overlap = value_of<TensorOverlap>(kOverlap, value, key);
  else if (key == "schedule")
    s.schedule = value_of<PipelineSchedule>(kSchedule, value, key);
  else if (key == "levels") {
    if (value.size() != 5 || value[1] != '/' || value[3] != '/') {
      fail(ErrorKind::poplar_error, "strategy-text", "levels={}: tensor/pipeline/data are expected, as 0/1/1", value);
    }
    s.tensor_level = static_cast<std::int8_t>(whole_of(value.substr(0, 1), key));
    s.pipeline_level = static_cast<std::int8_t>(whole_of(value.substr(2, 1), key));
    s.data_level = static_cast<std::int8_t>(whole_of(value.substr(4, 1), key));
  } else {
    return false;
  }
  return true;
}

bool set_flag(Strategy& s, std::string_view word) {
  if (word == "regather")
    s.regather = true;
  else if (word == "data-overlap")
    s.data_overlap = true;
  else if (word == "weighed")
    s.weighed = true;
  else if (word == "post-validation")
    s.post_validation = true;
  else if (word == "offload-weights")
    s.offload_weights = true;
  else if (word == "offload-activations")
    s.offload_activations = true;
  else if (word == "offload-optimizer")
    s.offload_optimizer = true;
  else
    return false;
  return true;
}

}  // namespace

std::string_view name_of(Recompute r) { return kRecompute[static_cast<std::size_t>(r)]; }
std::string_view name_of(TensorComm c) { return kComm[static_cast<std::size_t>(c)]; }
std::string_view name_of(TensorOverlap o) { return kOverlap[static_cast<std::size_t>(o)]; }
std::string_view name_of(PipelineSchedule s) { return kSchedule[static_cast<std::size_t>(s)]; }

std::string to_string(const Strategy& s) {
  std::string text = fmt::format("t={} p={} d={} b={}", s.tensor, s.pipeline, s.data, s.microbatch);
  const auto number = [&](std::string_view key, std::int64_t n, std::int64_t otherwise) {
    text += n == otherwise ? "" : fmt::format(" {}={}", key, n);
  };
  number("c", s.context, 1), number("e", s.expert, 1), number("v", s.interleave, 1), number("zero", s.zero, 0);
  if (s.recompute != Recompute::none) text += fmt::format(" recompute={}", name_of(s.recompute));
  number("recompute-first", s.recompute_first, 0);
  if (s.comm != TensorComm::all_reduce) text += fmt::format(" comm={}", name_of(s.comm));
  if (s.tensor_overlap != TensorOverlap::none) text += fmt::format(" overlap={}", name_of(s.tensor_overlap));
  if (s.schedule != PipelineSchedule::one_f_one_b) text += fmt::format(" schedule={}", name_of(s.schedule));
  if (s.tensor_level >= 0) text += fmt::format(" levels={}/{}/{}", s.tensor_level, s.pipeline_level, s.data_level);
  const auto flag = [&](std::string_view word, bool on) { text += on ? " " + std::string(word) : ""; };
  flag("weighed", s.weighed), flag("regather", s.regather), flag("data-overlap", s.data_overlap),
      flag("post-validation", s.post_validation), flag("offload-weights", s.offload_weights);
  flag("offload-activations", s.offload_activations), flag("offload-optimizer", s.offload_optimizer);
  return text;
}

Strategy parse_strategy(std::string_view text, std::int64_t batch) {
  Strategy s;
  s.batch = batch;
  std::set<std::string_view> said;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(" ,"), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.empty()) continue;
    const std::size_t equals = word.find('=');
    if (!said.insert(word.substr(0, equals)).second)
      fail(ErrorKind::poplar_error, "strategy-text", "'{}' is said twice", word.substr(0, equals));
    const bool known = equals == std::string_view::npos ? set_flag(s, word) : set(s, word.substr(0, equals), word.substr(equals + 1));
    if (!known) {
      fail(ErrorKind::poplar_error, "strategy-text",
           "'{}': t= p= d= c= e= b= v= zero= recompute= recompute-first= comm= overlap= schedule= levels= weighed regather data-overlap "
           "post-validation "
           "offload-weights offload-activations offload-optimizer are known",
           word);
    }
  }
  return s;
}

namespace {

Violation degrees_violation(const Transformer& m, const Strategy& s) {
  const auto no = [](std::string rule, std::string message) { return Violation{std::move(rule), std::move(message)}; };
  for (std::int64_t degree : {s.tensor, s.pipeline, s.data, s.context, s.expert, s.microbatch, s.interleave}) {
    if (degree < 1) return no("degree", "degrees, microbatch and interleaving are 1 or more");
  }
  if (m.heads % s.tensor != 0) return no("heads", fmt::format("{} heads do not divide over t={}", m.heads, s.tensor));
  if (m.hidden % s.tensor != 0 || m.ffn % s.tensor != 0) {
    return no("widths", fmt::format("hidden {} or ffn {} do not divide over t={}", m.hidden, m.ffn, s.tensor));
  }
  if (s.pipeline > m.layers) return no("stages", fmt::format("p={} stages for {} layers", s.pipeline, m.layers));
  if (s.pipeline == 1 && s.interleave > 1) return no("interleaving", "interleaving needs a pipeline");
  if (s.interleave > 1 && m.layers % (s.pipeline * s.interleave) != 0) {
    return no("interleaving", fmt::format("{} layers do not divide into p={} x v={} chunks", m.layers, s.pipeline, s.interleave));
  }
  if (s.batch % s.data != 0) return no("batch", fmt::format("a batch of {} does not divide over d={}", s.batch, s.data));
  if (s.batch / s.data % s.microbatch != 0) {
    return no("microbatch", fmt::format("{} samples a replica do not divide into microbatches of {}", s.batch / s.data, s.microbatch));
  }
  if (s.interleave > 1 && s.microbatches() % s.pipeline != 0) {
    return no("interleaving", fmt::format("interleaving takes microbatches in rounds of p={}; there are {}", s.pipeline, s.microbatches()));
  }
  if (m.seq % s.context != 0) return no("context", fmt::format("{} positions do not divide over c={}", m.seq, s.context));
  if (s.comm == TensorComm::sequence_parallel && m.seq / s.context * s.microbatch % s.tensor != 0) {
    return no("sequence", fmt::format("{} positions do not divide over t={}", m.seq / s.context * s.microbatch, s.tensor));
  }
  if (s.expert > 1 && (m.experts == 0 || m.experts % s.expert != 0 || s.data * s.context % s.expert != 0)) {
    return no("experts", fmt::format("e={} must divide {} experts and d x c = {}", s.expert, m.experts, s.data * s.context));
  }
  if (s.regather && (s.comm != TensorComm::sequence_parallel || s.recomputes_all())) {
    return no("regather", "only sequence-parallel inputs that are kept are gathered again");
  }
  if (s.tensor == 1 && s.tensor_overlap != TensorOverlap::none) return no("overlap", "nothing to overlap at t=1");
  if (s.data * s.context == 1 && (s.zero > 0 || s.data_overlap)) return no("data", "nothing to split or overlap at d=1");
  if (s.zero < 0 || s.zero > 3) return no("zero", "ZeRO is 0, 1, 2 or 3");
  if (s.schedule != PipelineSchedule::one_f_one_b && (s.pipeline == 1 || s.interleave > 1)) {
    return no("schedule", "zero-bubble schedules need a pipeline that is not interleaved");
  }
  if (s.post_validation && s.pipeline == 1) return no("post-validation", "no rank of a pipeline waits for another at p=1");
  if (s.weighed && (s.pipeline == 1 || s.interleave > 1 || s.schedule == PipelineSchedule::zero_bubble_v || m.experts > 0)) {
    return no("weighed", "stages are weighed in a pipeline with one stage on each rank, without experts");
  }
  if (s.schedule == PipelineSchedule::zero_bubble_v && m.layers % (2 * s.pipeline) != 0) {
    return no("schedule", fmt::format("ZBV cuts {} layers into 2 x {} chunks", m.layers, s.pipeline));
  }
  return {};
}

Violation network_violation(const simulate::Cluster& c, const Strategy& s) {
  const auto no = [](std::string rule, std::string message) { return Violation{std::move(rule), std::move(message)}; };
  if ((s.offload_weights || s.offload_activations || s.offload_optimizer) && c.far_bytes == 0) {
    return no("offload", "the machine has no second memory");
  }
  if (s.offload_activations && s.recomputes_all()) { return no("offload", "with full recomputation there are no activations to move"); }
  if (c.levels.empty() && s.devices() > 1) return no("network", "the machine has no network");
  if (s.tensor_level < 0) {
    if (!c.levels.empty() && s.devices() > c.levels.back().devices) {
      return no("network", fmt::format("{} devices; the machine has {}", s.devices(), c.levels.back().devices));
    }
    return {};
  }
  std::vector<std::int64_t> size(c.levels.size(), 1);
  const auto use = [&](std::int8_t level, std::int64_t degree) {
    if (degree > 1 && level >= 0 && static_cast<std::size_t>(level) < size.size()) size[static_cast<std::size_t>(level)] *= degree;
    return level >= 0 && static_cast<std::size_t>(level) < size.size();
  };
  if (!use(s.tensor_level, s.tensor * s.context) || !use(s.pipeline_level, s.pipeline) || !use(s.data_level, s.data)) {
    return no("network", "there is no such level");
  }
  for (std::size_t l = 0; l < size.size(); ++l) {
    if (size[l] > c.levels[l].devices) {
      return no("network", fmt::format("{} devices on level {} ({}), which joins {}", size[l], l, c.levels[l].name, c.levels[l].devices));
    }
    if (l + 1 < size.size() && c.levels[l].devices % size[l] != 0) {
      return no("network", fmt::format("{} devices do not fill units of {} on level {}", size[l], c.levels[l].devices, l));
    }
  }
  return {};
}

Violation recompute_violation(const Transformer& m, const simulate::Cluster& c, const Strategy& s) {
  const auto no = [](std::string message) { return Violation{"recompute-first", std::move(message)}; };
  if (s.recompute_first == 0) return {};
  if (s.recompute_first < 0) return no("a number of layers is expected; 0: all");
  if (s.recompute == Recompute::none) {
    return no(fmt::format("{} layers of a stage are to be computed again, but recomputation is none", s.recompute_first));
  }
  const std::int64_t most = most_layers_of(m, c, s);
  if (s.recompute_first < most) return {};
  return no(fmt::format("{} layers of a stage are to be computed again; a stage has {} (all of them: recompute={} alone)",
                        s.recompute_first, most, name_of(s.recompute)));
}

}  // namespace

Violation first_violation(const Transformer& model, const simulate::Cluster& cluster, const Strategy& s) {
  if (Violation v = degrees_violation(model, s)) return v;
  if (Violation v = recompute_violation(model, cluster, s)) return v;
  return network_violation(cluster, s);
}

}  // namespace pando::search
