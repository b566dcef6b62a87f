#include "search/settings/emit_settings.h"

#include "base/source_location.h"

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

void refuse_settings(const std::string& file, const std::string& what) {
  fail_at(ErrorKind::poplar_error, "trainer-settings", {file}, "{}", what);
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

std::vector<std::string> unsaid_anywhere(const Strategy& s) {
  std::vector<std::string> all;
  if (s.tensor_level >= 0 || s.pipeline_level >= 0 || s.data_level >= 0)
    all.emplace_back("not said: levels; devices are numbered tensor, context, data, pipeline");
  if (s.post_validation) all.emplace_back("not said: post-validation; updates wait for the norm of all gradients");
  if (s.split_all_reduce) all.emplace_back("not said: comm=split-all-reduce; all-reduces run instead");
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
