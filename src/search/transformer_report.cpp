#include "search/axis.h"
#include "search/search.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace pando::search {

namespace {

// Where there are any.
std::string transfers_of_layers(const Estimate& e) {
  std::string text;
  if (e.context_transfers > 0) text += fmt::format("context {:.4f}, ", e.context_transfers);
  if (e.expert_transfers > 0) text += fmt::format("experts {:.4f}, ", e.expert_transfers);
  return text;
}

}  // namespace

Report report_of(const Result& r) {
  const auto text = [](const Strategy& s) { return to_string(s, Spelling::brief); };
  Report report{.best = lines_of(r.best, text), .frontier = lines_of(r.frontier, text), .certificate = r.certificate};
  if (r.best.empty()) return report;
  const Strategy& s = r.best.front().strategy;
  const Estimate& e = r.best.front().estimate;
  report.rate = static_cast<double>(r.samples);
  report.of_the_best = fmt::format(
      "the best: computing {:.4f} s, recomputing {:.4f}, head {:.4f}, tensor {:.4f}, {}pipeline {:.4f}, data {:.4f}, "
      "bubble {:.4f}, synchronisation {:.4f}, optimizer {:.4f}, offload {:.4f}\n"
      "its fullest device (stage {}), GiB: {}\n",
      e.computing, e.recomputing, e.head, e.tensor_transfers, transfers_of_layers(e), e.pipeline_transfers, e.data_transfers, e.bubble,
      e.synchronisation, e.optimizer, e.offload, e.fullest_stage, kinds_text(e.memory));
  if (const auto missing = missing_of(s); !missing.empty())
    report.of_the_best += fmt::format("a prediction alone, as no transform does this: {}\n", fmt::join(missing, "; "));
  return report;
}

std::string rates_of(const StrategyFacts& facts, const Found& found) {
  const Transformer& model = facts.model;
  const simulate::Cluster& cluster = facts.cluster;
  const double tokens = static_cast<double>(facts.batch) * static_cast<double>(model.seq), seconds = found.estimate.seconds,
               devices = static_cast<double>(found.strategy.devices()),
               peak = found.strategy.precision == Precision::bf16 ? cluster.half_operations : cluster.eight_bit_operations;
  std::string notes;
  for (const std::string& note : model.notes) notes += fmt::format("note: {}\n", note);
  return notes +
         fmt::format("{}: sequences of {} tokens; {:.1f} tokens a second and device, {:.1f} % of the peak (MFU)\nmachine {}: {}\n",
                     model.name, model.seq, tokens / seconds / devices,
                     100 * tokens * model.operations_per_token() / (seconds * devices * peak), cluster.name, cluster.source) +
         fmt::format("of the layers' time, {:.0f} % rests on measured rows, {:.0f} % on rows near them, {:.0f} % on the machine's curves\n",
                     100 * found.estimate.basis[0], 100 * found.estimate.basis[1], 100 * found.estimate.basis[2]) +
         (found.strategy.precision == Precision::bf16
              ? std::string()
              : fmt::format("precision={} changes what is computed; --require precision=bf16 leaves it out\n",
                            name_of(found.strategy.precision)));
}

std::string words_page() {
  std::string text = "The words of a strategy, with the trainers' names beside them.\n\n";
  std::string_view before;
  for (const Axis* a : axes_of_text(Spelling::brief)) {
    const std::string_view word = a->word_in(Spelling::brief);
    if (word == before) continue;
    before = word;
    std::vector<std::string_view> also = a->aliases;
    if (word != a->word) also.insert(also.begin(), a->word);
    std::string values;
    if (!a->names.empty()) values = fmt::format("={}", fmt::join(a->names, "|"));
    if (a->names.empty() && !a->flag) values = a->word == "levels" ? "=T/P/D" : "=N";
    text +=
        fmt::format("{}{}{}\n  {}.\n  Trainers: {}.\n", word, values, also.empty() ? "" : fmt::format(" (also {})", fmt::join(also, ", ")),
                    a->doc, a->trainers.empty() ? "none" : a->trainers);
    if (!a->outside.empty()) text += fmt::format("  Outside the default space: {}.\n", a->outside);
  }
  return text;
}

std::string outside_of(const Space& space) {
  if (space.reach == Reach::calculon) return "outside the space: all that Calculon's search does not have (--space trainers)\n";
  if (space.reach == Reach::everything) return "";
  std::vector<std::string_view> all;
  for (const Axis* a : predicted_axes()) {
    const bool opened = a->word == "recompute-first" && space.recompute_sets > 0;
    if (!a->outside.empty() && !opened) all.push_back(a->outside);
  }
  return fmt::format("outside the space: {}\n", fmt::join(all, "; "));
}

}  // namespace pando::search
