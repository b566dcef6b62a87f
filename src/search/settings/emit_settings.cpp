#include "search/settings/emit_settings.h"

#include "base/source_location.h"
#include "search/axis.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <iterator>

namespace pando::search {

#define X(name) EmitTarget emit_##name();
#include "emit_manifest.inc"
#undef X

const std::vector<EmitTarget>& emit_targets() {
  static const std::vector<EmitTarget> all = {
#define X(name) emit_##name(),
#include "emit_manifest.inc"
#undef X
  };
  return all;
}

const EmitTarget* find_emit_target(std::string_view name) {
  const auto found = std::ranges::find(emit_targets(), name, &EmitTarget::name);
  return found == emit_targets().end() ? nullptr : &*found;
}

void reject_settings(const std::string& file, const std::string& what) {
  fail_at(ErrorKind::poplar_error, "trainer-settings", {file}, "{}", what);
}

void adopt_division(const StrategyFacts& f, const std::vector<std::int64_t>& wanted, const std::string& who, ReadSettings& to) {
  Strategy& s = to.strategy;
  const bool by_stage = wanted.size() > static_cast<std::size_t>(s.pipeline);
  for (const bool weighed : {false, true}) {
    s.weighed = weighed && s.pipeline > 1 && s.stages_per_rank == 1 && f.model.experts == 0;
    if ((by_stage ? layers_of_stages(f, s) : layers_of_ranks(f, s)) == wanted) return;
  }
  s.weighed = false;
  to.notes.push_back(
      fmt::format("{}: strategies have no word for stages of {} layers; as even as can be is assumed", who, fmt::join(wanted, ", ")));
}

std::string headline(const StrategyFacts& f, const Strategy& s) {
  const Estimate e = estimate(f, s);
  return fmt::format("{}, {} samples of {} tokens, on {} {}: {}; by prediction {:.4g} s a step, {:.2f} GiB a device", f.model.name, f.batch,
                     f.model.seq, s.devices(), f.cluster.name, to_string(s, Spelling::brief), e.seconds, e.memory_bytes() / kGib);
}

std::string comments(const std::vector<std::string>& lines, std::string_view mark) {
  std::string text;
  for (const std::string& line : lines) text += fmt::format("{}{}\n", mark, line);
  return text;
}

SettingsNotes::SettingsNotes(const Strategy& s) {
  Strategy& runs = out_.runs;
  runs = s;
  if (s.tensor_level >= 0 || s.pipeline_level >= 0 || s.data_level >= 0) {
    runs.tensor_level = runs.pipeline_level = runs.data_level = -1;
    unsaid("levels; devices are numbered tensor, context, data, pipeline");
  }
  if (s.post_validation) unsaid(&Strategy::post_validation, false, "post-validation; updates wait for the norm of all gradients");
  if (s.split_all_reduce) unsaid(&Strategy::split_all_reduce, false, "comm=split-all-reduce; all-reduces run instead");
}

std::vector<std::string> SettingsNotes::lines(const StrategyFacts& facts, const Strategy& s) const {
  std::vector<std::string> all{headline(facts, s)};
  all.insert(all.end(), notes_.begin(), notes_.end());
  for (const std::string& what : out_.unsaid) all.push_back("not said: " + what);
  return all;
}

namespace {

// "t=2 overlap=none": the words that differ, with the values of `to`.
std::string changed_words(const Strategy& from, const Strategy& to) {
  std::vector<std::string> words;
  for (const Axis* a : predicted_axes()) {
    if (a->word != "levels" && a->get(from) != a->get(to)) words.push_back(text_of(*a, a->get(to)));
  }
  return fmt::format("{}", fmt::join(words, " "));
}

}  // namespace

std::vector<std::string> warnings_of(const StrategyFacts& facts, const EmitTarget& target, const Strategy& s, const Settings& settings,
                                     double limit) {
  std::vector<std::string> all;
  for (const std::string& what : settings.unsaid) all.push_back(fmt::format("settings for {} do not say {}", target.name, what));
  Strategy runs = settings.runs;
  if (runs == s) return all;
  Violation broken = first_violation(facts, runs);
  // Layers were weighed by what is unsaid; without it they are even.
  if (broken.rule == "weighed") runs.weighed = false, broken = first_violation(facts, runs);
  const std::string words = to_string(runs, Spelling::brief);
  if (broken) {
    all.push_back(fmt::format("what they say, {}, breaks the rule '{}': {}", words, broken.rule, broken.message));
    return all;
  }
  const Estimate now = estimate(facts, runs), promised = estimate(facts, s);
  std::string text = fmt::format("what they say is {}: by prediction {:.4g} s a step, not {:.4g}, and {:.2f} GiB a device, not {:.2f}",
                                 words, now.seconds, promised.seconds, now.memory_bytes() / kGib, promised.memory_bytes() / kGib);
  if (!now.fits(limit, facts.cluster)) text += fmt::format(", which does not fit into {:.2f}", limit / kGib);
  if (const std::string demands = changed_words(s, runs); !demands.empty())
    text += fmt::format("; --require '{}' searches among what can be said", demands);
  all.push_back(text);
  return all;
}

ReadSettings settings_of(const std::string& text, const StrategyFacts& f, std::int64_t devices, std::int64_t batch) {
  const std::size_t begin = text.find_first_not_of(" \t\n");
  if (begin != std::string::npos && text.compare(begin, 2, "--") == 0)
    return find_emit_target("megatron")->read(text, f, devices, batch, "flags");
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) {
    ReadSettings r;
    r.strategy = parse_strategy(text, Spelling::brief);
    r.batch = batch;
    return r;
  }
  const EmitTarget* target = find_emit_target(std::string_view(text).substr(0, colon));
  if (target == nullptr || target->read == nullptr) {
    std::vector<std::string_view> known;
    for (const EmitTarget& t : emit_targets()) {
      if (t.read != nullptr) known.push_back(t.name);
    }
    fail(ErrorKind::poplar_error, "trainer-settings", "'{}': settings of '{}' cannot be read; those of {} can", text, text.substr(0, colon),
         fmt::join(known, ", "));
  }
  const std::string file = text.substr(colon + 1);
  std::ifstream in(file);
  if (!in) fail(ErrorKind::file_load_error, "trainer-settings", "cannot read {}", file);
  return target->read(std::string(std::istreambuf_iterator<char>(in), {}), f, devices, batch, file);
}

}  // namespace pando::search
