#include "search/space.h"

#include "base/error.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace pando::search {

namespace {

std::vector<std::int64_t> divisors(std::int64_t n) {
  std::vector<std::int64_t> all, large;
  for (std::int64_t i = 1; i <= n / i; ++i) {
    if (n % i != 0) continue;
    all.push_back(i);
    if (i != n / i) large.push_back(n / i);
  }
  all.insert(all.end(), large.rbegin(), large.rend());
  return all;
}

// Which words a user demands, and the values.
struct Demand {
  explicit Demand(const Space& space) : values(parse_strategy(space.require, space.batch)) {
    std::string word;
    for (char c : space.require + " ") {
      if (c != ' ' && c != ',') {
        word += c;
        continue;
      }
      if (!word.empty()) keys.insert(word.substr(0, word.find('=')));
      word.clear();
    }
  }
  bool allows(const char* key, std::int64_t value, std::int64_t demanded) const { return !keys.contains(key) || value == demanded; }
  // One of the three levels, in the order of the word.
  bool allows_level(std::int8_t Strategy::* which, std::int8_t level) const { return !keys.contains("levels") || level == values.*which; }
  Strategy values;
  std::set<std::string> keys;
};

template <class T>
std::vector<T> one_or(bool many, std::vector<T> all) {
  if (!many) all.resize(1);
  return all;
}

bool has_levels(const simulate::Cluster& c, const Space& space) { return !space.wide && !space.runnable && c.levels.size() > 1; }

void add_group(const Transformer& m, const simulate::Cluster& c, const Space& space, const Demand& demand, Strategy s,
               std::vector<PointGroup>& all) {
  for (const auto& [key, have, want] : std::initializer_list<std::tuple<const char*, std::int64_t, std::int64_t>>{
           {"t", s.tensor, demand.values.tensor},
           {"p", s.pipeline, demand.values.pipeline},
           {"d", s.data, demand.values.data},
           {"c", s.context, demand.values.context},
           {"e", s.expert, demand.values.expert},
           {"b", s.microbatch, demand.values.microbatch},
           {"v", s.interleave, demand.values.interleave},
           {"recompute-first", s.recompute_first, demand.values.recompute_first},
           {"recompute", static_cast<std::int64_t>(s.recompute), static_cast<std::int64_t>(demand.values.recompute)},
           {"schedule", static_cast<std::int64_t>(s.schedule), static_cast<std::int64_t>(demand.values.schedule)},
           {"weighed", s.weighed, demand.values.weighed}}) {
    if (!demand.allows(key, have, want)) return;
  }
  PointGroup g;
  g.head = s;
  g.first_index = all.empty() ? 0 : all.back().first_index + all.back().points;
  g.points = static_cast<std::int64_t>(transfer_choices(c, space, s).size() * other_choices(c, space, s).size());
  (void)m;
  if (g.points > 0) all.push_back(g);
}

// Even stages where layers divide; in a wide space also those that are weighed.
std::vector<bool> divisions(const Transformer& m, const Space& space, const Strategy& s) {
  std::vector<bool> all;
  if (m.layers % s.pipeline == 0) all.push_back(false);
  const bool may = space.wide && !space.runnable && m.experts == 0 && s.pipeline > 1 && s.interleave == 1;
  if (may && s.schedule != PipelineSchedule::zero_bubble_v) all.push_back(true);
  return all;
}

// How many layers of a stage are computed again: all (0); in a space with sets, and where a user demands it, also some.
std::vector<std::int64_t> layers_again(const Transformer& m, const simulate::Cluster& c, const Space& space, const Demand& demand,
                                       const Strategy& s) {
  if (demand.keys.contains("recompute-first")) return {demand.values.recompute_first};
  std::vector<std::int64_t> all{0};
  if (s.recompute == Recompute::none || space.recompute_sets == 0) return all;
  // A few of many lie as far apart as can be.
  const std::int64_t most = most_layers_of(m, c, s) - 1, n = std::min<std::int64_t>(most, space.recompute_sets);
  for (std::int64_t i = 1; i <= n; ++i) all.push_back(i * (most + 1) / (n + 1));
  return all;
}

void add_schedules(const Transformer& m, const simulate::Cluster& c, const Space& space, const Demand& demand, Strategy s,
                   std::vector<PointGroup>& all) {
  using S = PipelineSchedule;
  for (S schedule : one_or(space.wide && s.pipeline > 1 && s.interleave == 1,
                           std::vector{S::one_f_one_b, S::zero_bubble_h1, S::zero_bubble_h2, S::zero_bubble_v})) {
    for (Recompute r : {Recompute::full, Recompute::attention, Recompute::none}) {
      s.schedule = schedule;
      s.recompute = r;
      for (const bool weighed : divisions(m, space, s)) {
        s.weighed = weighed;
        s.recompute_first = 0;
        for (const std::int64_t first : layers_again(m, c, space, demand, s)) {
          s.recompute_first = first;
          add_group(m, c, space, demand, s, all);
        }
      }
    }
  }
}

// Degrees beside tensor and pipeline: what is left is data parallel, or context parallel.
void add_replicas(const Transformer& m, const simulate::Cluster& c, const Space& space, const Demand& demand, Strategy s, std::int64_t rest,
                  std::vector<PointGroup>& all) {
  for (std::int64_t context : one_or(space.wide, divisors(rest))) {
    if (context > 1 && (context > 64 || m.seq % context != 0)) continue;
    s.context = context;
    s.data = rest / context;
    if (s.data > space.batch) continue;
    s.batch = space.batch / s.data * s.data;
    const std::vector<std::int64_t> experts = one_or(m.experts > 0, divisors(m.experts > 0 ? m.experts : 1));
    for (std::int64_t e : experts) {
      if (rest % e != 0) continue;
      s.expert = e;
      for (std::int64_t v :
           s.pipeline == 1 || m.layers % s.pipeline != 0 ? std::vector<std::int64_t>{1} : divisors(m.layers / s.pipeline)) {
        s.interleave = v;
        for (std::int64_t b : divisors(s.batch / s.data)) {
          if (b * m.seq % s.tensor != 0) continue;
          s.microbatch = b;
          add_schedules(m, c, space, demand, s, all);
        }
      }
    }
  }
}

}  // namespace

std::vector<TransferChoice> transfer_choices(const simulate::Cluster& c, const Space& space, const Strategy& head) {
  const Demand demand(space);
  std::vector<TransferChoice> all;
  for (TensorComm comm : {TensorComm::all_reduce, TensorComm::split_all_reduce, TensorComm::sequence_parallel}) {
    if (space.runnable && (comm == TensorComm::split_all_reduce || (comm == TensorComm::sequence_parallel && head.tensor == 1))) continue;
    if (!demand.allows("comm", static_cast<std::int64_t>(comm), static_cast<std::int64_t>(demand.values.comm))) continue;
    for (bool again :
         one_or(!space.runnable && comm == TensorComm::sequence_parallel && !head.recomputes_all(), std::vector{false, true})) {
      if (!demand.allows("regather", again, true)) continue;
      for (TensorOverlap o :
           one_or(!space.runnable && head.tensor > 1, std::vector{TensorOverlap::none, TensorOverlap::ring, TensorOverlap::pipe})) {
        if (!demand.allows("overlap", static_cast<std::int64_t>(o), static_cast<std::int64_t>(demand.values.tensor_overlap))) continue;
        const std::int8_t levels = has_levels(c, space) && head.tensor > 1 ? static_cast<std::int8_t>(c.levels.size()) : 1;
        for (std::int8_t l = 0; l < levels; ++l) {
          const std::int8_t level = has_levels(c, space) ? l : static_cast<std::int8_t>(-1);
          if (demand.allows_level(&Strategy::tensor_level, level)) all.push_back({comm, again, o, level});
        }
      }
    }
  }
  return all;
}

std::vector<OtherChoice> other_choices(const simulate::Cluster& c, const Space& space, const Strategy& head) {
  const Demand demand(space);
  std::vector<OtherChoice> all;
  const bool many = head.data * head.context > 1, far = space.wide && c.far_bytes > 0, levels = has_levels(c, space);
  const auto level_list = [&](bool used) {
    std::vector<std::int8_t> l;
    for (std::size_t i = 0; i < (levels && used ? c.levels.size() : 1); ++i) {
      l.push_back(levels ? static_cast<std::int8_t>(i) : static_cast<std::int8_t>(-1));
    }
    return l;
  };
  for (std::int64_t zero : one_or(many, space.wide ? std::vector<std::int64_t>{0, 1, 2, 3} : std::vector<std::int64_t>{0, 1})) {
    if (!demand.allows("zero", zero, demand.values.zero)) continue;
    for (bool overlap : one_or(many && !space.runnable, std::vector{false, true})) {
      if (!demand.allows("data-overlap", overlap, true)) continue;
      for (bool weights : one_or(far, std::vector{false, true})) {
        for (bool activations : one_or(far && !head.recomputes_all(), std::vector{false, true})) {
          for (bool optimizer : one_or(far, std::vector{false, true})) {
            if (!demand.allows("offload-weights", weights, true) || !demand.allows("offload-activations", activations, true)) continue;
            if (!demand.allows("offload-optimizer", optimizer, true)) continue;
            for (std::int8_t p : level_list(head.pipeline > 1)) {
              for (std::int8_t d : level_list(head.data > 1)) {
                if (demand.allows_level(&Strategy::pipeline_level, p) && demand.allows_level(&Strategy::data_level, d))
                  all.push_back({zero, overlap, weights, activations, optimizer, p, d});
              }
            }
          }
        }
      }
    }
  }
  return all;
}

Strategy combined(const Strategy& head, const TransferChoice& t, const OtherChoice& o) {
  Strategy s = head;
  s.comm = t.comm, s.regather = t.regather, s.tensor_overlap = t.overlap, s.tensor_level = t.tensor_level;
  s.zero = o.zero, s.data_overlap = o.data_overlap, s.offload_weights = o.offload_weights, s.offload_activations = o.offload_activations;
  s.offload_optimizer = o.offload_optimizer, s.pipeline_level = o.pipeline_level, s.data_level = o.data_level;
  return s;
}

std::vector<PointGroup> groups_of(const Transformer& m, const simulate::Cluster& c, const Space& space) {
  if (space.devices < 1 || space.batch < 1) {
    fail(ErrorKind::poplar_error, "search-space", "{} devices and a batch of {}; both must be 1 or more", space.devices, space.batch);
  }
  const Demand demand(space);
  std::vector<PointGroup> all;
  for (std::int64_t t : divisors(space.devices)) {
    if (m.hidden % t != 0 || m.heads % t != 0) continue;
    for (std::int64_t p = 1; p <= std::min(space.devices / t, m.layers); ++p) {
      const bool may_be_uneven = space.wide && !space.runnable && m.experts == 0;
      if (space.devices % (t * p) != 0 || (m.layers % p != 0 && !may_be_uneven)) continue;
      // What the program does, no choice.
      if (demand.values.post_validation && p == 1) continue;
      Strategy s;
      s.post_validation = demand.values.post_validation;
      s.tensor = t;
      s.pipeline = p;
      add_replicas(m, c, space, demand, s, space.devices / t / p, all);
    }
  }
  return all;
}

std::int64_t count_points(const Transformer& m, const simulate::Cluster& c, const Space& space) {
  std::int64_t points = 0;
  for (const PointGroup& g : groups_of(m, c, space)) points += g.points;
  return points;
}

}  // namespace pando::search
