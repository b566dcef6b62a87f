#include "search/memory/memory_report.h"

#include "search/axis.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace pando::search {

double RankMemory::sum() const {
  double all = 0;
  for (const double b : bytes) all += b;
  return all;
}

std::string memory_table(const std::vector<RankMemory>& ranks) {
  std::string text = fmt::format("{:>5} {:>7}", "rank", "layers");
  for (std::size_t k = 0; k < simulate::kMemoryKinds; ++k)
    text += fmt::format(" {:>12}", simulate::name_of(static_cast<simulate::MemoryKind>(k)));
  text += fmt::format(" {:>12}\n", "GiB");
  for (const RankMemory& r : ranks) {
    text += fmt::format("{:>5} {:>7}", r.rank, r.layers);
    for (const double b : r.bytes) text += fmt::format(" {:>12.2f}", b / kGib);
    text += fmt::format(" {:>12.2f}\n", r.sum() / kGib);
  }
  return text;
}

std::string memory_csv(const std::vector<RankMemory>& ranks) {
  std::string text = "rank,layers";
  for (std::size_t k = 0; k < simulate::kMemoryKinds; ++k)
    text += fmt::format(",{}_bytes", simulate::name_of(static_cast<simulate::MemoryKind>(k)));
  text += ",sum_bytes\n";
  for (const RankMemory& r : ranks) {
    text += fmt::format("{},{}", r.rank, r.layers);
    for (const double b : r.bytes) text += fmt::format(",{:.0f}", b);
    text += fmt::format(",{:.0f}\n", r.sum());
  }
  return text;
}

namespace {

// Whatever makes nothing larger: one change at a time.
std::vector<Strategy> neighbours(const StrategyFacts& f, const Strategy& s) {
  std::vector<Strategy> all;
  const auto with = [&](auto change) {
    Strategy next = s;
    change(next);
    if (next == s || first_violation(f, next)) return;
    all.push_back(next);
  };
  for (const Recompute r : {Recompute::selective, Recompute::full}) {
    if (r > s.recompute && s.recompute != Recompute::alternate)
      with([&](Strategy& n) { n.recompute = r, n.recompute_first = 0, n.regather = n.regather && r != Recompute::full; });
  }
  if (s.recompute == Recompute::alternate) with([&](Strategy& n) { n.recompute = Recompute::full, n.regather = false; });
  for (std::int64_t z = s.zero + 1; z <= 3; ++z) with([&](Strategy& n) { n.zero = z; });
  Values divisors;
  add_divisors(s.microbatch, divisors);
  for (const std::int64_t b : divisors) {
    if (b < s.microbatch) with([&](Strategy& n) { n.microbatch = b; });
  }
  with([&](Strategy& n) { n.sequence_parallel = true; });
  with([&](Strategy& n) { n.sequence_parallel = true, n.regather = true; });
  with([&](Strategy& n) { n.stages_per_rank = 1; });
  with([&](Strategy& n) { n.schedule = name_of(PipelineSchedule::one_f_one_b); });
  with([&](Strategy& n) { n.offload_optimizer = true; });
  with([&](Strategy& n) { n.offload_activations = true; });
  // Two degrees whose product stays.
  for (const std::int64_t by : {2, 4, 8}) {
    if (s.data % by != 0) break;
    // Samples that a replica has stay together.
    const auto take = [&](Strategy& n) {
      n.data /= by, n.zero = replicas_of(n) == 1 ? 0 : n.zero, n.data_overlap = n.data_overlap && n.zero > 0;
    };
    with([&](Strategy& n) { take(n), n.tensor *= by; });
    with([&](Strategy& n) { take(n), n.pipeline *= by; });
    with([&](Strategy& n) { take(n), n.context *= by; });
  }
  if (f.model.experts > 0) with([&](Strategy& n) { n.expert_in_data *= 2; });
  return all;
}

// Words of the one that the other does not have.
std::string changed_words(const Strategy& from, const Strategy& to) {
  const std::string of_from = to_string(from, Spelling::brief), of_to = to_string(to, Spelling::brief);
  const std::vector<std::string_view> before = split(of_from, " "), after = split(of_to, " ");
  std::vector<std::string> changed;
  std::vector<std::string_view> kept;
  for (const std::string_view w : after) {
    if (std::ranges::find(before, w) == before.end()) changed.emplace_back(w);
    kept.push_back(w.substr(0, w.find('=')));
  }
  for (const std::string_view w : before) {
    const std::string_view name = w.substr(0, w.find('='));
    if (std::ranges::find(kept, name) == kept.end()) changed.push_back(fmt::format("without {}", name));
  }
  return fmt::format("{}", fmt::join(changed, " "));
}

}  // namespace

std::vector<FittingChange> changes_that_fit(const StrategyFacts& facts, const Strategy& s, double limit) {
  LayerMemo memo;
  const StrategyFacts f{facts.model, facts.cluster, facts.batch, &memo, facts.shapes};
  std::vector<FittingChange> all;
  std::set<std::string> seen;
  const auto consider = [&](const Strategy& n) {
    if (!seen.insert(to_string(n, Spelling::brief)).second) return;
    const Estimate e = estimate(f, n);
    if (e.fits(limit, f.cluster)) all.push_back({n, e, changed_words(s, n)});
  };
  const std::vector<Strategy> once = neighbours(f, s);
  for (const Strategy& n : once) consider(n);
  if (all.empty()) {
    for (const Strategy& n : once) {
      for (const Strategy& twice : neighbours(f, n)) consider(twice);
    }
  }
  std::ranges::stable_sort(all, [](const FittingChange& a, const FittingChange& b) { return a.estimate.seconds < b.estimate.seconds; });
  return all;
}

}  // namespace pando::search
